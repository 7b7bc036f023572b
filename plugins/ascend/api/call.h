// A call of a two-phase operator: its arguments as data, which are made into the vendor's objects
// at each launch, since an executor is good for one. Objects belong to the call that makes them,
// and go when its second phase has returned. Immutable once made; any number of threads may launch.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "plugins/ascend/api/operators.h"
#include "plugins/units/layout.h"

namespace ge_engines::ascend::acl {

// How a tensor is looked at. Dims, strides and offset count elements; the storage's dims are those
// of its format.
struct Form {
  Dims dims, strides;
  DataType type = kF32;
  int64_t offset = 0;
  Format format = kNd;
  Dims storage;

  // Dense, in the order of the dims.
  static Form Dense(const Dims& dims, DataType type);
  // The same as an image: of 3 to 5 axes, in the format that tells them.
  static Form Image(const Dims& dims, DataType type);
  // With axis 1 in blocks of 16 innermost lanes; of four axes.
  static Form Blocked(const Dims& dims, DataType type);
  // A matrix in blocks of 16 x 16.
  static Form Fractal(const Dims& dims, DataType type);
};

// A tensor by the position of its address among those that a launch is given.
struct TensorAt {
  static constexpr size_t kNone = SIZE_MAX;  // a tensor that is left out
  size_t place = kNone;
  Form form;
};
struct ScalarOf {
  double value = 0;
  DataType type = kF32;  // kF32, kI32, kI64 or kBool
};

// The objects of one first phase; they go with it.
class Made {
 public:
  // `at`: addresses; nullptr: nobody knows them yet.
  Made(const Objects& f, void* const* at) : f_(f), at_(at) {}
  ~Made();
  Made(const Made&) = delete;
  Tensor* Make(const TensorAt& given);
  Scalar* Make(const ScalarOf& given);
  IntArray* Make(const Dims& given);
  TensorList* Make(const std::vector<TensorAt>& given);
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T> T Make(T given) { return given; }
  // False: the library made none of something; an operator would take it as left out.
  bool whole() const { return whole_; }

 private:
  Tensor* MakeTensor(const TensorAt& given);
  template <class T>
  T* Keep(T* made, std::vector<T*>* kept);

  const Objects& f_;
  void* const* at_;
  std::vector<Tensor*> tensors_;
  std::vector<Scalar*> scalars_;
  std::vector<IntArray*> arrays_;
  std::vector<TensorList*> lists_;
  bool whole_ = true;
};

// An operator and its arguments as bytes, but for addresses: equal ones are equal calls.
class Signature {
 public:
  explicit Signature(const char* name) : bytes_(name) { bytes_.push_back('\0'); }
  void Add(const TensorAt& given);
  void Add(const ScalarOf& given);
  void Add(const Dims& given);
  void Add(const std::vector<TensorAt>& given);
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void Add(T given) { AddBytes(&given, sizeof given); }
  std::string Take() { return std::move(bytes_); }

 private:
  void AddBytes(const void* from, size_t size);
  std::string bytes_;
};

// How an argument of a type is kept, where tensors are kept as a T.
template <class P, class T>
struct KeptAs {
  using Type = P;
};
template <class T>
struct KeptAs<In, T> {
  using Type = T;
};
template <class T>
struct KeptAs<Out, T> {
  using Type = T;
};
template <class T>
struct KeptAs<Tensors, T> {
  using Type = std::vector<T>;
};
template <class T>
struct KeptAs<Number, T> {
  using Type = ScalarOf;
};
template <class T>
struct KeptAs<Ints, T> {
  using Type = Dims;
};

class OperatorCall {
 public:
  explicit OperatorCall(const Objects& f) : f_(f) {}
  virtual ~OperatorCall() = default;
  OperatorCall(const OperatorCall&) = delete;
  // How much it needs beside its tensors: a first phase without addresses, whose executor is given
  // back.
  Status Workspace(uint64_t* bytes) const;
  // Both phases, with a workspace of so many bytes.
  Status Launch(void* const* at, void* workspace, uint64_t room, Stream stream) const;
  virtual std::string signature() const = 0;

 protected:
  virtual Status First(Made* made, uint64_t* bytes, Executor** executor) const = 0;
  virtual Status Second(void* workspace, uint64_t bytes, Executor* executor,
                        Stream stream) const = 0;

 private:
  const Objects& f_;
};

template <class... P>
class CallOf final : public OperatorCall {
 public:
  using Operator = TwoPhase<Status (*)(P...)>;
  CallOf(const Objects& f, const Operator& op, typename KeptAs<P, TensorAt>::Type... given)
      : OperatorCall(f), op_(op), given_(std::move(given)...) {}
  std::string signature() const override {
    Signature s(op_.name);
    std::apply([&](const auto&... given) { (s.Add(given), ...); }, given_);
    return s.Take();
  }

 private:
  Status First(Made* made, uint64_t* bytes, Executor** executor) const override {
    // Braces order the making of the objects.
    const auto objects = std::apply(
        [&](const auto&... given) { return std::tuple<P...>{made->Make(given)...}; }, given_);
    if (!made->whole()) return kInvalidParameter;
    return std::apply([&](P... object) { return op_.first(object..., bytes, executor); }, objects);
  }
  Status Second(void* workspace, uint64_t bytes, Executor* executor, Stream stream) const override {
    return op_.second(workspace, bytes, executor, stream);
  }

  const Operator& op_;
  const std::tuple<typename KeptAs<P, TensorAt>::Type...> given_;
};

}  // namespace ge_engines::ascend::acl
