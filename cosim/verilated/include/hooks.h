// Included before everything else in the sources of Verilator's runtime: its messages go to the
// context of the model that is running (see VL_PRINTF in build.rs), not to the terminal.
#pragma once

extern "C" int verilated_rt_printf(const char* format, ...)
    __attribute__((format(printf, 1, 2)));

// Replaced by ours, but declared by Verilator only where it is defined.
void vl_stop_maybe(const char* filename, int linenum, const char* hier, bool maybe);
