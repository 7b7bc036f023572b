// Tensor: the Python object of eager and traced values, as C structs: making one costs no more than
// an allocation. With the GIL held.
//
// The numbers of a Tensor never change; replace_value gives the object another value. An eager one
// has memory; a traced one has a symbol, any object of graphengine.jit, and no memory.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "element.h"
#include "ge/ge.h"
#include "memory.h"

namespace graphengine {

struct Tensor {
  PyObject_HEAD PyObject* weak;  // weak references to it
  PyObject* symbol;              // owned; null: eager
  PyObject* shape;               // owned tuple; null: not asked for yet
  Memory* memory;                // a share; null: traced
  int32_t dtype, rank;           // dtype: ONNX's number
  uint64_t bytes;
  int64_t dims[GE_MAX_RANK];  // -1: an object of the shape
};

// Type, sizes and memory of a new Tensor.
struct TensorValue {
  int32_t dtype, rank;
  uint64_t bytes;
  int64_t dims[GE_MAX_RANK];
  MemoryRef memory;
};

// Null for another object.
Tensor* TensorOf(PyObject* object);
inline Tensor* TensorOf(nanobind::handle object) { return TensorOf(object.ptr()); }

// A new object; null, with Python's exception set, where there is no memory.
PyObject* NewTensor(int32_t dtype, int32_t rank, const int64_t* dims, uint64_t bytes,
                    MemoryRef memory);
nanobind::object NewTensor(TensorValue value);

// Gives `tensor` the type, sizes and numbers of `from`. Arrays over the former ones keep them.
void ReplaceValue(Tensor& tensor, const Tensor& from);

// Dense bytes of a type and dims. Throws graphengine.Error for more than 2^63 bits.
uint64_t TensorBytes(const Element& element, int32_t rank, const int64_t* dims);
// Of `bytes` bytes; throws MemoryError.
MemoryRef MakeMemory(uint64_t bytes);

// The tuple of its sizes, borrowed.
nanobind::handle ShapeOf(Tensor& tensor);
int64_t ElementsOf(const Tensor& tensor);  // of an eager one
ge_tensor ViewOf(const Tensor& tensor);    // its memory for the engine, which reads it

MemoryRef ShareMemory(const Tensor& tensor);

void AddTensor(nanobind::module_& m);

}  // namespace graphengine
