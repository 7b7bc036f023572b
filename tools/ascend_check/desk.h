// Desk: a device with a context and a stream of a check's own, and the vendor's objects by values.
// Nothing is given back: a check's process ends behind it. One thread, but where it says otherwise.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "tools/ascend_check/check.h"
#include "tools/ascend_check/numbers.h"

namespace ascend_check {

// Initializes the runtime. With `device`, a context of that device's is made, and current.
class Place {
 public:
  explicit Place(Case& at, int device = 0);
  Case& at;
  const acl::Functions& f;
  acl::Context context = nullptr;
  acl::Stream stream = nullptr;

  acl::Stream Stream();
  acl::Event Event();  // of aclrtCreateEventExWithFlag
  // With room for 32 bytes more, as rule:plus-32 has it.
  void* Block(size_t bytes);
  void* Pinned(size_t bytes);
  void Up(void* to, const void* from, size_t bytes);
  std::vector<unsigned char> Down(const void* from, size_t bytes);
  void Wait() { at.Ok(f.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream"); }
};

// A tensor: where it lies, how it is looked at, and the vendor's object of it.
struct Operand {
  void* data = nullptr;
  Dims dims, strides, storage;
  int64_t offset = 0;  // elements
  acl::DataType type = acl::kF32;
  acl::Format format = acl::kNd;
  acl::Tensor* object = nullptr;
  operator acl::Tensor*() const { return object; }  // NOLINT: it stands for the object in calls
};

class Desk : public Place {
 public:
  explicit Desk(Case& at) : Place(at), o(at.operators().o()), op(at.operators().op()) {}
  const acl::Objects& o;
  const acl::Operators& op;

  // Dense, with these values, row by row.
  Operand In(const Dims& dims, acl::DataType type, const Values& values,
             acl::Format format = acl::kNd);
  Operand In(const Dims& dims, acl::DataType type, int64_t seed = 0) {
    return In(dims, type, Some(Count(dims), seed));
  }
  // Bytes of ones are in it, which no result of a check is.
  Operand Out(const Dims& dims, acl::DataType type, acl::Format format = acl::kNd);
  // Another look at the same memory.
  Operand Look(Operand of, const Dims& dims, const Dims& strides, int64_t offset = 0);
  // The storage is NC1HWC0's or FRACTAL_NZ's of the dims; padded lanes are 0.
  Operand InPrivate(const Dims& dims, acl::DataType type, const Values& values, acl::Format format);
  Operand OutPrivate(const Dims& dims, acl::DataType type, acl::Format format);
  // Elements in the order of the dims, whatever the view or the format.
  Values Read(const Operand& operand);

  acl::Scalar* Number(double value, acl::DataType type = acl::kF32);
  acl::IntArray* Ints(const Dims& values);
  acl::TensorList* List(const std::vector<acl::Tensor*>& tensors);
  acl::Tensor* Object(const Operand& operand);
  acl::Tensor* ObjectAt(const Operand& operand, void* data);

  template <class... P, class... A>
  acl::Status First(const acl::TwoPhase<acl::Status (*)(P...)>& o, uint64_t* bytes,
                    acl::Executor** executor, A... given) {
    const std::string name = std::string("aclnn") + o.name;
    if (o.first == nullptr || o.second == nullptr) Case::Skip("the library has no " + name);
    return o.first(static_cast<P>(given)..., bytes, executor);
  }
  // Both phases, and waits. Empty, or which call failed.
  template <class Operator, class... A>
  void Run(const Operator& o, A... given) {
    Start(o, given...);
    at.Ok(f.aclrtSynchronizeStream(stream), "aclrtSynchronizeStream behind aclnn" + Name(o));
  }
  template <class Operator, class... A>
  void Start(const Operator& o, A... given) {
    uint64_t bytes = 0;
    acl::Executor* executor = nullptr;
    const std::string name = "aclnn" + Name(o);
    at.Ok(First(o, &bytes, &executor, given...), name + "GetWorkspaceSize");
    at.Ok(o.second(bytes == 0 ? nullptr : Block(bytes), bytes, executor, stream), name);
  }
  template <class Operator>
  static std::string Name(const Operator& o) {
    return o.name;
  }

  // Notes where the operand is not these values, within `bound` of their size; 0: exactly.
  void Near(const Operand& found, const Values& wanted, double bound);
  void Near(const Operand& found, const Values& wanted) { Near(found, wanted, Bound(found.type)); }
  void Same(const Operand& found, const Values& wanted) { Near(found, wanted, 0); }
};

// Calls use(desk, type) for float32, float16 and, where the chip has it, bfloat16. What differs in
// one is noted, and the next is tried.
void InEachType(Case& at, const std::function<void(Desk&, acl::DataType)>& use);
// Whether `use` gets through is told; what it compares is judged.
void IfTaken(Case& at, const std::function<void(Desk&)>& use);

}  // namespace ascend_check
