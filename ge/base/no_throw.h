// Calls into code of others, which reports by codes and must not throw. If it throws all the same,
// the exception becomes a code and a sentence, so the caller can name the plugin and the node. Any
// thread may call.
#pragma once

#include <unwind.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <type_traits>

namespace ge {

// Call it before loading others' code. A plugin may hold a copy of the unwinder (-static-libgcc);
// if the first exception of a process comes from such a copy, our unwinder has not set up its
// tables and ends the process.
inline void ReadyToCatch() {
  (void)_Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_END_OF_STACK; }, nullptr);
}

// The answer of `call`. `err` is a ge_err; its text says which exception was thrown. `no_memory`
// and `failed` are the codes of std::bad_alloc and of anything else.
template <typename Rc, typename Err, typename Call>
Rc NoThrow(std::type_identity_t<Rc> no_memory, std::type_identity_t<Rc> failed, Err* err,
           Call&& call) {
  const auto say = [err](const char* what) {
    const int n = std::snprintf(err->msg, sizeof err->msg,
                                "it threw %.300s; no exception may leave a plugin", what);
    err->msg_len = n > 0 ? static_cast<uint32_t>(n) : 0;
  };
  try {
    return call();
  } catch (const std::bad_alloc& e) {
    say(e.what());
    return no_memory;
  } catch (const std::exception& e) {
    say(e.what());
    return failed;
  } catch (...) {
    say("what is no std::exception");
    return failed;
  }
}

}  // namespace ge
