#include "tensor_export.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "array.h"
#include "dlpack.h"
#include "guard.h"
#include "raise.h"
#include "tensor_number.h"
#include "trace.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

MemoryRef CopyOf(const Tensor& t) {
  MemoryRef copy = MakeMemory(t.bytes);
  if (t.bytes > 0) std::memcpy(copy.data(), t.memory->data, t.bytes);
  return copy;
}

// An array of numpy over `memory`, or, of types that numpy lacks, of ml_dtypes.
nb::object ArrayOf(const Tensor& t, MemoryRef memory, bool writable) {
  ge_tensor view = ViewOf(t);
  view.data = memory.data();
  const nb::capsule owner(
      memory.release(), [](void* p) noexcept { const MemoryRef dropped(static_cast<Memory*>(p)); });
  nb::object array = ArrayOver(view, owner, "the Tensor", Form::kNumpy);
  if (!writable) array.attr("flags").attr("writeable") = false;
  return array;
}

// Sizes and steps of a dense tensor, for those who ask for steps.
struct DenseShape {
  MemoryRef memory;
  int64_t dims[GE_MAX_RANK], strides[GE_MAX_RANK];

  // Steps of `unit` for neighbours of the last axis.
  DenseShape(MemoryRef taken, const Tensor& t, int64_t unit) : memory(std::move(taken)) {
    std::copy_n(t.dims, t.rank, dims);
    for (int32_t i = t.rank; i-- > 0;) {
      strides[i] = unit;
      unit *= std::max<int64_t>(dims[i], 1);
    }
  }
};

// The letters of a buffer's elements, by ONNX's number; null for types that have none.
const char* FormatOf(int32_t number) {
  constexpr const char* kFormats[] = {nullptr, "f", "B", "b", "H", "h", "i",  "l",
                                      nullptr, "?", "e", "d", "I", "L", "Zf", "Zd"};
  const bool known = number >= 0 && number < static_cast<int32_t>(std::size(kFormats));
  return known ? kFormats[number] : nullptr;
}

struct Exported : DenseShape {
  using DenseShape::DenseShape;
  DlpackManaged plain{};
  DlpackManagedVersioned versioned{};
};

void FillDlpack(Exported& out, const Tensor& t, nb::dlpack::dltensor& tensor) {
  tensor.data = out.memory.data();
  tensor.device = {kDlpackCpu, 0};
  tensor.ndim = t.rank;
  tensor.dtype = DlpackType(*ElementOf(t.dtype));
  tensor.shape = out.dims;
  tensor.strides = out.strides;
  tensor.byte_offset = 0;
}

// Of a capsule that nobody took.
void DropCapsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto* m =
        static_cast<DlpackManagedVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    m->deleter(m);
  } else if (PyCapsule_IsValid(capsule, "dltensor")) {
    auto* m = static_cast<DlpackManaged*>(PyCapsule_GetPointer(capsule, "dltensor"));
    m->deleter(m);
  }
}

nb::object CapsuleOf(std::unique_ptr<Exported> out, const Tensor& t, bool versioned, bool copied) {
  if (versioned) {
    DlpackManagedVersioned& m = out->versioned;
    m.major = 1;
    m.minor = 1;
    m.context = out.get();
    m.deleter = [](DlpackManagedVersioned* p) { delete static_cast<Exported*>(p->context); };
    m.flags = copied ? kDlpackCopied : kDlpackReadOnly;
    FillDlpack(*out, t, m.tensor);
  } else {
    out->plain.context = out.get();
    out->plain.deleter = [](DlpackManaged* p) { delete static_cast<Exported*>(p->context); };
    FillDlpack(*out, t, out->plain.tensor);
  }
  void* held = versioned ? static_cast<void*>(&out->versioned) : &out->plain;
  PyObject* made = PyCapsule_New(held, versioned ? "dltensor_versioned" : "dltensor", DropCapsule);
  if (!made) nb::raise_python_error();
  (void)out.release();
  return nb::steal(made);
}

[[noreturn]] void RefuseBuffer(const char* why) {
  PyErr_SetString(PyExc_BufferError, why);
  nb::raise_python_error();
}

// The first number of a pair, `otherwise` for None.
int FirstOf(PyObject* pair, int otherwise) {
  if (pair == Py_None) return otherwise;
  return nb::cast<int>(nb::object(nb::borrow(pair)[0]));
}

}  // namespace

