// One array of Python as ge.h takes it. With the GIL held; an object is used by one thread at a
// time.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <string>

#include "dlpack.h"
#include "element.h"
#include "ge/ge.h"
#include "output_pool.h"

namespace graphengine {

// Keeps the memory of a caller's array for as long as it lives and says where it is. A dense array
// (C order, this machine's byte order, aligned to its elements, small elements packed) is read
// where it lies; another is copied, and so is what numpy.asarray makes an array of.
class BorrowedArray {
 public:
  BorrowedArray() = default;
  BorrowedArray(const BorrowedArray&) = delete;
  BorrowedArray& operator=(const BorrowedArray&) = delete;
  ~BorrowedArray();

  // Leaves with graphengine.Error where `object` is no such array; `what` names it: "input 'x'".
  // `wanted` is the type that lists and numbers are made to, or null.
  void Read(nanobind::handle object, const std::string& what, const Element* wanted);
  // The same for memory to be written: dense and writable, refused otherwise.
  void Write(nanobind::handle object, const std::string& what);

  const ge_tensor& tensor() const { return tensor_; }

 private:
  enum class Use { kRead, kWrite };
  // How an array lies.
  struct Memory {
    void* data;
    const int64_t* strides;  // bytes between neighbours of each axis; null: dense
    bool swapped = false;    // in the other byte order
    bool padded = false;     // elements of less than a byte lie one to a byte
  };
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
  std::unique_ptr<char[]> copy_;
};

enum class Form { kNumpy, kDlpack };

// Whose memory an output is when its array goes.
struct Home {
  std::shared_ptr<OutputPool> pool;
  uint32_t output;
  uint64_t shapes;
};

// An array over what a run gave. Its memory goes home with the array, or is freed where there is no
// home any more. Takes `tensor`'s memory in any case.
nanobind::object GiveArray(ge_tensor* tensor, const Home& home, const std::string& what, Form form);

// A new array of numpy of this type and these dims.
nanobind::object NewArray(const Element& element, const int64_t* dims, int32_t rank,
                          const std::string& what);

}  // namespace graphengine
