#include "array.h"

#include <algorithm>
#include <cstring>

#include "model.h"
#include "raise.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

char nothing[64];  // where arrays without elements lie

std::string TypeName(nb::handle object) { return nb::cast<std::string>(nb::inst_name(object)); }

// Copies the elements of axis `axis` and those within; returns where the next one goes.
char* CopyStrided(const char* from, const int64_t* dims, const int64_t* strides, int32_t rank,
                  size_t bytes, char* to) {
  if (rank == 0) {
    std::memcpy(to, from, bytes);
    return to + bytes;
  }
  for (int64_t i = 0; i < dims[0]; ++i) {
    to = CopyStrided(from + i * strides[0], dims + 1, strides + 1, rank - 1, bytes, to);
  }
  return to;
}

bool IsDense(const ge_tensor& t, const int64_t* strides, int64_t bytes) {
  for (int32_t i = t.rank; i-- > 0;) {
    if (t.dims[i] != 1 && strides[i] != bytes) return false;
    bytes *= t.dims[i];
  }
  return true;
}

// An array that repeats one element may claim more than any memory holds.
uint64_t BytesOf(const ge_tensor& t, const Element& element, const std::string& what) {
  int64_t bits = element.bits;
  bool fits = true;
  for (int32_t i = 0; i < t.rank; ++i) {
    if (t.dims[i] == 0) return 0;
    fits = fits && t.dims[i] > 0 && !__builtin_mul_overflow(bits, t.dims[i], &bits);
  }
  if (!fits || bits > INT64_MAX - 7) {
    Raise(GE_STATUS_LIMIT_EXCEEDED,
          what + " is " + ShapeText(t.dims, t.rank) + ", more than 2^63 bits; give a smaller one");
  }
  return static_cast<uint64_t>((bits + 7) / 8);
}

// What numpy makes of a list or a number.
nb::object AsArray(nb::handle object, const std::string& what, const Element* wanted) {
  nb::object numpy = nb::module_::import_("numpy");
  nb::object dtype = wanted && wanted->numpy ? Text(wanted->name) : nb::object(nb::none());
  try {
    return numpy.attr("asarray")(object, dtype, nb::arg("order") = "C");
  } catch (nb::python_error& error) {
    const auto said = nb::cast<std::string>(nb::str(error.value()));
    Raise(GE_STATUS_INVALID_ARGUMENT,
          what + " is a " + TypeName(object) + " that numpy makes no array of: " + said);
  }
}

}  // namespace

BorrowedArray::~BorrowedArray() {
  if (holds_buffer_) PyBuffer_Release(&buffer_);
}

void BorrowedArray::SetType(const Element* element, int64_t rank, const std::string& what) {
  if (!element || element->bits == 0) {
    Raise(GE_STATUS_UNSUPPORTED,
          what +
              " has elements of a type that the engine does not take; texts are not taken by "
              "ge.h, numbers want a type of ONNX in this machine's byte order");
  }
  if (rank > GE_MAX_RANK) {
    Raise(GE_STATUS_LIMIT_EXCEEDED, what + " has rank " + std::to_string(rank) +
                                        ", wanted at most " + std::to_string(GE_MAX_RANK));
  }
  tensor_.size = sizeof tensor_;
  tensor_.dtype = element->number;
  tensor_.rank = static_cast<int32_t>(rank);
}

void BorrowedArray::SetMemory(void* data, const int64_t* strides, const Element& element,
                              const std::string& what, Use use) {
  tensor_.bytes = BytesOf(tensor_, element, what);
  tensor_.data = tensor_.bytes == 0 ? nothing : data;
  if (tensor_.bytes == 0) return;
  const size_t bytes = (element.bits + 7) / 8;
  // Of a complex number its parts are what is aligned.
  const size_t align = std::min<size_t>(bytes, 8);
  const bool dense = !strides || IsDense(tensor_, strides, static_cast<int64_t>(bytes));
  if (dense && reinterpret_cast<uintptr_t>(data) % align == 0) return;
  if (use == Use::kWrite || element.bits < 8) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          what +
              " is not dense in C order or not aligned to its elements; give one that is, as "
              "numpy.empty makes it");
  }
  copy_.reset(new char[tensor_.bytes]);
  if (dense) {
    std::memcpy(copy_.get(), data, tensor_.bytes);
  } else {
    CopyStrided(static_cast<const char*>(data), tensor_.dims, strides, tensor_.rank, bytes,
                copy_.get());
  }
  tensor_.data = copy_.get();
}

