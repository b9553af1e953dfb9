// The three variants have the same ports, so one template serves them all.
#include "verilated-counter/src/shim.h"

#include "Vcounter_coverage.h"
#include "Vcounter_debug.h"
#include "Vcounter_fast.h"
#include "verilated-counter/src/lib.rs.h"

namespace counter {
namespace {

template <class V>
bool step(Model& model, const In& in, Out& out) noexcept {
    auto* design = verilated_rt::Design<V>::of(model);
    if (!design) return false;
    V& top = design->top();
    top.rst = in.rst;
    top.en = in.en;
    top.bad = in.bad;
    top.halt = in.halt;
    top.die = in.die;
    top.pause = in.pause;
    top.twist = in.twist;
    const bool ok = design->clock(top.clk, 1);
    out.count = top.count;
    out.never_reset = top.never_reset;
    out.marked = top.marked;
    return ok;
}

template <class V>
std::unique_ptr<Model> make(std::unique_ptr<Context> context) {
    return std::make_unique<verilated_rt::Design<V>>(std::move(context));
}

}  // namespace

std::unique_ptr<Model> new_fast(std::unique_ptr<Context> c) {
    return make<Vcounter_fast>(std::move(c));
}
std::unique_ptr<Model> new_debug(std::unique_ptr<Context> c) {
    return make<Vcounter_debug>(std::move(c));
}
std::unique_ptr<Model> new_coverage(std::unique_ptr<Context> c) {
    return make<Vcounter_coverage>(std::move(c));
}
bool step_fast(Model& m, const In& i, Out& o) noexcept { return step<Vcounter_fast>(m, i, o); }
bool step_debug(Model& m, const In& i, Out& o) noexcept { return step<Vcounter_debug>(m, i, o); }
bool step_coverage(Model& m, const In& i, Out& o) noexcept {
    return step<Vcounter_coverage>(m, i, o);
}

}  // namespace counter
