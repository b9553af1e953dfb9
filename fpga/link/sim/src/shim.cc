// Moves the ports of the link in one call a clock.
#include "tandem-link-sim/src/ports.rs.h"

#include "Vnd_link.h"
#include "Vnd_link_top.h"

namespace tandem_link {

namespace {

// What both tops have.
template <typename Top>
void drive_core(Top& top, const In& in) {
    top.rst = in.rst;
    top.m_axil_awready = in.awready;
    top.m_axil_wready = in.wready;
    top.m_axil_bvalid = in.bvalid;
    top.m_axil_bresp = in.bresp;
    top.m_axil_arready = in.arready;
    top.m_axil_rvalid = in.rvalid;
    top.m_axil_rdata = in.rdata;
    top.m_axil_rresp = in.rresp;
    top.mem_ready = in.mem_ready;
    top.mem_rvalid = in.mem_rvalid;
    top.mem_rdata = in.mem_rdata;
    top.s_axis_mac_tvalid = in.mac_rx.valid;
    top.s_axis_mac_tdata = in.mac_rx.data;
    top.s_axis_mac_tkeep = in.mac_rx.keep;
    top.s_axis_mac_tlast = in.mac_rx.last;
    top.s_axis_mac_tuser = in.mac_rx.user;
    top.m_axis_mac_tready = in.mac_tx_ready;
    top.m_axis_core_tready = in.core_rx_ready;
    top.s_axis_core_tvalid = in.core_tx.valid;
    top.s_axis_core_tdata = in.core_tx.data;
    top.s_axis_core_tkeep = in.core_tx.keep;
    top.s_axis_core_tlast = in.core_tx.last;
    top.s_axis_core_tuser = in.core_tx.user;
    top.irq = in.irq;
    top.commit_valid = in.commit_valid;
    for (std::size_t i = 0; i < in.commit.size(); ++i) top.commit[i] = in.commit[i];
}

template <typename Top>
void sample_core(const Top& top, Out& out) {
    out.awvalid = top.m_axil_awvalid;
    out.awaddr = top.m_axil_awaddr;
    out.wvalid = top.m_axil_wvalid;
    out.wdata = top.m_axil_wdata;
    out.wstrb = top.m_axil_wstrb;
    out.bready = top.m_axil_bready;
    out.arvalid = top.m_axil_arvalid;
    out.araddr = top.m_axil_araddr;
    out.rready = top.m_axil_rready;
    out.mem_valid = top.mem_valid;
    out.mem_write = top.mem_write;
    out.mem_addr = top.mem_addr;
    out.mem_wdata = top.mem_wdata;
    out.mem_wstrb = top.mem_wstrb;
    out.mac_rx_ready = top.s_axis_mac_tready;
    out.mac_tx = {bool(top.m_axis_mac_tvalid), top.m_axis_mac_tdata, top.m_axis_mac_tkeep,
                  bool(top.m_axis_mac_tlast), bool(top.m_axis_mac_tuser)};
    out.core_rx = {bool(top.m_axis_core_tvalid), top.m_axis_core_tdata, top.m_axis_core_tkeep,
                   bool(top.m_axis_core_tlast), bool(top.m_axis_core_tuser)};
    out.core_tx_ready = top.s_axis_core_tready;
    out.core_rst = top.core_rst;
}

void drive(Vnd_link& top, const In& in) {
    top.s_axis_tvalid = in.rx_valid;
    top.s_axis_tdata = in.rx_data;
    top.s_axis_terror = in.rx_error;
    top.m_axis_tready = in.tx_ready;
    drive_core(top, in);
}

void sample(const Vnd_link& top, Out& out) {
    out.tx_valid = top.m_axis_tvalid;
    out.tx_data = top.m_axis_tdata;
    sample_core(top, out);
}

void drive(Vnd_link_top& top, const In& in) {
    top.rxd = in.rxd;
    drive_core(top, in);
}

void sample(const Vnd_link_top& top, Out& out) {
    out.txd = top.txd;
    sample_core(top, out);
}

template <typename Top>
std::unique_ptr<verilated_rt::Model> make(std::unique_ptr<verilated_rt::Context> context) {
    auto design = std::make_unique<verilated_rt::Design<Top>>(std::move(context));
    design->top().clk = 0;
    drive(design->top(), In{.rst = true});
    design->eval();
    return design;
}

template <typename Top>
bool step(verilated_rt::Model& model, const In& in, Out& out) {
    auto* design = verilated_rt::Design<Top>::of(model);
    if (!design) return false;
    design->top().clk = 1;
    design->eval();
    model.context().advance(1);
    drive(design->top(), in);
    design->top().clk = 0;
    const bool ok = design->eval();
    model.context().advance(1);
    sample(design->top(), out);
    return ok;
}

}  // namespace

std::unique_ptr<verilated_rt::Model> new_bytes(std::unique_ptr<verilated_rt::Context> context) {
    return make<Vnd_link>(std::move(context));
}

bool step_bytes(verilated_rt::Model& model, const In& in, Out& out) noexcept {
    return step<Vnd_link>(model, in, out);
}

std::unique_ptr<verilated_rt::Model> new_uart(std::unique_ptr<verilated_rt::Context> context) {
    return make<Vnd_link_top>(std::move(context));
}

bool step_uart(verilated_rt::Model& model, const In& in, Out& out) noexcept {
    return step<Vnd_link_top>(model, in, out);
}

}  // namespace tandem_link
