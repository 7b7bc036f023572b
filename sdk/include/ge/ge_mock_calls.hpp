// ge_mock_calls.hpp: the mock host's table of functions, and its watch around each call into a
// plugin: the floating-point mode, the error struct, the name of the call for reporting a crash.
// Header only, C++17; part of ge_mock_host.hpp, included by tests. Threads: the table's functions
// may be called from any; the rest is one thread's at a time.
#ifndef GE_MOCK_CALLS_HPP_
#define GE_MOCK_CALLS_HPP_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "ge/ge_mock_memory.hpp"
#include "ge/ge_plugin.h"
#include "ge/ge_plugin.hpp"

namespace ge::mock {

inline uint32_t FloatMode() {
#if defined(__SSE2__)
  return _mm_getcsr();
#else
  return 0;
#endif
}
inline void SetFloatMode(uint32_t mode) {
#if defined(__SSE2__)
  _mm_setcsr(mode);
#else
  (void)mode;
#endif
}
// The mode bits, without the flags raised by arithmetic.
inline constexpr uint32_t kModeBits = 0xFFC0;
inline constexpr uint32_t kFlushDenormals = 0x8040;

// Told the current call ("query"), and "" when it is over; a pointer of static storage. Called on
// the thread making the call. May be nullptr.
inline std::atomic<void (*)(const char* call)> g_on_call{nullptr};

struct Facts {  // of the machine, as ge_host_api tells them
  uint32_t threads = 1, isa_cap = GE_ISA_NATIVE;
  double flops_per_ns = 97, copy_bytes_per_ns[3] = {85, 12, 10}, thread_gain[2] = {1, 1};
  double call_ns = 3, fork_ns = 0;
  uint64_t cache_bytes[2] = {1 << 20, 32 << 20};
};

// A host's table stays while the process lives, so its backing is never freed; two engines of one
// host share it, as in a session.
class Host {
 public:
  explicit Host(const Facts& facts = Facts(), const Style& s = Style())
      : style(s), state_(*new State(facts, s)) {}
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const ge_host_api* api() const { return state_.api; }
  // The layout style of structs in later calls.
  Style style;
  bool keep_denormals = false;

  // Breaches of the contract by a plugin; texts name the call.
  void Complain(std::string text) { state_.Complain(std::move(text)); }
  std::vector<std::string> TakeComplaints() {
    const std::lock_guard<std::mutex> lock(state_.mutex);
    return std::exchange(state_.complaints, {});
  }
  uint64_t logged() const { return state_.logged; }
  uint64_t parallel_calls() const { return state_.parallel; }
  // The mode of this thread outside of the host's calls.
  static uint32_t& CallerFp() {
    static thread_local uint32_t mode = FloatMode();
    return mode;
  }

 private:
  struct State {
    State(const Facts& facts, const Style& style) : arena("the host's table", style.exact) {
      ge_host_api a = {};
      a.host = reinterpret_cast<ge_host*>(this);
      a.log = &Log;
      a.now_ns = &Now;
      a.parallel_for = &ParallelFor;
      a.const_done = &ConstDone;
      a.caller_fp = &CallerMode;
      a.team = &Team;
      a.inside = &Inside;
      a.helpers = &Helpers;
      a.threads = threads = facts.threads;
      a.isa_cap = facts.isa_cap;
      a.flops_per_ns = facts.flops_per_ns;
      a.call_ns = facts.call_ns;
      a.fork_ns = facts.fork_ns;
      std::copy_n(facts.copy_bytes_per_ns, 3, a.copy_bytes_per_ns);
      std::copy_n(facts.thread_gain, 2, a.thread_gain);
      std::copy_n(facts.cache_bytes, 2, a.cache_bytes);
      api = arena.Struct(style, a, GE_TAG_HOST_API);
      arena.MakeReadOnly();
    }
    void Complain(std::string text) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (complaints.size() < 100) complaints.push_back(std::move(text));
    }
    Arena arena;
    const ge_host_api* api = nullptr;
    uint32_t threads = 1;
    std::mutex mutex;
    std::vector<std::string> complaints;
    std::atomic<uint64_t> logged{0}, parallel{0};
  };

