#pragma once
#include <memory>

#include "verilated/include/runtime.h"

namespace counter {

struct In;
struct Out;

using verilated_rt::Context;
using verilated_rt::Model;

std::unique_ptr<Model> new_fast(std::unique_ptr<Context> context);
std::unique_ptr<Model> new_debug(std::unique_ptr<Context> context);
std::unique_ptr<Model> new_coverage(std::unique_ptr<Context> context);
bool step_fast(Model& model, const In& in, Out& out) noexcept;
bool step_debug(Model& model, const In& in, Out& out) noexcept;
bool step_coverage(Model& model, const In& in, Out& out) noexcept;

}  // namespace counter
