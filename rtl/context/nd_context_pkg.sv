// Records inside the room `context`.
package nd_context_pkg;
  import nd_pkg::*;
  import nd_abi_pkg::*;

  // A token as its uses look at it. Beside it lies its distance: the place of a byte in all pages of
  // the page table less its virtual address, modulo the table.
  typedef struct packed {
    logic [64:0] region_end;
    addr_t       base;
    logic [7:0]  key;
    logic [15:0] pd;
    token_kind_e kind;
    logic        remote_write;
    logic        remote_read;
    logic        local_write;
    qp_t         window_qp;
  } token_t;

  // What a local request makes of its object.
  typedef struct packed {
    logic [23:0] index;
    logic        valid;   // from then on
    token_t      entry;   // from then on, if valid
    logic        attach;  // a window of the region `region` from then on
    logic [23:0] region;
  } change_t;
endpackage
