#include "array.h"

#include <algorithm>
#include <cstring>

#include "model.h"
#include "raise.h"
#include "tensor.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

char nothing[64];  // where arrays without elements lie

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

[[noreturn]] void RefuseElements(nb::handle object, const std::string& what) {
  const nb::object dtype = nb::getattr(object, "dtype", nb::none());
  const nb::object kind = nb::getattr(dtype, "kind", nb::none());
  const auto name = nb::cast<std::string>(nb::str(dtype.is_none() ? nb::inst_name(object) : dtype));
  const bool texts =
      !kind.is_none() &&
      std::string("OSTU").find(nb::cast<std::string>(nb::str(kind))) != std::string::npos;
  Raise(GE_STATUS_UNSUPPORTED,
        what + " has elements of " + name +
            (texts ? "; the input is of numbers, and texts are none"
                   : ", which is no type of ONNX; make them one, as by astype(\"float32\") or "
                     "astype(\"int64\")"));
}

void SwapBytes(char* data, uint64_t bytes, const Element& element) {
  const bool complex = element.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Complex);
  const size_t part = static_cast<size_t>(element.bits) / (complex ? 16 : 8);
  for (char* p = data; p != data + bytes; p += part) std::reverse(p, p + part);
}

// Elements of `bits` bits that lie one to a byte, the first in the lowest bits of their new byte.
void Pack(char* data, uint64_t elements, uint32_t bits) {
  const uint32_t mask = (1u << bits) - 1;
  for (uint64_t i = 0; i < elements; ++i) {
    const uint64_t at = i * bits / 8, shift = i * bits % 8;
    const uint32_t value = (static_cast<uint8_t>(data[i]) & mask) << shift;
    // The bytes that are written are not read any more: none lies behind i.
    const uint32_t low = shift == 0 ? value : static_cast<uint8_t>(data[at]) | value;
    data[at] = static_cast<char>(low);
    if (shift + bits > 8) data[at + 1] = static_cast<char>(value >> 8);
  }
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

void BorrowedArray::SetType(const Element* element, int64_t rank, const std::string& what,
                            nb::handle object) {
  if (!element || element->bits == 0) RefuseElements(object, what);
  if (rank < 0 || rank > GE_MAX_RANK) {
    Raise(GE_STATUS_LIMIT_EXCEEDED, what + " has rank " + std::to_string(rank) +
                                        ", wanted at most " + std::to_string(GE_MAX_RANK));
  }
  tensor_.size = sizeof tensor_;
  tensor_.dtype = element->number;
  tensor_.rank = static_cast<int32_t>(rank);
}

void BorrowedArray::Copy(const Memory& memory, const Element& element) {
  const size_t bytes = (element.bits + 7) / 8;
  uint64_t elements = 1;
  for (int32_t i = 0; i < tensor_.rank; ++i) elements *= static_cast<uint64_t>(tensor_.dims[i]);
  copy_.reset(new char[elements * bytes]);
  if (memory.strides) {
    const auto* from = static_cast<const char*>(memory.data);
    CopyStrided(from, tensor_.dims, memory.strides, tensor_.rank, bytes, copy_.get());
  } else {
    std::memcpy(copy_.get(), memory.data, elements * bytes);
  }
  if (memory.swapped) SwapBytes(copy_.get(), elements * bytes, element);
  if (memory.padded) Pack(copy_.get(), elements, element.bits);
  tensor_.data = copy_.get();
}

void BorrowedArray::SetMemory(const Memory& memory, const Element& element, const std::string& what,
                              Use use) {
  tensor_.bytes = BytesOf(tensor_, element, what);
  tensor_.data = tensor_.bytes == 0 ? nothing : memory.data;
  if (tensor_.bytes == 0) return;
  if (!memory.data) Raise(GE_STATUS_INVALID_ARGUMENT, what + " has elements and no memory");
  const size_t bytes = (element.bits + 7) / 8;
  // Of a complex number its parts are what is aligned.
  const size_t align = std::min<size_t>(bytes, 8);
  const bool dense =
      !memory.strides || IsDense(tensor_, memory.strides, static_cast<int64_t>(bytes));
  const bool aligned = reinterpret_cast<uintptr_t>(memory.data) % align == 0;
  if (dense && aligned && !memory.swapped && !memory.padded) return;
  if (use == Use::kWrite && (memory.swapped || memory.padded)) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          what + (memory.swapped ? " is in the other byte order, which is not written; give one in "
                                   "this machine's, as numpy.empty makes it"
                                 : " has elements of less than a byte one to a byte, which are not "
                                   "written so; ask for outputs=\"dlpack\""));
  }
  if (use == Use::kWrite || (element.bits < 8 && !memory.padded)) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          what +
              " is not dense in C order or not aligned to its elements; give one that is, as "
              "numpy.empty makes it");
  }
  Copy(memory, element);
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
  Memory memory{buffer_.buf, nullptr};
  const Element* element = as;
  if (!as) element = ElementOfFormat(buffer_.format, buffer_.itemsize, &memory.swapped);
  SetType(element, buffer_.ndim, what, object);
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  std::copy_n(buffer_.shape, buffer_.ndim, tensor_.dims);
  memory.strides = reinterpret_cast<const int64_t*>(buffer_.strides);
  memory.padded = element->bits < 8;
  SetMemory(memory, *element, what, use);
  return true;
}

