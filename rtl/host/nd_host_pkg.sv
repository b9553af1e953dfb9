// Types inside room `host`.
package nd_host_pkg;
  // The actions that are counted, in the order of their registers from GO_BACKS on.
  typedef enum logic [2:0] {
    CountGoBacks,
    CountTimeouts,
    CountRnrWaits,
    CountDuplicates,
    CountNaksOut,
    CountCnpIn,
    CountCnpOut
  } counted_e;
endpackage