  static State* Of(ge_host* host) { return reinterpret_cast<State*>(host); }
  static bool& InBody() {
    static thread_local bool in = false;
    return in;
  }
  static void Log(ge_host* host, uint32_t level, ge_str text) {
    ++Of(host)->logged;
    if (level > 4) Of(host)->Complain("log: level " + std::to_string(level) + ", wanted 0 to 4");
    if (text.p == nullptr && text.n != 0) Of(host)->Complain("log: text at NULL");
  }
  static uint64_t Now(ge_host*) {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
  }
  static void ConstDone(ge_host*, const void*, uint64_t) {}
  static uint32_t CallerMode(ge_host*) { return CallerFp(); }
  static uint32_t Inside(ge_host*) { return InBody() ? 1 : 0; }
  static uint32_t Helpers(ge_host* host) { return InBody() ? 0 : Of(host)->threads - 1; }
  static void ParallelFor(ge_host* host, uint64_t n, void (*body)(void*, uint64_t), void* ctx) {
    ++Of(host)->parallel;
    if (Of(host)->threads < 2 || n < 2 || InBody()) {
      for (uint64_t i = 0; i < n; ++i) body(ctx, i);
      return;
    }
    std::atomic<uint64_t> next{0};
    const auto work = [&] {
      for (uint64_t i = next++; i < n; i = next++) body(ctx, i);
    };
    RunOn(static_cast<uint32_t>(std::min<uint64_t>(n, Of(host)->threads)),
          [&](uint32_t) { work(); });
  }
  static void Team(ge_host* host, uint32_t n, void (*body)(void*, uint64_t), void* ctx) {
    ++Of(host)->parallel;
    if (InBody()) return Of(host)->Complain("team: called from inside parallel_for or team");
    if (n > Of(host)->threads) {
      Of(host)->Complain("team: " + std::to_string(n) + " bodies, but the host has " +
                         std::to_string(Of(host)->threads) + " threads");
    }
    RunOn(n, [&](uint32_t id) { body(ctx, id); });
  }
  // Each call makes its threads: this host is not fast. They work in the caller's mode.
  template <class Work>
  static void RunOn(uint32_t n, const Work& work) {
    const uint32_t mode = FloatMode();
    std::vector<std::thread> threads;
    for (uint32_t i = 1; i < n; ++i) {
      threads.emplace_back([&work, mode, i] {
        SetFloatMode(mode);
        InBody() = true;
        work(i);
      });
    }
    InBody() = true;
    if (n != 0) work(0);
    InBody() = false;
    for (std::thread& t : threads) t.join();
  }

  State& state_;
};

// Set once an exception has left a call: then g_on_call keeps that call's name, even if destructors
// call while the stack unwinds.
inline std::atomic<bool> g_exception_left{false};

// Around one call into the plugin; whoever makes it says Returned() behind it. What ends without
// was left by an exception. std::uncaught_exceptions does not know: a plugin may have a C++ runtime
// of its own.
class CallScope {
 public:
  CallScope(Host& host, const char* call) : host_(host), call_(call), before_(FloatMode()) {
    Tell(call);
    Host::CallerFp() = before_;
    mode_ = (before_ & ~kFlushDenormals & ~0x603Fu) | (host.keep_denormals ? 0 : kFlushDenormals);
    SetFloatMode(mode_);
  }
  ~CallScope() {
    const uint32_t after = FloatMode();
    SetFloatMode(before_);
    if (((after ^ mode_) & kModeBits) != 0) {
      host_.Complain(std::string(call_) + ": the calling thread's floating-point mode was changed");
    }
    if (!returned_) {
      g_exception_left = true;
      host_.Complain(std::string(call_) + ": an exception left it");
    }
    Tell("");
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
  void Returned() { returned_ = true; }

 private:
  static void Tell(const char* call) {
    auto* tell = g_on_call.load();
    if (tell != nullptr && !g_exception_left) tell(call);
  }
  Host& host_;
  const char* call_;
  uint32_t before_, mode_;
  bool returned_ = false;
};

// The error struct of one call, unreachable afterwards.
class Error {
 public:
  explicit Error(Host& host) : host_(host), arena_("the error struct of a call", host.style.exact) {
    ge_err e = {};
    e.node = UINT32_MAX;
    std::memset(e.msg, kRed, sizeof e.msg);
    err_ = arena_.Struct(host.style, e, GE_TAG_ERR);
    h_ = err_->h;
  }
  ge_err* get() { return err_; }
  // The text, after the call has answered rc. Complains about what it may not say.
  std::string Text(const char* call, ge_rc rc) {
    const std::string where = call;
    if (std::memcmp(&h_, &err_->h, sizeof h_) != 0) {
      host_.Complain(where + ": the header of the caller's ge_err was written");
    }
    if (rc < GE_OK || rc > GE_PENDING) {
      host_.Complain(where + ": answered " + std::to_string(rc) + ", which is no GE_* code");
    }
    if (rc == GE_OK) return "";
    if (err_->code != 0 && err_->code != rc) {
      host_.Complain(where + ": answered code " + std::to_string(rc) + ", but ge_err.code is " +
                     std::to_string(err_->code));
    }
    if (err_->scope > GE_SCOPE_PLUGIN) {
      host_.Complain(where + ": ge_err.scope is " + std::to_string(err_->scope));
    }
    if (err_->msg_len > sizeof err_->msg) {
      host_.Complain(where + ": ge_err.msg_len is " + std::to_string(err_->msg_len) +
                     ", beyond the " + std::to_string(sizeof err_->msg) + " bytes of msg");
    }
    return std::string(err_->msg, std::min<size_t>(err_->msg_len, sizeof err_->msg));
  }

 private:
  Host& host_;
  Arena arena_;
  ge_err* err_;
  ge_hdr h_;
};

}  // namespace ge::mock
#endif  // GE_MOCK_CALLS_HPP_
