// The engine that does devsim's work: loads its .so as a host would, and creates one engine of it.
// Used by one thread at a time, apart from what its own functions allow.
#ifndef GE_SAMPLES_DEVSIM_WRAPPED_H_
#define GE_SAMPLES_DEVSIM_WRAPPED_H_

#include <string>

#include "ge/ge_plugin.h"

namespace devsim {

class Wrapped {
 public:
  ~Wrapped();
  // Refuses engines that are asynchronous or have memory of their own.
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
