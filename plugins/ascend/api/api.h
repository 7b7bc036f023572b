// Api: the vendor's libraries of this process, opened at run time, since most machines have none.
// The runtime is opened by Start, when an engine is made; the operators, a large library, by Ready,
// at the first question about one. Immutable then; any thread may call.
//
// A library is looked for in `folder` alone where one is given; else in $ASCEND_HOME_PATH/lib64,
// then where the linker looks.
// The runtime is initialized once a process and never finished by us: somebody else may use it, and
// a second start after a finish is nowhere said to work.
#pragma once

#include <array>
#include <mutex>
#include <string>

#include "plugins/ascend/api/data_types.h"
#include "plugins/ascend/api/operators.h"
#include "plugins/ascend/api/workspaces.h"
#include "plugins/device/library.h"

namespace ge_engines::ascend {

class Api {
 public:
  explicit Api(std::string folder) : folder_(std::move(folder)) {}
  Api(const Api&) = delete;

  // Opens the runtime, initializes it where nobody in the process has, and counts the devices.
  // Once, by one thread. False: why() says what is missing.
  bool Start(int* devices);
  // The libraries of operators; what they lack of these is null, and objects are all there but
  // those said to be optional. False: why() says what is missing.
  bool Ready() const;
  // Of the newest refusal of Start or Ready.
  const std::string& why() const { return why_; }
  // Whether they are our simulator's.
  bool simulated() const { return simulated_; }
  // What devices are called, by their chip; and what is known of it.
  const std::string& name() const { return name_; }
  const Chip& facts() const { return facts_; }

  // Whether it tells times between events.
  bool times() const {
    return f_.aclrtCreateEventWithFlag != nullptr && f_.aclrtResetEvent != nullptr &&
           f_.aclrtEventElapsedTime != nullptr;
  }
  const acl::Functions& f() const { return f_; }
  const acl::Objects& objects() const { return objects_; }
  const acl::Operators& operators() const { return operators_; }
  acl::Workspaces& workspaces() const { return workspaces_; }

 private:
  bool OpenRuntime();
  bool OpenLibrary(const char* name, device::Library* library) const;
  bool OpenOperators() const;
  template <class F>
  bool FindObject(const char* symbol, bool optional, F* function) const;

  const std::string folder_;
  device::Library runtime_;
  acl::Functions f_;
  bool simulated_ = false;
  std::string name_;
  Chip facts_;
  mutable std::mutex mutex_;  // of what follows, until it is asked for
  mutable bool asked_ = false, ready_ = false;
  mutable std::array<device::Library, 2> libraries_;  // of objects, of operators
  mutable acl::Objects objects_;
  mutable acl::Operators operators_;
  mutable std::string why_;
  mutable acl::Workspaces workspaces_;  // has a lock of its own
};

// A context of the thread's, for as long as it lives; then the thread's own is put back. Of a
// thread that had none it stays current: there is no way to take it away.
class Current {
 public:
  Current(const acl::Functions& f, acl::Context context);
  ~Current();
  Current(const Current&) = delete;
  acl::Status status() const { return status_; }

 private:
  const acl::Functions& f_;
  acl::Context before_ = nullptr;
  acl::Status status_;
};

}  // namespace ge_engines::ascend
