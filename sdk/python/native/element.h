// Element types: ONNX's numbers, the words of numpy and ml_dtypes, and DLPack's codes. Data only.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>
#include <string_view>

namespace graphengine {

struct Element {
  int32_t number;      // ONNX's, as in ge.h
  const char* name;    // numpy's or ml_dtypes'; "string" for texts
  uint8_t code, bits;  // DLPack's; 0 bits for texts
  bool numpy;          // numpy itself has the type
};

// Null for a number, word or code outside of ONNX's list.
const Element* ElementOf(int32_t number);
const Element* ElementNamed(std::string_view name);
const Element* ElementOf(nanobind::dlpack::dtype dtype);
// The type of a buffer format: "f", "<i", "Zd", ">d" ... with elements of `bytes` bytes. *swapped:
// they have the other byte order than this machine.
const Element* ElementOfFormat(const char* format, int64_t bytes, bool* swapped);

inline nanobind::dlpack::dtype DlpackType(const Element& element) {
  return {element.code, element.bits, 1};
}

}  // namespace graphengine
