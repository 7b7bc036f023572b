// Vendor: the vendor's libraries as this program finds them, opened by itself: nothing of the
// engine is needed beside. One thread opens; any thread may use what is in it.
#pragma once

#include <string>

#include "plugins/ascend/api/operators.h"

namespace ascend_check {

namespace acl = ge_engines::ascend::acl;

inline constexpr const char* kRuntime = "libascendcl.so";
inline constexpr const char* kObjects = "libnnopbase.so";
inline constexpr const char* kOperators = "libopapi.so";

class Vendor {
 public:
  // Looked for in `folder` alone where one is given; else in $ASCEND_HOME_PATH/lib64, then where
  // the linker looks. False: why() says what was tried.
  bool OpenRuntime(const std::string& folder);
  bool OpenOperators(const std::string& folder);
  const std::string& why() const { return why_; }
  // nullptr: none of the open libraries has it.
  void* Find(const char* symbol) const;
  // The file that a library was opened from, links followed; empty: it is not open.
  std::string FileOf(const char* library) const;
  bool simulated() const { return Find("ge_simulated_device") != nullptr; }

  // What is missing is null.
  const acl::Functions& f() const { return f_; }
  const acl::Objects& o() const { return o_; }
  const acl::Operators& op() const { return op_; }

 private:
  void* Open(const std::string& folder, const char* name);

  void *runtime_ = nullptr, *objects_ = nullptr, *operators_ = nullptr;
  acl::Functions f_;
  acl::Objects o_;
  acl::Operators op_;
  std::string why_;
};

}  // namespace ascend_check
