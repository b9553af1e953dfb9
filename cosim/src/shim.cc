// Moves all ports of the engine in one call a clock.
#include "tandem-cosim/src/ports.rs.h"
#include "verilated/include/runtime.h"

#include "Vnd_engine_fast.h"
#ifdef TANDEM_DEBUG
#include "Vnd_engine_debug.h"
#endif
#ifdef TANDEM_COVERAGE
#include "Vnd_engine_coverage.h"
#endif
#ifdef TANDEM_NETLIST
#include "Vnd_engine_netlist.h"
#endif

#include <cstdint>
#include <initializer_list>

namespace tandem {
namespace {

template <class Top>
void drive(Top& top, const PortsIn& in) {
    top.rst = in.rst;
    top.s_axil_awvalid = in.lite.awvalid;
    top.s_axil_awaddr = in.lite.awaddr;
    top.s_axil_awprot = 0;
    top.s_axil_wvalid = in.lite.wvalid;
    top.s_axil_wdata = in.lite.wdata;
    top.s_axil_wstrb = in.lite.wstrb;
    top.s_axil_bready = in.lite.bready;
    top.s_axil_arvalid = in.lite.arvalid;
    top.s_axil_araddr = in.lite.araddr;
    top.s_axil_arprot = 0;
    top.s_axil_rready = in.lite.rready;
    top.m_axi_arready = in.read.arready;
    top.m_axi_rvalid = in.read.rvalid;
    top.m_axi_rid = in.read.rid;
    top.m_axi_rdata = in.read.rdata;
    top.m_axi_rresp = in.read.rresp;
    top.m_axi_rlast = in.read.rlast;
    top.m_axi_awready = in.write.awready;
    top.m_axi_wready = in.write.wready;
    top.m_axi_bvalid = in.write.bvalid;
    top.m_axi_bid = in.write.bid;
    top.m_axi_bresp = in.write.bresp;
    top.s_axis_tvalid = in.rx.valid;
    top.s_axis_tdata = in.rx.data;
    top.s_axis_tkeep = in.rx.keep;
    top.s_axis_tlast = in.rx.last;
    top.s_axis_tuser = in.rx.user;
    top.m_axis_tready = in.tx_ready;
}

template <class Top>
void sample(const Top& top, PortsOut& out) {
    out.lite.awready = top.s_axil_awready;
    out.lite.wready = top.s_axil_wready;
    out.lite.bvalid = top.s_axil_bvalid;
    out.lite.bresp = top.s_axil_bresp;
    out.lite.arready = top.s_axil_arready;
    out.lite.rvalid = top.s_axil_rvalid;
    out.lite.rdata = top.s_axil_rdata;
    out.lite.rresp = top.s_axil_rresp;
    out.read.arvalid = top.m_axi_arvalid;
    out.read.arid = top.m_axi_arid;
    out.read.araddr = top.m_axi_araddr;
    out.read.arlen = top.m_axi_arlen;
    out.read.arsize = top.m_axi_arsize;
    out.read.arburst = top.m_axi_arburst;
    out.read.rready = top.m_axi_rready;
    out.write.awvalid = top.m_axi_awvalid;
    out.write.awid = top.m_axi_awid;
    out.write.awaddr = top.m_axi_awaddr;
    out.write.awlen = top.m_axi_awlen;
    out.write.awsize = top.m_axi_awsize;
    out.write.awburst = top.m_axi_awburst;
    out.write.wvalid = top.m_axi_wvalid;
    out.write.wdata = top.m_axi_wdata;
    out.write.wstrb = top.m_axi_wstrb;
    out.write.wlast = top.m_axi_wlast;
    out.write.bready = top.m_axi_bready;
    out.tx.valid = top.m_axis_tvalid;
    out.tx.data = top.m_axis_tdata;
    out.tx.keep = top.m_axis_tkeep;
    out.tx.last = top.m_axis_tlast;
    out.tx.user = top.m_axis_tuser;
    out.rx_ready = top.s_axis_tready;
    out.irq = top.irq;
    out.commit_valid = top.commit_valid;
    // Read only when valid: the record is four words wide.
    if (top.commit_valid) {
        out.commit_low = std::uint64_t{top.commit[1]} << 32 | top.commit[0];
        out.commit_high = std::uint64_t{top.commit[3]} << 32 | top.commit[2];
    }
}

// The rising edge takes what was driven before; `in` is driven after it, and what follows settles.
template <class Top>
bool step(verilated_rt::Model& model, const PortsIn& in, PortsOut& out) noexcept {
    auto* design = verilated_rt::Design<Top>::of(model);
    if (!design) return false;
    Top& top = design->top();
    top.clk = 1;
    design->eval();
    model.context().advance(1);
    drive(top, in);
    top.clk = 0;
    const bool ok = design->eval();
    model.context().advance(1);
    sample(top, out);
    return ok;
}

// Every port that the engine drives, also those that the bench does not look at, in one number.
template <class Top>
std::uint64_t digest(verilated_rt::Model& model) noexcept {
    auto* design = verilated_rt::Design<Top>::of(model);
    if (!design) return 0;
    const Top& top = design->top();
    std::uint64_t sum = 0xcbf29ce484222325;
    const auto mix = [&sum](std::initializer_list<std::uint64_t> ports) {
        for (const std::uint64_t port : ports) {
            sum = (sum ^ port) * 0x9e3779b97f4a7c15;
            sum ^= sum >> 29;
        }
    };
    mix({top.s_axil_awready, top.s_axil_wready, top.s_axil_bvalid, top.s_axil_bresp, top.s_axil_arready,
         top.s_axil_rvalid, top.s_axil_rdata, top.s_axil_rresp});
    mix({top.m_axi_arvalid, top.m_axi_arid, top.m_axi_araddr, top.m_axi_arlen, top.m_axi_arsize,
         top.m_axi_arburst, top.m_axi_arlock, top.m_axi_arcache, top.m_axi_arprot, top.m_axi_arqos,
         top.m_axi_rready});
    mix({top.m_axi_awvalid, top.m_axi_awid, top.m_axi_awaddr, top.m_axi_awlen, top.m_axi_awsize,
         top.m_axi_awburst, top.m_axi_awlock, top.m_axi_awcache, top.m_axi_awprot, top.m_axi_awqos,
         top.m_axi_wvalid, top.m_axi_wdata, top.m_axi_wstrb, top.m_axi_wlast, top.m_axi_bready});
    mix({top.s_axis_tready, top.m_axis_tvalid, top.m_axis_tdata, top.m_axis_tkeep, top.m_axis_tlast,
         top.m_axis_tuser, top.irq, top.commit_valid});
    for (std::size_t word = 0; word < 4; ++word) mix({top.commit[word]});
    return sum;
}

template <class Top>
std::unique_ptr<verilated_rt::Model> make(std::unique_ptr<verilated_rt::Context> context) {
    auto design = std::make_unique<verilated_rt::Design<Top>>(std::move(context));
    // A first low phase, so that the first rising edge is one whatever the seed.
    design->top().clk = 0;
    drive(design->top(), PortsIn{.rst = true});
    design->eval();
    return design;
}

}  // namespace

std::unique_ptr<verilated_rt::Model> new_fast(std::unique_ptr<verilated_rt::Context> context) {
    return make<Vnd_engine_fast>(std::move(context));
}
bool step_fast(verilated_rt::Model& model, const PortsIn& in, PortsOut& out) noexcept {
    return step<Vnd_engine_fast>(model, in, out);
}
std::uint64_t digest_fast(verilated_rt::Model& model) noexcept {
    return digest<Vnd_engine_fast>(model);
}

// The bare loop that the benches compare with: the inputs of an earlier run again, no bench.
bool replay(verilated_rt::Model& model, rust::Slice<const PortsIn> inputs) noexcept {
    PortsOut out{};
    for (const PortsIn& in : inputs) {
        if (!step<Vnd_engine_fast>(model, in, out)) return false;
    }
    return true;
}

#ifdef TANDEM_DEBUG
std::unique_ptr<verilated_rt::Model> new_debug(std::unique_ptr<verilated_rt::Context> context) {
    return make<Vnd_engine_debug>(std::move(context));
}
bool step_debug(verilated_rt::Model& model, const PortsIn& in, PortsOut& out) noexcept {
    return step<Vnd_engine_debug>(model, in, out);
}
std::uint64_t digest_debug(verilated_rt::Model& model) noexcept {
    return digest<Vnd_engine_debug>(model);
}
#endif
#ifdef TANDEM_COVERAGE
std::unique_ptr<verilated_rt::Model> new_coverage(std::unique_ptr<verilated_rt::Context> context) {
    return make<Vnd_engine_coverage>(std::move(context));
}
bool step_coverage(verilated_rt::Model& model, const PortsIn& in, PortsOut& out) noexcept {
    return step<Vnd_engine_coverage>(model, in, out);
}
std::uint64_t digest_coverage(verilated_rt::Model& model) noexcept {
    return digest<Vnd_engine_coverage>(model);
}
#endif
#ifdef TANDEM_NETLIST
std::unique_ptr<verilated_rt::Model> new_netlist(std::unique_ptr<verilated_rt::Context> context) {
    return make<Vnd_engine_netlist>(std::move(context));
}
bool step_netlist(verilated_rt::Model& model, const PortsIn& in, PortsOut& out) noexcept {
    return step<Vnd_engine_netlist>(model, in, out);
}
std::uint64_t digest_netlist(verilated_rt::Model& model) noexcept {
    return digest<Vnd_engine_netlist>(model);
}
#endif

}  // namespace tandem
