// Contexts and models, and the hooks through which Verilator's runtime reports.
#include "verilated/include/runtime.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "verilated_cov.h"

namespace verilated_rt {
namespace {

// A design that prints in a loop must not eat the memory of a long run.
constexpr std::size_t kOutputLimit = 1 << 20;
constexpr std::size_t kFailureLimit = 64;

const char* or_empty(const char* text) { return text ? text : ""; }

// No statistics at the end; older versions have none.
template <class C>
void be_quiet(C& context) {
    if constexpr (requires { context.quiet(true); }) context.quiet(true);
}

// Collects what a model saves.
class MemorySave final : public VerilatedSerialize {
public:
    MemorySave() {
        m_isOpen = true;
        header();
    }
    void flush() override {
        for (const std::uint8_t* p = m_bufp; p < m_cp; ++p) bytes_.push_back(*p);
        m_cp = m_bufp;
    }
    rust::Vec<std::uint8_t> take() {
        trailer();
        flush();
        return std::move(bytes_);
    }

private:
    rust::Vec<std::uint8_t> bytes_;
};

// Gives back what a model saved. Bytes that end early are an error, not a read past the end.
class MemoryRestore final : public VerilatedDeserialize {
public:
    explicit MemoryRestore(rust::Slice<const std::uint8_t> bytes)
        : bytes_{bytes} {
        m_isOpen = true;
        m_filename = "saved state";
        m_cp = m_endp = m_bufp;
        header();
    }
    void expect_end() { trailer(); }

private:
    void fill() override {
        if (m_cp > m_endp || (m_cp == m_endp && used_ == bytes_.size())) {
            throw std::runtime_error("the saved state is truncated");
        }
        const std::size_t left = m_endp - m_cp;
        std::memmove(m_bufp, m_cp, left);
        const std::size_t take = std::min(bufferSize() - left, bytes_.size() - used_);
        std::memcpy(m_bufp + left, bytes_.data() + used_, take);
        used_ += take;
        m_cp = m_bufp;
        m_endp = m_bufp + left + take;
    }

