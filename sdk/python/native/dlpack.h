// A tensor that an object of Python gives by DLPack. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

namespace graphengine {

// Owns what `__dlpack__` gave, whose memory stays for as long as this lives.
class DlpackTensor {
 public:
  DlpackTensor() = default;
  DlpackTensor(const DlpackTensor&) = delete;
  DlpackTensor& operator=(const DlpackTensor&) = delete;
  ~DlpackTensor();

  // `object` has __dlpack__; `what` names it: "input 'x'". Leaves with graphengine.Error where it
  // gives no tensor of the host, one that was given before, or none that may be written, where
  // `write` is wanted. What PyTorch keeps beside the memory, that numbers are conjugated or negated
  // when they are read, is resolved in a copy.
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
