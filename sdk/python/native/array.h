// BorrowedArray: a Python array as a tensor of ge.h. With the GIL held; one thread at a time uses
// an object.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>

#include "dlpack.h"
#include "element.h"
#include "ge/ge.h"
#include "memory.h"
#include "output_pool.h"

namespace graphengine {

// Holds the memory of a caller's array as long as it lives, and its address. It reads a dense array
// (C order, this machine's byte order, aligned to its elements, small elements packed) in place. It
// copies any other array, and objects converted by numpy.asarray.
class BorrowedArray {
 public:
  BorrowedArray() = default;
  BorrowedArray(const BorrowedArray&) = delete;
  BorrowedArray& operator=(const BorrowedArray&) = delete;
  ~BorrowedArray();

  // Throws graphengine.Error if `object` is no such array; `what` names it: "input 'x'". `wanted`:
  // the type for lists and numbers, or null.
  void Read(nanobind::handle object, const std::string& what, const Element* wanted);
  // The same for an output: throws unless it is dense and writable.
  void Write(nanobind::handle object, const std::string& what);

  const ge_tensor& tensor() const { return tensor_; }
  bool copied() const { return copy_ != nullptr; }

 private:
  enum class Use { kRead, kWrite };
  // Layout of an array in memory.
  struct Memory {
    void* data;
    const int64_t* strides;  // bytes between neighbours of each axis; null: dense
    bool swapped = false;    // in the other byte order
    bool padded = false;     // elements of less than a byte lie one to a byte
  };
  bool TakeTensor(nanobind::handle object);
  bool TakeBuffer(nanobind::handle object, const std::string& what, Use use, const Element* as);
  bool TakeNamedType(nanobind::handle object, const std::string& what, Use use);
  bool TakeDlpack(nanobind::handle object, const std::string& what, Use use);
  void SetType(const Element* element, int64_t rank, const std::string& what,
               nanobind::handle object);
  void SetMemory(const Memory& memory, const Element& element, const std::string& what, Use use);
  void Copy(const Memory& memory, const Element& element);

  ge_tensor tensor_{};
  Py_buffer buffer_{};
  bool holds_buffer_ = false;
  DlpackTensor dlpack_;
  MemoryRef memory_;  // a Tensor's
  std::unique_ptr<char[]> copy_;
};

enum class Form { kNumpy, kDlpack };

// The pool to which an output's memory returns when its array dies.
struct Home {
  std::shared_ptr<OutputPool> pool;
  uint32_t output;
  uint64_t shapes;
};

// An array over an output of a run. The memory returns to its pool with the array, or is freed if
// the pool is gone. Takes `tensor`'s memory in any case.
nanobind::object GiveArray(ge_tensor* tensor, const Home& home, const std::string& what, Form form);

// An array over a tensor's memory, which stays until `owner` goes.
nanobind::object ArrayOver(const ge_tensor& tensor, const nanobind::capsule& owner,
                           const std::string& what, Form form);

// A new numpy array of this type and these dims.
nanobind::object NewArray(const Element& element, const int64_t* dims, int32_t rank,
                          const std::string& what);

}  // namespace graphengine
