// DLPack's structs, and DlpackTensor: a tensor from a Python object. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

namespace graphengine {

// DLPack's own structs, of versions 0 and 1.
struct DlpackManaged {
  nanobind::dlpack::dltensor tensor;
  void* context;
  void (*deleter)(DlpackManaged*);
};
struct DlpackManagedVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(DlpackManagedVersioned*);
  uint64_t flags;  // kDlpack*
  nanobind::dlpack::dltensor tensor;
};
constexpr uint64_t kDlpackReadOnly = 1, kDlpackCopied = 2, kDlpackPadded = 4;
constexpr int kDlpackCpu = 1;

// Owns the result of `__dlpack__`; its memory stays as long as the DlpackTensor lives.
class DlpackTensor {
 public:
  DlpackTensor() = default;
  DlpackTensor(const DlpackTensor&) = delete;
  DlpackTensor& operator=(const DlpackTensor&) = delete;
  ~DlpackTensor();

  // `object` has __dlpack__; `what` names it: "input 'x'". Throws graphengine.Error for a tensor
  // outside of the host, one that was given before, or, if `write`, a read-only one or a copy.
  // PyTorch may mark a tensor as conjugated or negated instead of changing its memory; a copy
  // resolves the mark.
  void Take(nanobind::handle object, const std::string& what, bool write);

  const nanobind::dlpack::dltensor& tensor() const { return *tensor_; }
  // Elements of less than a byte lie one to a byte.
  bool padded() const { return padded_; }

 private:
  const nanobind::dlpack::dltensor* tensor_ = nullptr;
  void* managed_ = nullptr;  // DLManagedTensor, or the versioned one
  bool versioned_ = false, padded_ = false;
  nanobind::object resolved_;  // the copy
};

}  // namespace graphengine
