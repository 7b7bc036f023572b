// Wrapped: the engine that does devsim's work. It loads its .so as a host would, and creates one
// engine. One thread at a time, except where the engine's own functions allow more.
#ifndef GE_SAMPLES_DEVSIM_WRAPPED_H_
#define GE_SAMPLES_DEVSIM_WRAPPED_H_

#include <algorithm>
#include <cstring>
#include <string>

#include "ge/ge_plugin.h"

namespace devsim {

// A copy of a struct from a side that knows it longer or shorter: missing fields are zero, and the
// header holds the size of the known part. For structs that are changed before they are handed on.
template <class T>
T Known(const T& given) {
  T out = {};
  const size_t bytes = std::min<size_t>(given.h.size, sizeof out);
  std::memcpy(static_cast<void*>(&out), &given, bytes);
  out.h.size = static_cast<uint32_t>(bytes);
  return out;
}

class Wrapped {
 public:
  ~Wrapped();
  // Refuses asynchronous engines and engines with memory of their own.
  ge_rc Create(const std::string& name, const ge_create_args& own, ge_err* err);
  const ge_engine_api& api() const { return api_; }
  ge_engine* engine() const { return engine_; }

 private:
  const ge_plugin_desc* desc_ = nullptr;
  ge_engine_api api_ = {};
  ge_engine* engine_ = nullptr;
};

}  // namespace devsim
#endif  // GE_SAMPLES_DEVSIM_WRAPPED_H_
