// What ports.rs binds; the records are declared there.
#pragma once

#include "verilated/include/runtime.h"

#include <memory>

namespace tandem_wire {

struct In;
struct Out;

std::unique_ptr<verilated_rt::Model> new_wire(std::unique_ptr<verilated_rt::Context> context);
bool step_wire(verilated_rt::Model& model, const In& in, Out& out) noexcept;

}  // namespace tandem_wire
