// Moves the ports of room `wire` in one call a clock.
#include "tandem-cosim-wire/src/ports.rs.h"

#include "Vnd_wire_top.h"

namespace tandem_wire {

using Wire = verilated_rt::Design<Vnd_wire_top>;

namespace {

void drive(Vnd_wire_top& top, const In& in) {
    top.rst = in.rst;
    top.s_axis_tvalid = in.rx_valid;
    top.s_axis_tdata = in.rx_data;
    top.s_axis_tkeep = in.rx_keep;
    top.s_axis_tlast = in.rx_last;
    top.s_axis_tuser = in.rx_bad;
    top.rx_ready = in.desc_ready;
    top.rx_data_ready = in.payload_ready;
    top.m_axis_tready = in.tx_ready;
    top.tx_valid = in.send_valid;
    for (std::size_t i = 0; i < in.send_desc.size(); ++i) top.tx_desc[i] = in.send_desc[i];
    for (std::size_t i = 0; i < in.address.size(); ++i) top.tx_address[i] = in.address[i];
    for (std::size_t i = 0; i < in.own.size(); ++i) top.port[i] = in.own[i];
    top.send_chunk_valid = in.send_chunk;
    top.resp_chunk_valid = 0;
    top.chunk_ready = 1;
    top.tx_data_valid = in.gather_valid;
    top.tx_data = in.gather_data;
    top.tx_data_bytes = in.gather_bytes;
    top.tx_data_last = in.gather_last;
    top.tx_data_error = in.gather_error;
}

void sample(const Vnd_wire_top& top, Out& out) {
    out.rx_ready = top.s_axis_tready;
    out.desc_valid = top.rx_valid;
    for (std::size_t i = 0; i < out.desc.size(); ++i) out.desc[i] = top.rx_desc[i];
    out.payload_valid = top.rx_data_valid;
    out.payload = top.rx_data;
    out.payload_last = top.rx_data_last;
    out.send_ready = top.tx_ready;
    out.chunk_ready = top.send_chunk_ready;
    out.gather_ready = top.tx_data_ready;
    out.tx_valid = top.m_axis_tvalid;
    out.tx_data = top.m_axis_tdata;
    out.tx_keep = top.m_axis_tkeep;
    out.tx_last = top.m_axis_tlast;
}

}  // namespace

std::unique_ptr<verilated_rt::Model> new_wire(std::unique_ptr<verilated_rt::Context> context) {
    auto design = std::make_unique<Wire>(std::move(context));
    design->top().clk = 0;
    drive(design->top(), In{.rst = true});
    design->eval();
    return design;
}

bool step_wire(verilated_rt::Model& model, const In& in, Out& out) noexcept {
    Wire* design = Wire::of(model);
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

}  // namespace tandem_wire
