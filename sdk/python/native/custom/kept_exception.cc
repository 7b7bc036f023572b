#include "kept_exception.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <charconv>
#include <deque>

namespace nb = nanobind;

namespace graphengine {
namespace {

constexpr size_t kMostKept = 64;
constexpr std::string_view kMark = "[exception ";

struct Kept {
  uint64_t number;
  PyObject* exception;  // owned
};
struct AllKept {
  std::deque<Kept> waiting;
  uint64_t next = 1;
};

AllKept& TheKept() {
  static AllKept* all = new AllKept;  // the interpreter may be gone when main ends
  return *all;
}

std::string TextOf(nb::handle exception) {
  std::string text = nb::cast<std::string>(nb::inst_name(exception));
  try {
    const auto said = nb::cast<std::string>(nb::str(exception));
    if (!said.empty()) text += ": " + said;
  } catch (nb::python_error&) {  // one that cannot be printed
  }
  return text;
}

}  // namespace

std::string KeepException() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  Py_XDECREF(type);
  if (trace) PyException_SetTraceback(value, trace);
  Py_XDECREF(trace);
  AllKept& all = TheKept();
  all.waiting.push_back({all.next++, value});
  const std::string text =
      std::string(kMark) + std::to_string(all.waiting.back().number) + "] " + TextOf(value);
  if (all.waiting.size() > kMostKept) {
    const nb::object dropped = nb::steal(all.waiting.front().exception);
    all.waiting.pop_front();
  }
  return text;
}

void ThrowKept(std::string_view text) {
  AllKept& all = TheKept();
  for (size_t at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark, at + 1)) {
    uint64_t number = 0;
    const std::string_view rest = text.substr(at + kMark.size());
    std::from_chars(rest.data(), rest.data() + rest.size(), number);
    for (auto each = all.waiting.begin(); each != all.waiting.end(); ++each) {
      if (each->number != number) continue;
      const nb::object exception = nb::steal(each->exception);
      all.waiting.erase(each);
      PyErr_SetObject(exception.type().ptr(), exception.ptr());
      nb::raise_python_error();
    }
  }
}

}  // namespace graphengine
