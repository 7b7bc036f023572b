#include "raise.h"

#include <nanobind/stl/string.h>

#include "kept_exception.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

[[noreturn]] void RaiseSentence(ge_status status, const std::string& sentence, const char* node) {
  const nb::object error = nb::module_::import_("graphengine._error")
                               .attr("error_of")(Text(sentence), ge_status_name(status), status,
                                                 node[0] ? Text(node) : nb::none());
  PyErr_SetObject(error.type().ptr(), error.ptr());
  nb::raise_python_error();
}

}  // namespace

nb::object Text(std::string_view text) {
  PyObject* s = PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (!s) nb::raise_python_error();
  return nb::steal(s);
}

std::string TypeName(nb::handle object) { return nb::cast<std::string>(nb::inst_name(object)); }

void Raise(ge_status status, const std::string& text) {
  RaiseSentence(status, std::string(ge_status_name(status)) + ": " + text, "");
}

void Check(ge_status status, const ge_error& error) {
  if (status == GE_STATUS_OK) return;
  if (error.message[0] == 0) Raise(status, "the engine gave no reason");
  ThrowKept(error.message);
  RaiseSentence(status, error.message, error.node);
}

}  // namespace graphengine
