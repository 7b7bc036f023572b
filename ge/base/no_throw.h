// Calls into code of others, which reports by codes and is not to throw: what it throws all the
// same becomes a code and a sentence, so that the plugin and the node can be named. Any thread may
// call.
#pragma once

#include <unwind.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <new>
#include <type_traits>

namespace ge {

// To be called before others' code is loaded. A plugin may hold a copy of the unwinder
// (-static-libgcc); where the first thing to be thrown in a process comes from such a copy, ours
// has not set up its tables and ends the process.
inline void ReadyToCatch() {
  (void)_Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_END_OF_STACK; }, nullptr);
}

// What `call` answers. `err` is a ge_err, whose text then says what was thrown; `no_memory` and
// `failed` are the codes of std::bad_alloc and of anything else.
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
