// Api: the vendor's libraries of this process, opened at run time, since most machines have none.
// The runtime is opened by Open, when an engine is made; the operators, a large library, by Ready,
// at the first question about one. Immutable then; any thread may call.
//
// A library is looked for in `folder` alone where one is given; else in $ASCEND_HOME_PATH/lib64,
// then where the linker looks.
#pragma once

#include <array>
#include <mutex>
#include <string>

#include "plugins/ascend/api/operators.h"
#include "plugins/device/library.h"

namespace ge_engines::ascend {

class Api {
 public:
  enum class State : uint8_t { kOpen, kNoLibrary, kNoSymbol };

  explicit Api(std::string folder) : folder_(std::move(folder)) {}
  Api(const Api&) = delete;

  // The runtime, with all of GE_ACL_FUNCTIONS. Once, by one thread.
  State Open();
  // The libraries of operators; what they lack of these is null, and objects are all there but
  // those said to be optional. False: why() says what is missing.
  bool Ready() const;
  // Of the newest refusal of Open or Ready.
  const std::string& why() const { return why_; }
  // Whether they are our simulator's.
  bool simulated() const { return simulated_; }

  const acl::Functions& f() const { return f_; }
  const acl::Objects& objects() const { return objects_; }
  const acl::Operators& operators() const { return operators_; }

 private:
  bool OpenLibrary(const char* name, device::Library* library) const;
  bool OpenOperators() const;
  template <class F>
  bool FindObject(const char* symbol, bool optional, F* function) const;

  const std::string folder_;
  device::Library runtime_;
  acl::Functions f_;
  bool simulated_ = false;
  mutable std::mutex mutex_;  // of what follows, until it is asked for
  mutable bool asked_ = false, ready_ = false;
  mutable std::array<device::Library, 2> libraries_;  // of objects, of operators
  mutable acl::Objects objects_;
  mutable acl::Operators operators_;
  mutable std::string why_;
};

}  // namespace ge_engines::ascend