PyObject* TensorNumpy(PyObject* self, PyObject*) {
  return Guarded<PyObject*>(nullptr, [&] {
    const Tensor& t = *TensorOf(self);
    if (t.symbol) return AskTraced(self, "array").release().ptr();
    return ArrayOf(t, ShareMemory(t), false).release().ptr();
  });
}

PyObject* TensorItem(PyObject* self, PyObject*) {
  return Guarded<PyObject*>(nullptr, [&] {
    const Tensor& t = *TensorOf(self);
    if (t.symbol) return AskTraced(self, "item").release().ptr();
    return NumberOf(t, "item").release().ptr();
  });
}

PyObject* TensorArray(PyObject* self, PyObject* args, PyObject* kwargs) {
  return Guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    PyObject *dtype = Py_None, *copy = Py_None;
    static const char* names[] = {"dtype", "copy", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", const_cast<char**>(names),
                                     &dtype, &copy)) {
      return nullptr;
    }
    const Tensor& t = *TensorOf(self);
    if (t.symbol) return AskTraced(self, "array").release().ptr();
    const bool copied = copy == Py_True;
    nb::object array = ArrayOf(t, copied ? CopyOf(t) : ShareMemory(t), copied);
    if (dtype == Py_None) return array.release().ptr();
    if (copy != Py_False) {
      return array.attr("astype")(nb::handle(dtype), nb::arg("copy") = false).release().ptr();
    }
    if (!array.attr("dtype").equal(nb::handle(dtype))) {
      PyErr_SetString(PyExc_ValueError, "another type takes a copy, which copy=False refuses");
      nb::raise_python_error();
    }
    return array.release().ptr();
  });
}

PyObject* TensorDlpack(PyObject* self, PyObject* args, PyObject* kwargs) {
  return Guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
    static const char* names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", const_cast<char**>(names),
                                     &stream, &version, &device, &copy)) {
      return nullptr;
    }
    const Tensor& t = *TensorOf(self);
    if (t.symbol) return AskTraced(self, "dlpack").release().ptr();
    if (stream != Py_None) RefuseBuffer("a Tensor lies on the CPU, where stream is None");
    if (FirstOf(device, kDlpackCpu) != kDlpackCpu) {
      RefuseBuffer("a Tensor lies on the CPU and is not given to another device");
    }
    // Version 0 has no word for memory that may not be written.
    const bool versioned = FirstOf(version, 0) >= 1;
    const bool copied = copy == Py_True || (!versioned && copy != Py_False);
    auto out = std::make_unique<Exported>(copied ? CopyOf(t) : ShareMemory(t), t, 1);
    return CapsuleOf(std::move(out), t, versioned, copied).release().ptr();
  });
}

PyObject* TensorDlpackDevice(PyObject*, PyObject*) {
  return Guarded<PyObject*>(nullptr, [] { return nb::make_tuple(kDlpackCpu, 0).release().ptr(); });
}

int TensorGetBuffer(PyObject* self, Py_buffer* view, int flags) {
  return Guarded<int>(-1, [&] {
    view->obj = nullptr;
    const Tensor& t = *TensorOf(self);
    const char* format = FormatOf(t.dtype);
    if (t.symbol) RefuseBuffer("a traced Tensor has no memory");
    if (!format) RefuseBuffer("a Tensor of this type has no buffer; numpy() gives an array");
    if (flags & PyBUF_WRITABLE) {
      RefuseBuffer("a Tensor's memory is not written to; numpy.array(tensor) gives a copy");
    }
    const int64_t bytes = ElementOf(t.dtype)->bits / 8;
    auto shape = std::make_unique<DenseShape>(ShareMemory(t), t, bytes);
    view->buf = shape->memory.data();
    view->len = static_cast<Py_ssize_t>(t.bytes);
    view->readonly = 1;
    view->itemsize = bytes;
    view->format = flags & PyBUF_FORMAT ? const_cast<char*>(format) : nullptr;
    view->ndim = t.rank;
    static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
    const bool shaped = (flags & PyBUF_ND) != 0;
    const bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    view->shape = shaped ? reinterpret_cast<Py_ssize_t*>(shape->dims) : nullptr;
    view->strides = strided ? reinterpret_cast<Py_ssize_t*>(shape->strides) : nullptr;
    view->suboffsets = nullptr;
    view->internal = shape.release();
    view->obj = Py_NewRef(self);
    return 0;
  });
}

void TensorReleaseBuffer(PyObject*, Py_buffer* view) {
  delete static_cast<DenseShape*>(view->internal);
}

}  // namespace graphengine