bool BorrowedArray::TakeBuffer(nb::handle object, const std::string& what, Use use,
                               const Element* as) {
  if (!PyObject_CheckBuffer(object.ptr())) return false;
  const int flags = use == Use::kWrite ? PyBUF_RECORDS : PyBUF_RECORDS_RO;
  if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) {
    PyErr_Clear();
    if (use == Use::kRead) return false;
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_RECORDS_RO) != 0) {
      PyErr_Clear();
      return false;
    }
    PyBuffer_Release(&buffer_);
    Raise(GE_STATUS_INVALID_ARGUMENT, what + " is read-only; give an array that may be written");
  }
  holds_buffer_ = true;
  const Element* element = as ? as : ElementOfFormat(buffer_.format, buffer_.itemsize);
  SetType(element, buffer_.ndim, what);
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  std::copy_n(buffer_.shape, buffer_.ndim, tensor_.dims);
  SetMemory(buffer_.buf, reinterpret_cast<const int64_t*>(buffer_.strides), *element, what, use);
  return true;
}

// Arrays of numpy whose type comes from elsewhere (ml_dtypes) have no buffer; their bits do.
bool BorrowedArray::TakeNamedType(nb::handle object, const std::string& what, Use use) {
  if (!nb::hasattr(object, "dtype") || !nb::hasattr(object, "view")) return false;
  const std::string name = nb::cast<std::string>(nb::str(nb::handle(object.attr("dtype"))));
  const Element* element = ElementNamed(name);
  if (!element || element->numpy || element->bits < 8) return false;
  return TakeBuffer(object.attr("view")(element->bits == 16 ? "u2" : "u1"), what, use, element);
}

bool BorrowedArray::TakeDlpack(nb::handle object, const std::string& what, Use use) {
  if (!nb::hasattr(object, "__dlpack__")) return false;
  nb::dlpack::dtype dtype;
  const int64_t* shape;
  const int64_t* strides;
  int device;
  size_t rank;
  void* data;
  const auto take = [&](auto* array) {
    if (!nb::try_cast(object, *array, false)) return false;
    dtype = array->dtype(), shape = array->shape_ptr(), strides = array->stride_ptr();
    rank = array->ndim(), device = array->device_type();
    data = const_cast<void*>(static_cast<const void*>(array->data()));
    return true;
  };
  if (!(use == Use::kWrite ? take(&dlpack_) : take(&dlpack_ro_))) return false;
  if (device != nb::device::cpu::value && device != nb::device::cuda_host::value) {
    Raise(GE_STATUS_UNSUPPORTED, what + " lies on a device of DLPack's type " +
                                     std::to_string(device) + "; move it to the CPU");
  }
  const Element* element = ElementOf(dtype);
  SetType(element, static_cast<int64_t>(rank), what);
  std::copy_n(shape, rank, tensor_.dims);
  int64_t in_bytes[GE_MAX_RANK];
  for (size_t i = 0; strides && i < rank; ++i) in_bytes[i] = strides[i] * element->bits / 8;
  const bool strided = strides && element->bits >= 8;
  SetMemory(data, strided ? in_bytes : nullptr, *element, what, use);
  return true;
}

void BorrowedArray::Read(nb::handle object, const std::string& what, const Element* wanted) {
  if (TakeBuffer(object, what, Use::kRead, nullptr)) return;
  if (TakeNamedType(object, what, Use::kRead) || TakeDlpack(object, what, Use::kRead)) return;
  const bool plain = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr()) ||
                     PyFloat_Check(object.ptr()) || PyLong_Check(object.ptr());
  if (!plain) {
    Raise(GE_STATUS_INVALID_ARGUMENT, what + " is a " + TypeName(object) +
                                          ", wanted an array of numpy, or an object with "
                                          "__dlpack__ on the CPU, of numbers");
  }
  const nb::object array = AsArray(object, what, wanted);
  if (!TakeBuffer(array, what, Use::kRead, nullptr)) SetType(nullptr, 0, what);
}

