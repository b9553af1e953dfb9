// What ports.rs binds; the records are declared there.
#pragma once

#include "verilated/include/runtime.h"

#include <cstdint>
#include <memory>

namespace tandem {

struct PortsIn;
struct PortsOut;

std::unique_ptr<verilated_rt::Model> new_fast(std::unique_ptr<verilated_rt::Context> context);
bool step_fast(verilated_rt::Model& model, const PortsIn& in, PortsOut& out) noexcept;
std::uint64_t digest_fast(verilated_rt::Model& model) noexcept;
bool replay(verilated_rt::Model& model, rust::Slice<const PortsIn> inputs) noexcept;
#ifdef TANDEM_DEBUG
std::unique_ptr<verilated_rt::Model> new_debug(std::unique_ptr<verilated_rt::Context> context);
bool step_debug(verilated_rt::Model& model, const PortsIn& in, PortsOut& out) noexcept;
std::uint64_t digest_debug(verilated_rt::Model& model) noexcept;
#endif
#ifdef TANDEM_COVERAGE
std::unique_ptr<verilated_rt::Model> new_coverage(std::unique_ptr<verilated_rt::Context> context);
bool step_coverage(verilated_rt::Model& model, const PortsIn& in, PortsOut& out) noexcept;
std::uint64_t digest_coverage(verilated_rt::Model& model) noexcept;
#endif

#ifdef TANDEM_NETLIST
std::unique_ptr<verilated_rt::Model> new_netlist(std::unique_ptr<verilated_rt::Context> context);
bool step_netlist(verilated_rt::Model& model, const PortsIn& in, PortsOut& out) noexcept;
std::uint64_t digest_netlist(verilated_rt::Model& model) noexcept;
#endif

}  // namespace tandem