// Arrays of numpy whose type comes from elsewhere (ml_dtypes) have no buffer; their bits do.
bool BorrowedArray::TakeNamedType(nb::handle object, const std::string& what, Use use) {
  if (!nb::hasattr(object, "dtype") || !nb::hasattr(object, "view")) return false;
  const std::string name = nb::cast<std::string>(nb::str(nb::handle(object.attr("dtype"))));
  const Element* element = ElementNamed(name);
  if (!element || element->numpy || element->bits == 0) return false;
  return TakeBuffer(object.attr("view")(element->bits == 16 ? "u2" : "u1"), what, use, element);
}

bool BorrowedArray::TakeDlpack(nb::handle object, const std::string& what, Use use) {
  if (!nb::hasattr(object, "__dlpack__")) return false;
  // An array of numpy that has come so far is of a type that nobody takes.
  if (nb::isinstance(object, nb::module_::import_("numpy").attr("ndarray"))) {
    SetType(nullptr, 0, what, object);
  }
  dlpack_.Take(object, what, use == Use::kWrite);
  const nb::dlpack::dltensor& t = dlpack_.tensor();
  const Element* element = ElementOf(t.dtype);
  SetType(element, t.ndim, what, object);
  std::copy_n(t.shape, t.ndim, tensor_.dims);
  const bool padded = element->bits < 8 && dlpack_.padded();
  const int64_t bytes = padded ? 1 : element->bits / 8;
  int64_t in_bytes[GE_MAX_RANK];
  for (int32_t i = 0; t.strides && i < t.ndim; ++i) in_bytes[i] = t.strides[i] * bytes;
  Memory memory{t.data ? static_cast<char*>(t.data) + t.byte_offset : nullptr, nullptr};
  memory.padded = padded;
  if (t.strides && bytes > 0) {
    memory.strides = in_bytes;
  } else if (t.strides && !IsDense(tensor_, t.strides, 1)) {
    Raise(GE_STATUS_INVALID_ARGUMENT, what +
                                          " is not dense in C order, which elements of less than a "
                                          "byte have to be; give a copy that is");
  }
  SetMemory(memory, *element, what, use);
  return true;
}

// Its memory stays the same, whatever value the object has later.
bool BorrowedArray::TakeTensor(nb::handle object) {
  const Tensor* tensor = TensorOf(object);
  if (!tensor || tensor->symbol) return false;
  tensor_ = ViewOf(*tensor);
  memory_ = ShareMemory(*tensor);
  return true;
}

void BorrowedArray::Read(nb::handle object, const std::string& what, const Element* wanted) {
  if (TakeTensor(object)) return;
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
  if (!TakeBuffer(array, what, Use::kRead, nullptr)) SetType(nullptr, 0, what, array);
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
  tensor->data = nullptr;
  tensor->flags = 0;
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
  return ArrayOver(t, Owner(tensor, home), what, form);
}

nb::object ArrayOver(const ge_tensor& t, const nb::capsule& owner, const std::string& what,
                     Form form) {
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
