#include "dlpack.h"

#include <nanobind/stl/string.h>

#include "raise.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

constexpr int kCudaHost = 3, kRocmHost = 11;  // all of the host's memory

bool IsTrue(nb::handle value) {
  const int answer = PyObject_IsTrue(value.ptr());
  if (answer < 0) nb::raise_python_error();
  return answer == 1;
}

// PyTorch keeps that a view is conjugated or negated, and what derivatives need, beside the memory,
// where DLPack shows none of it.
nb::object Plain(nb::handle object, const std::string& what, bool write) {
  nb::object out = nb::borrow(object);
  for (const auto& [asked, resolve] :
       {std::pair("is_conj", "resolve_conj"), std::pair("is_neg", "resolve_neg")}) {
    const nb::object is = nb::getattr(out, asked, nb::none());
    if (is.is_none() || !IsTrue(is())) continue;
    if (write) {
      Raise(GE_STATUS_INVALID_ARGUMENT,
            what + " is a view that changes numbers as they are read (" + asked +
                "() is true); give a tensor without, as " + resolve + "() makes it");
    }
    out = out.attr(resolve)();
  }
  const nb::object grad = nb::getattr(out, "requires_grad", nb::none());
  if (!grad.is_none() && IsTrue(grad)) out = out.attr("detach")();
  return out;
}

void CheckDevice(int device, const std::string& what) {
  if (device == kDlpackCpu || device == kCudaHost || device == kRocmHost) return;
  Raise(GE_STATUS_UNSUPPORTED, what + " lies on a device of DLPack's type " +
                                   std::to_string(device) + "; move it to the CPU");
}

[[noreturn]] void RefuseExport(nb::handle object, const std::string& what,
                               nb::python_error& error) {
  if (!error.matches(PyExc_Exception)) {  // KeyboardInterrupt and its like
    error.restore();
    nb::raise_python_error();
  }
  Raise(GE_STATUS_UNSUPPORTED, what + " is a " + TypeName(object) + " whose __dlpack__ fails: " +
                                   nb::cast<std::string>(nb::str(error.value())));
}

nb::object Export(nb::handle object, const std::string& what) {
  const nb::object give = object.attr("__dlpack__");
  try {
    return give(nb::arg("max_version") = nb::make_tuple(1, 1));
  } catch (nb::python_error& error) {
    // Before version 1 there was no such argument.
    if (!error.matches(PyExc_TypeError)) RefuseExport(object, what, error);
  }
  try {
    return give();
  } catch (nb::python_error& error) {
    RefuseExport(object, what, error);
  }
}

// The device that the object tells; the CPU where it tells none, since the tensor does, too.
int ToldDevice(nb::handle object, const std::string& what) {
  int type = kDlpackCpu;
  if (!nb::hasattr(object, "__dlpack_device__")) return type;
  try {
    const nb::object device = object.attr("__dlpack_device__")();
    (void)nb::try_cast(nb::object(device[0]), type);
  } catch (nb::python_error& error) {
    RefuseExport(object, what, error);
  }
  return type;
}

// What the capsule holds, which is ours from now on: nobody else takes it again.
void* Consume(nb::handle capsule, const char* name, const char* used) {
  void* held = PyCapsule_GetPointer(capsule.ptr(), name);
  if (!held || PyCapsule_SetName(capsule.ptr(), used) != 0 ||
      PyCapsule_SetDestructor(capsule.ptr(), nullptr) != 0) {
    nb::raise_python_error();
  }
  return held;
}

}  // namespace

DlpackTensor::~DlpackTensor() {
  if (!managed_) return;
  if (versioned_) {
    auto* m = static_cast<DlpackManagedVersioned*>(managed_);
    if (m->deleter) m->deleter(m);
  } else {
    auto* m = static_cast<DlpackManaged*>(managed_);
    if (m->deleter) m->deleter(m);
  }
}

void DlpackTensor::Take(nb::handle object, const std::string& what, bool write) {
  resolved_ = Plain(object, what, write);
  CheckDevice(ToldDevice(resolved_, what), what);  // before one is made to copy
  const nb::object capsule = Export(resolved_, what);
  uint64_t flags = 0;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    versioned_ = true;
    managed_ = Consume(capsule, "dltensor_versioned", "used_dltensor_versioned");
    const auto* m = static_cast<DlpackManagedVersioned*>(managed_);
    if (m->major != 1) {
      Raise(GE_STATUS_UNSUPPORTED, what + " gives a tensor of DLPack's version " +
                                       std::to_string(m->major) + ", wanted 0 or 1");
    }
    tensor_ = &m->tensor;
    flags = m->flags;
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    managed_ = Consume(capsule, "dltensor", "used_dltensor");
    tensor_ = &static_cast<DlpackManaged*>(managed_)->tensor;
  } else {
    const char* name = PyCapsule_CheckExact(capsule.ptr()) ? PyCapsule_GetName(capsule.ptr()) : "";
    const bool used = name && std::string(name).starts_with("used_dltensor");
    Raise(GE_STATUS_INVALID_ARGUMENT,
          what + " is a " + TypeName(object) + " whose __dlpack__ gives " +
              (used ? "a capsule that was taken before; it has to give a new one at each call"
                    : "a " + TypeName(capsule) + ", wanted a capsule named dltensor"));
  }
  CheckDevice(tensor_->device.device_type, what);
  if (write && (flags & (kDlpackReadOnly | kDlpackCopied)) != 0) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          what + (flags & kDlpackReadOnly ? " is read-only" : " gives a copy of its memory") +
              "; give an array that may be written");
  }
  if (tensor_->ndim > 0 && !tensor_->shape) {
    Raise(GE_STATUS_INVALID_ARGUMENT, what + " gives a DLPack tensor with axes and no shape");
  }
  padded_ = (flags & kDlpackPadded) != 0;
}

}  // namespace graphengine
