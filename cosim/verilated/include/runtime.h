// The C++ side of the `verilated` crate: what a design's shim needs to make and drive a model.
//
// A shim is a constructor and one function per clock (or whatever the bench calls):
//
//     #include "verilated/include/runtime.h"
//     #include "Vcounter_fast.h"
//
//     using Fast = verilated_rt::Design<Vcounter_fast>;
//
//     std::unique_ptr<verilated_rt::Model> new_counter(std::unique_ptr<verilated_rt::Context> c) {
//         return std::make_unique<Fast>(std::move(c));
//     }
//
//     bool step(verilated_rt::Model& model, const In& in, Out& out) noexcept {
//         Fast* design = Fast::of(model);
//         if (!design) return false;
//         design->top().en = in.en;
//         const bool ok = design->clock(design->top().clk, 1);
//         out.q = design->top().q;
//         return ok;
//     }
//
// Nothing here ends the process: `$finish`, `$stop`, `$fatal`, failed assertions and errors of
// the runtime are recorded in the context, and `eval` then returns false until they are taken.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rust/cxx.h"
#include "verilated.h"
#include "verilated_fst_c.h"
#include "verilated_save.h"

namespace verilated_rt {

// Thrown where Verilator's runtime cannot go on; what happened is recorded by then.
class Stopped final : public std::exception {
public:
    const char* what() const noexcept override { return "the model cannot go on"; }
};

// Why a simulation stopped. The numbers are those of `sys::Cause` in Rust.
enum class Cause : std::uint8_t {
    Finish = 0,   // $finish
    Error = 1,    // $error, a failed assertion, or $stop, which has no text
    Fatal = 2,    // $fatal
    Runtime = 3,  // Verilator's runtime cannot go on; the model is dead
    Misuse = 4,   // a model was given to the shim of another design
};

// One reason to stop.
struct Failure {
    Cause cause;
    std::string file;
    std::int32_t line;
    std::uint64_t time;
    std::string text;
};

// A VerilatedContext, and what happened in it.
class Context final {
public:
    Context(std::uint32_t seed, std::uint8_t reset, bool assertions,
            rust::Slice<const rust::String> plus_args);
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    VerilatedContext& verilator() noexcept { return context_; }
    const VerilatedContext& verilator() const noexcept { return context_; }

    // Makes this the context of the calling thread. Cheap when it is already.
    void enter() noexcept {
        if (current() != this) attach();
    }

    // True while nothing was recorded.
    bool ok() const noexcept { return failures_.empty() && !dead_; }
    // True once the runtime gave up in the middle of an evaluation.
    bool dead() const noexcept { return dead_; }

    void record(Cause cause, const char* file, int line, std::string text) noexcept;
    void die() noexcept { dead_ = true; }
    // Takes the text of the last message of the design that starts with `%Error` or `%Fatal`.
    std::string take_message();
    void print(const char* text, std::size_t length) noexcept;

    // For Rust.
    std::uint64_t time() const noexcept { return context_.time(); }
    void advance(std::uint64_t ticks) noexcept { context_.timeInc(ticks); }
    bool finished() const noexcept { return context_.gotFinish(); }
    std::size_t failure_count() const noexcept { return failures_.size(); }
    std::uint8_t failure_cause(std::size_t i) const;
    rust::String failure_file(std::size_t i) const;
    std::int32_t failure_line(std::size_t i) const;
    std::uint64_t failure_time(std::size_t i) const;
    rust::String failure_text(std::size_t i) const;
    void clear_failures() noexcept;
    rust::String take_output();
    void write_coverage(rust::Str path);
    void clear_coverage();

    // The context that the calling thread is in, or null.
    static Context*& current() noexcept;
    // Held while a context or a model is made: Verilator's seeding is global for a moment.
    static std::mutex& construction() noexcept;

private:
    void attach() noexcept;

    VerilatedContext context_;
    std::vector<Failure> failures_;
    std::string output_;
    std::size_t unread_ = 0;  // where in output_ the next message is looked for
    bool dead_ = false;
};

std::unique_ptr<Context> new_context(std::uint32_t seed, std::uint8_t reset, bool assertions,
                                     rust::Slice<const rust::String> plus_args);

// A model of any design, with its context.
class Model {
public:
    virtual ~Model() = default;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;

    Context& context() noexcept { return *context_; }
    const Context& context() const noexcept { return *context_; }
    // The same two for Rust, which has no overloads.
    Context& context_mut() noexcept { return *context_; }
    const Context& context_ref() const noexcept { return *context_; }

