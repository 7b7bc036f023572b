// What a Tensor shows of its memory to others: numpy's protocol, buffers, DLPack. Functions as
// Python calls them: they answer null (-1) with its exception set. With the GIL held.
#pragma once

#include "tensor.h"

namespace graphengine {

PyObject* TensorNumpy(PyObject* self, PyObject*);
PyObject* TensorItem(PyObject* self, PyObject*);
PyObject* TensorArray(PyObject* self, PyObject* args, PyObject* kwargs);
PyObject* TensorDlpack(PyObject* self, PyObject* args, PyObject* kwargs);
PyObject* TensorDlpackDevice(PyObject* self, PyObject*);
// Read-only, for the types that buffers have.
int TensorGetBuffer(PyObject* self, Py_buffer* view, int flags);
void TensorReleaseBuffer(PyObject* self, Py_buffer* view);

}  // namespace graphengine
