#include "trace.h"

#include <string>

#include "raise.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

thread_local PyObject* active = nullptr;  // owned
PyObject* asked = nullptr;                // owned, as long as the process

// Puts `next`, or null for None, in the place of `owned`; answers the former one, or None.
nb::object Exchange(PyObject*& owned, nb::handle next, const char* what) {
  if (!next.is_none() && !PyCallable_Check(next.ptr())) {
    Raise(GE_STATUS_INVALID_ARGUMENT,
          std::string(what) + " is a " + TypeName(next) + ", wanted a function or None");
  }
  PyObject* former = owned;
  owned = next.is_none() ? nullptr : next.inc_ref().ptr();
  return former ? nb::steal(former) : nb::object(nb::none());
}

}  // namespace

PyObject* ActiveTrace() { return active; }

nb::object AskTraced(nb::handle tensor, const char* wanted) {
  if (!asked) {
    Raise(GE_STATUS_FAILED_PRECONDITION,
          std::string("a traced Tensor has no numbers, and was asked for its ") + wanted);
  }
  return nb::borrow(asked)(tensor, wanted);
}

void AddTrace(nb::module_& m) {
  m.def(
      "set_trace", [](nb::handle trace) { return Exchange(active, trace, "trace"); },
      nb::arg("trace").none(),
      nb::sig("def set_trace(trace: typing.Callable[..., typing.Any] | None) -> typing.Any"),
      "From now on `apply` of this thread calls trace(domain, op, inputs, attributes, outputs); "
      "None: it computes. Answers the former one.");
  m.def(
      "set_traced_hook", [](nb::handle hook) { return Exchange(asked, hook, "hook"); },
      nb::arg("hook").none(),
      nb::sig("def set_traced_hook(hook: typing.Callable[[typing.Any, str], typing.Any] | None) "
              "-> typing.Any"),
      "hook(tensor, wanted) answers, or raises, where a traced Tensor is asked for what only "
      "numbers have: \"bool\", \"int\", \"len\" ... Answers the former one.");
}

}  // namespace graphengine