    rust::Slice<const std::uint8_t> bytes_;
    std::size_t used_ = 0;
};

}  // namespace

//=============================================================================
// Context

Context*& Context::current() noexcept {
    static thread_local Context* t_current = nullptr;
    return t_current;
}

std::mutex& Context::construction() noexcept {
    static std::mutex s_mutex;
    return s_mutex;
}

void Context::attach() noexcept {
    current() = this;
    Verilated::threadContextp(&context_);
}

Context::Context(std::uint32_t seed, std::uint8_t reset, bool assertions,
                 rust::Slice<const rust::String> plus_args) {
    attach();
    be_quiet(context_);
    context_.fatalOnError(false);
    context_.randReset(reset);
    context_.randSeed(static_cast<int>(seed));
    context_.assertOn(assertions);
    std::vector<std::string> args{"verilated"};
    for (const rust::String& arg : plus_args) args.emplace_back(arg.data(), arg.size());
    std::vector<const char*> argv;
    for (const std::string& arg : args) argv.push_back(arg.c_str());
    try {
        context_.commandArgs(static_cast<int>(argv.size()), argv.data());
    } catch (...) {
        current() = nullptr;
        throw;
    }
}

Context::~Context() {
    if (current() == this) current() = nullptr;
}

void Context::record(Cause cause, const char* file, int line, std::string text) noexcept {
    if (failures_.size() >= kFailureLimit) return;
    failures_.push_back({cause, or_empty(file), line, context_.time(), std::move(text)});
}

void Context::print(const char* text, std::size_t length) noexcept {
    output_.append(text, length);
    if (output_.size() > kOutputLimit) {
        const std::size_t drop = output_.size() - kOutputLimit / 2;
        output_.erase(0, drop);
        unread_ = unread_ > drop ? unread_ - drop : 0;
    }
}

std::string Context::take_message() {
    const std::size_t from = unread_;
    unread_ = output_.size();
    std::size_t at = std::string::npos;
    for (const char* start : {"%Error", "%Fatal"}) {
        const std::size_t found = output_.rfind(start);
        if (found != std::string::npos && found >= from && (at == std::string::npos || found > at)) {
            at = found;
        }
    }
    if (at == std::string::npos) return "";
    std::string text = output_.substr(at);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

std::uint8_t Context::failure_cause(std::size_t i) const {
    return static_cast<std::uint8_t>(failures_.at(i).cause);
}
rust::String Context::failure_file(std::size_t i) const {
    return rust::String::lossy(failures_.at(i).file);
}
std::int32_t Context::failure_line(std::size_t i) const { return failures_.at(i).line; }
std::uint64_t Context::failure_time(std::size_t i) const { return failures_.at(i).time; }
rust::String Context::failure_text(std::size_t i) const {
    return rust::String::lossy(failures_.at(i).text);
}

void Context::clear_failures() noexcept {
    failures_.clear();
    context_.gotFinish(false);
    context_.gotError(false);
    context_.errorCount(0);
}

rust::String Context::take_output() {
    rust::String text = rust::String::lossy(output_);
    output_.clear();
    unread_ = 0;
    return text;
}

void Context::write_coverage(rust::Str path) {
    enter();
    context_.coveragep()->write(std::string{path}.c_str());
}

void Context::clear_coverage() { context_.coveragep()->zero(); }

std::unique_ptr<Context> new_context(std::uint32_t seed, std::uint8_t reset, bool assertions,
                                     rust::Slice<const rust::String> plus_args) {
    const std::lock_guard<std::mutex> lock{Context::construction()};
    return std::make_unique<Context>(seed, reset, assertions, plus_args);
}

//=============================================================================
// Model

void Model::open_trace(rust::Str path, std::int32_t depth) {
    if (!can_trace()) throw std::runtime_error("the design was verilated without trace");
    context().enter();
    close_trace();
    const std::lock_guard<std::mutex> lock{Context::construction()};
    auto tracer = std::make_unique<VerilatedFstC>();
    do_trace(*tracer, depth);
    tracer->open(std::string{path}.c_str());
    if (!tracer->isOpen()) throw std::runtime_error("the trace file cannot be written");
    tracer_ = std::move(tracer);
}

void Model::close_trace() {
    if (!tracer_) return;
    context().enter();
    tracer_->close();
    tracer_.reset();
}

void Model::flush_trace() {
    if (!tracer_) return;
    context().enter();
    tracer_->flush();
}

rust::Vec<std::uint8_t> Model::save() {
    context().enter();
    MemorySave to;
    do_save(to);
    return to.take();
}

void Model::restore(rust::Slice<const std::uint8_t> state) {
    if (!can_save()) throw std::runtime_error("the design was verilated without save and restore");
    context().enter();
    const std::size_t before = context().failure_count();
    try {
        MemoryRestore from{state};
        do_restore(from);
        from.expect_end();
    } catch (const Stopped&) {
        // The model may be half of one and half of the other by now.
        context().die();
        const bool known = context().failure_count() > before;
        throw std::runtime_error(known ? std::string{context().failure_text(before)} : "rejected");
    } catch (...) {
        context().die();
        throw;
    }
    context().clear_failures();
}

void Model::finish() {
    guarded([this] { do_finish(); });
}

}  // namespace verilated_rt

//=============================================================================
// What Verilator's runtime calls; see VL_USER_* and VL_PRINTF in build.rs

using verilated_rt::Cause;
using verilated_rt::Context;

extern "C" int verilated_rt_printf(const char* format, ...) {
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int length = std::vsnprintf(nullptr, 0, format, args);
    va_end(args);
    if (length > 0) {
        std::string text(static_cast<std::size_t>(length) + 1, '\0');
        std::vsnprintf(text.data(), text.size(), format, again);
        if (Context* context = Context::current()) {
            context->print(text.data(), static_cast<std::size_t>(length));
        } else {
            std::fputs(text.c_str(), stderr);
        }
    }
    va_end(again);
    return length;
}

void vl_finish(const char* filename, int linenum, const char*) {
    Verilated::threadContextp()->gotFinish(true);
    if (Context* context = Context::current()) {
        context->record(Cause::Finish, filename, linenum, "");
    }
}

// `maybe` tells `$error` and assertions from `$fatal`. `$stop` comes either way, without a message.
void vl_stop_maybe(const char* filename, int linenum, const char*, bool maybe) {
    Context* const context = Context::current();
    std::string text = context ? context->take_message() : "";
    Verilated::threadContextp()->errorCountInc();
    Verilated::threadContextp()->gotError(true);
    if (!maybe || text.empty()) Verilated::threadContextp()->gotFinish(true);
    if (context) {
        context->record(maybe ? Cause::Error : Cause::Fatal, filename, linenum, std::move(text));
    }
}

void vl_stop(const char* filename, int linenum, const char* hier) {
    vl_stop_maybe(filename, linenum, hier, false);
}

// The runtime counts on this not to return: some of its loops would never end.
void vl_fatal(const char* filename, int linenum, const char*, const char* msg) {
    Verilated::threadContextp()->gotError(true);
    Verilated::threadContextp()->gotFinish(true);
    if (Context* context = Context::current()) {
        context->record(Cause::Runtime, filename, linenum, msg ? msg : "");
    }
    throw verilated_rt::Stopped{};
}

void vl_warn(const char* filename, int linenum, const char*, const char* msg) {
    verilated_rt_printf("%%Warning: %s:%d: %s\n", filename ? filename : "", linenum,
                        msg ? msg : "");
}
