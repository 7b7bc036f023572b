// OperatorCall: one launch of a two-phase operator as a step of a program. Its arguments are kept
// as data and made into the vendor's objects at each launch, since an executor is good for one:
// phase one runs when the segment is compiled, to learn its workspace, and at each launch again.
// Calls adds such steps for the families. Immutable once made; any number of threads may queue it.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plugins/ascend/ascend_driver.h"
#include "plugins/device/recorder.h"
#include "plugins/units/layout.h"

namespace ge_engines::ascend {

// How a tensor is looked at. Dims, strides and offset count elements; the storage's dims are those
// of its format.
struct Form {
  Dims dims, strides;
  acl::DataType type = acl::kF32;
  int64_t offset = 0;
  acl::Format format = acl::kNd;
  Dims storage;

  // Dense, in the order of the dims.
  static Form Dense(const Dims& dims, acl::DataType type);
};

// Arguments of an operator, as data.
struct TensorAt {
  static constexpr size_t kNone = SIZE_MAX;  // a tensor that is left out
  size_t place = kNone;                      // of the call's
  Form form;
};
struct ScalarOf {
  double value = 0;
  acl::DataType type = acl::kF32;  // kF32, kI32, kI64 or kBool
};

// The objects of one phase one; they go with it.
class Objects {
 public:
  explicit Objects(const acl::Objects& f) : f_(f) {}
  ~Objects();
  Objects(const Objects&) = delete;
  // `at`: addresses of the call's places; empty at compile, when nobody knows them.
  acl::Tensor* Make(const TensorAt& given, std::span<const device::Buffer> at);
  acl::Scalar* Make(const ScalarOf& given, std::span<const device::Buffer>);
  acl::IntArray* Make(const Dims& given, std::span<const device::Buffer>);
  acl::TensorList* Make(const std::vector<TensorAt>& given, std::span<const device::Buffer> at);
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> T Make(T given,
                                                               std::span<const device::Buffer>) {
    return given;
  }

 private:
  acl::Tensor* MakeTensor(const TensorAt& given, std::span<const device::Buffer> at) const;

  const acl::Objects& f_;
  std::vector<acl::Tensor*> tensors_;
  std::vector<acl::Scalar*> scalars_;
  std::vector<acl::IntArray*> arrays_;
  std::vector<acl::TensorList*> lists_;
};

// How an argument of a type is kept.
template <class P>
struct GivenAs {
  using Type = P;
};
template <>
struct GivenAs<acl::In> {
  using Type = TensorAt;
};
template <>
struct GivenAs<acl::Out> {
  using Type = TensorAt;
};
template <>
struct GivenAs<acl::Number> {
  using Type = ScalarOf;
};
template <>
struct GivenAs<acl::Ints> {
  using Type = Dims;
};
template <>
struct GivenAs<acl::Tensors> {
  using Type = std::vector<TensorAt>;
};

template <class... P>
class OperatorCall final : public device::Kernel {
 public:
  using Operator = acl::TwoPhase<acl::Status (*)(P...)>;
  OperatorCall(const AscendDriver& driver, const Operator& op, typename GivenAs<P>::Type... given)
      : driver_(driver), op_(op), given_(std::move(given)...) {}

  // Phase one without addresses; the executor is given back.
  acl::Status Workspace(uint64_t* bytes) const {
    acl::Executor* executor = nullptr;
    Objects objects(driver_.api().objects());
    const acl::Status s = First(&objects, {}, bytes, &executor);
    const auto destroy = driver_.api().objects().aclDestroyAclOpExecutor;
    if (s == acl::kSuccess && destroy != nullptr) (void)destroy(executor);
    return s;
  }
  // The workspace, where there is one, is the last place.
  device::Result Queue(const device::Call& call) const override {
    return driver_.Within(call.device, [&] {
      uint64_t bytes = 0;
      acl::Executor* executor = nullptr;
      Objects objects(driver_.api().objects());
      const acl::Status s = First(&objects, call.at, &bytes, &executor);
      if (s != acl::kSuccess) return s;
      void* workspace = bytes > 0 ? call.at.back().data : nullptr;
      return op_.second(workspace, bytes, executor, reinterpret_cast<acl::Stream>(call.stream));
    });
  }
  bool capturable() const override { return false; }

 private:
  acl::Status First(Objects* objects, std::span<const device::Buffer> at, uint64_t* bytes,
                    acl::Executor** executor) const {
    return std::apply(
        [&](const auto&... given) {
          return op_.first(objects->Make(given, at)..., bytes, executor);
        },
        given_);
  }

  const AscendDriver& driver_;
  const Operator& op_;
  const std::tuple<typename GivenAs<P>::Type...> given_;
};

// What a family's Record adds steps with. Used once for a unit, by one thread.
class Calls {
 public:
  Calls(const AscendDriver& driver, device::Recorder* recorder);
  device::Recorder& recorder() const { return recorder_; }
  const Parser& parser() const { return recorder_.parser(); }
  const acl::Operators& op() const { return driver_.api().operators(); }

  // A tensor of the operator that Add adds next.
  TensorAt In(const device::Ref& ref, Form form);
  TensorAt Out(const device::Ref& ref, Form form);
  TensorAt InOut(const device::Ref& ref, Form form);
  // The unit's values, dense.
  TensorAt In(uint32_t value);
  TensorAt Out(uint32_t value);
  // The dense form of a value, and with other dims of as many elements.
  Form FormOf(uint32_t value) const;
  Form FormOf(uint32_t value, const Dims& dims) const;

  // Adds a call. Throws std::runtime_error with the library's text where it refuses the arguments.
  template <class... P>
  void Add(const acl::TwoPhase<acl::Status (*)(P...)>& op, typename GivenAs<P>::Type... given) {
    auto call = std::make_unique<OperatorCall<P...>>(driver_, op, std::move(given)...);
    uint64_t bytes = 0;
    const Result r = driver_.Within(device_, [&] { return call->Workspace(&bytes); });
    if (!r.ok()) Refuse(r);
    AddStep(std::move(call), bytes);
  }

 private:
  TensorAt Place(const device::Use& use, Form form);
  [[noreturn]] void Refuse(Result result) const;
  void AddStep(std::unique_ptr<device::Kernel> call, uint64_t workspace);

  const AscendDriver& driver_;
  device::Recorder& recorder_;
  const int device_;
  std::vector<device::Use> uses_;  // of the next call
};

}  // namespace ge_engines::ascend