    // For Rust; what the design was not verilated for throws.
    virtual bool can_trace() const noexcept = 0;
    virtual bool can_save() const noexcept = 0;
    void open_trace(rust::Str path, std::int32_t depth);
    void close_trace();
    void flush_trace();
    bool tracing() const noexcept { return tracer_ != nullptr; }
    rust::Vec<std::uint8_t> save();
    void restore(rust::Slice<const std::uint8_t> state);
    void finish();

    const void* kind() const noexcept { return kind_; }

protected:
    Model(std::unique_ptr<Context> context, const void* kind)
        : context_{std::move(context)}
        , kind_{kind} {}

    virtual void do_finish() = 0;
    virtual void do_trace(VerilatedFstC& tracer, int depth) = 0;
    virtual void do_save(VerilatedSerialize& to) = 0;
    virtual void do_restore(VerilatedDeserialize& from) = 0;

    // Runs `body` in the context. Whatever it throws is recorded, and the model is dead.
    template <typename Body>
    bool guarded(Body&& body) noexcept {
        Context& c = context();
        c.enter();
        if (__builtin_expect(c.dead(), 0)) return false;
        try {
            body();
        } catch (const Stopped&) {
            c.die();
        } catch (const std::exception& e) {
            c.record(Cause::Runtime, "", 0, e.what());
            c.die();
        }
        return c.ok();
    }

    std::unique_ptr<Context> context_;
    std::unique_ptr<VerilatedFstC> tracer_;
    const void* const kind_;  // differs between designs
};

// A model of the verilated class `V`.
template <class V>
class Design final : public Model {
public:
    explicit Design(std::unique_ptr<Context> context, const char* name = "TOP")
        : Model{std::move(context), &design_} {
        const std::lock_guard<std::mutex> lock{Context::construction()};
        this->context().enter();
        if constexpr (traces()) this->context().verilator().traceEverOn(true);
        top_ = std::make_unique<V>(&this->context().verilator(), name);
    }

    ~Design() override {
        guarded([this] { close_trace(); });
        context().enter();
        top_.reset();
    }

    // The model as one of this design; null, and recorded as a misuse, when it is another's.
    static Design* of(Model& model) noexcept {
        if (__builtin_expect(model.kind() == &design_, 1)) {
            return static_cast<Design*>(&model);
        }
        model.context().record(Cause::Misuse, "", 0, "the model is of another design");
        return nullptr;
    }

    // The verilated class, for its ports.
    V& top() noexcept { return *top_; }

    // Evaluates, and writes the signals to the trace if one is open. False when something
    // stopped the simulation: now or earlier, and not taken yet.
    bool eval() noexcept {
        return guarded([this] {
            top_->eval();
            if constexpr (traces()) {
                if (__builtin_expect(tracer_ != nullptr, 0)) {
                    tracer_->dump(context().verilator().time());
                }
            }
        });
    }

    // One clock: evaluates at the falling and at the rising edge, `half` time units apart. The
    // low half settles what follows from the inputs; outputs then show the state after the
    // rising edge. Low comes first so that the first rising edge is one, whatever the seed.
    template <typename Clock>
    bool clock(Clock& clk, std::uint64_t half) noexcept {
        clk = 0;
        eval();
        context().advance(half);
        clk = 1;
        const bool ok = eval();
        context().advance(half);
        return ok;
    }

    bool can_trace() const noexcept override { return traces(); }
    bool can_save() const noexcept override { return saves(); }

private:
    static constexpr bool traces() {
        if constexpr (requires { V::traceCapable; }) {
            return V::traceCapable;
        } else {
            return requires(V & v, VerilatedFstC * t) { v.trace(t, 1, 0); };
        }
    }
    static constexpr bool saves() {
        return requires(V & v, VerilatedSerialize & os) { os << v; };
    }

    void do_finish() override { top_->final(); }
    void do_trace(VerilatedFstC& tracer, int depth) override {
        if constexpr (traces()) {
            top_->trace(&tracer, depth);
        } else {
            throw std::runtime_error("the design was verilated without trace");
        }
    }
    void do_save(VerilatedSerialize& to) override {
        if constexpr (saves()) {
            to << *top_;
        } else {
            throw std::runtime_error("the design was verilated without save and restore");
        }
    }
    void do_restore(VerilatedDeserialize& from) override {
        if constexpr (saves()) {
            from >> *top_;
        } else {
            throw std::runtime_error("the design was verilated without save and restore");
        }
    }

    static constexpr char design_ = 0;  // its address stands for the design
    std::unique_ptr<V> top_;
};

}  // namespace verilated_rt