void BorrowedArray::Write(nb::handle object, const std::string& what) {
  if (TakeBuffer(object, what, Use::kWrite, nullptr)) return;
  if (TakeNamedType(object, what, Use::kWrite) || TakeDlpack(object, what, Use::kWrite)) return;
  Raise(GE_STATUS_INVALID_ARGUMENT, what + " is a " + TypeName(object) +
                                        ", wanted a writable array of numpy, or an object with "
                                        "__dlpack__ on the CPU, of numbers");
}

namespace {

// numpy's own type for the bits, seen as the type that ml_dtypes has for them.
nb::object ViewAsNamed(nb::object bits, const Element& element, const std::string& what) {
  PyObject* types = PyImport_ImportModule("ml_dtypes");
  if (!types) {
    PyErr_Clear();
    Raise(GE_STATUS_UNSUPPORTED, what + " is " + element.name +
                                     ", which numpy lacks; install ml_dtypes, or ask for "
                                     "outputs=\"dlpack\"");
  }
  return bits.attr("view")(nb::steal(types).attr(element.name));
}

[[noreturn]] void RefusePacked(const Element& element, const std::string& what) {
  Raise(GE_STATUS_UNSUPPORTED, what + " is " + element.name +
                                   ", several to a byte, which numpy lacks; ask for "
                                   "outputs=\"dlpack\" where arrays are given out");
}

}  // namespace

nb::object NewArray(const Element& element, const int64_t* dims, int32_t rank,
                    const std::string& what) {
  if (element.bits < 8) RefusePacked(element, what);
  nb::list shape;
  for (int32_t i = 0; i < rank; ++i) shape.append(dims[i]);
  const char* bits = element.bits == 16 ? "u2" : "u1";
  nb::object empty = nb::module_::import_("numpy").attr("empty");
  nb::object array = empty(nb::tuple(shape), element.numpy ? element.name : bits);
  return element.numpy ? array : ViewAsNamed(array, element, what);
}

namespace {

struct Given {
  ge_tensor tensor;
  std::weak_ptr<OutputPool> pool;
  uint32_t output;
  uint64_t shapes;
};

// What an array holds on to; takes the memory.
nb::capsule Owner(ge_tensor* tensor, const Home& home) {
  auto* given = new Given{*tensor, home.pool, home.output, home.shapes};
  tensor->data = nullptr, tensor->flags = 0;
  return nb::capsule(given, [](void* p) noexcept {
    auto* back = static_cast<Given*>(p);
    if (const std::shared_ptr<OutputPool> pool = back->pool.lock()) {
      pool->Put(back->output, back->shapes, &back->tensor);
    } else {
      ge_tensor_release(&back->tensor);
    }
    delete back;
  });
}

}  // namespace

nb::object GiveArray(ge_tensor* tensor, const Home& home, const std::string& what, Form form) {
  if (!tensor->data && tensor->bytes != 0) {
    Raise(GE_STATUS_FAILED_PRECONDITION, what + " was given out before");
  }
  const ge_tensor t = *tensor;
  const nb::capsule owner = Owner(tensor, home);
  const Element* element = ElementOf(t.dtype);
  if (!element || element->bits == 0) {
    Raise(GE_STATUS_UNSUPPORTED, what + " is of texts, which ge.h does not hand out");
  }
  size_t shape[GE_MAX_RANK];
  std::copy_n(t.dims, t.rank, shape);
  void* data = t.data ? t.data : nothing;
  const auto rank = static_cast<size_t>(t.rank);
  nb::dlpack::dtype type = DlpackType(*element);
  if (form == Form::kDlpack) {
    return nb::cast(nb::ndarray<nb::array_api>(data, rank, shape, owner, nullptr, type,
                                               nb::device::cpu::value));
  }
  if (element->bits < 8) RefusePacked(*element, what);
  if (!element->numpy)
    type = {static_cast<uint8_t>(nb::dlpack::dtype_code::UInt), element->bits, 1};
  nb::object array = nb::cast(
      nb::ndarray<nb::numpy>(data, rank, shape, owner, nullptr, type, nb::device::cpu::value));
  return element->numpy ? array : ViewAsNamed(array, *element, what);
}

}  // namespace graphengine
