// The two phases of every operator: what they check, and how the work gets onto a stream. Any
// thread may call.
#pragma once

#include <vector>

#include "plugins/ascend/sim/operators/operation.h"

namespace ge_engines::ascend::sim {

// Arguments of phase one as they were given: handles and numbers.
class Given {
 public:
  struct One {
    Argument::Kind kind;
    const void* handle;
    double number;
  };
  template <class... A>
  explicit Given(A... arguments) {
    (Take(arguments), ...);
  }
  const std::vector<One>& all() const { return all_; }

 private:
  void Take(acl::In tensor) { all_.push_back({Argument::Kind::kIn, tensor, 0}); }
  void Take(acl::Out tensor) { all_.push_back({Argument::Kind::kOut, tensor, 0}); }
  void Take(acl::Tensors list) { all_.push_back({Argument::Kind::kTensors, list, 0}); }
  void Take(acl::Number scalar) { all_.push_back({Argument::Kind::kScalar, scalar, 0}); }
  void Take(acl::Ints array) { all_.push_back({Argument::Kind::kInts, array, 0}); }
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void Take(T number) {
    all_.push_back({Argument::Kind::kNumber, nullptr, static_cast<double>(number)});
  }
  std::vector<One> all_;
};

// What every operator of operators.def has for itself; one of each, which lives for ever.
struct Entry {
  const char* name;            // as there
  const char *first, *second;  // the functions
  const char* arguments;       // "(self, other, out)"
};

acl::Status FirstPhase(const Entry& entry, const Given& given, uint64_t* workspace,
                       acl::Executor** executor);
acl::Status SecondPhase(const Entry& entry, void* workspace, uint64_t bytes,
                        acl::Executor* executor, acl::Stream stream);

}  // namespace ge_engines::ascend::sim
