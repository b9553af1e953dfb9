// What ports.rs binds; the records are declared there.
#pragma once

#include "verilated/include/runtime.h"

#include <memory>

namespace tandem_link {

struct In;
struct Out;

std::unique_ptr<verilated_rt::Model> new_bytes(std::unique_ptr<verilated_rt::Context> context);
bool step_bytes(verilated_rt::Model& model, const In& in, Out& out) noexcept;
std::unique_ptr<verilated_rt::Model> new_uart(std::unique_ptr<verilated_rt::Context> context);
bool step_uart(verilated_rt::Model& model, const In& in, Out& out) noexcept;

}  // namespace tandem_link
