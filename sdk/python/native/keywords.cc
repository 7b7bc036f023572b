#include "keywords.h"

#include <nanobind/stl/string.h>

#include "raise.h"

namespace nb = nanobind;

namespace graphengine {

Keywords::Keywords(const char* function, const nb::kwargs& given) : function_(function) {
  for (auto [name, value] : given) left_[name] = value;
}

nb::object Keywords::Take(const char* name) {
  const nb::object key = Text(name);
  asked_.append(key);
  PyObject* found = PyDict_GetItemWithError(left_.ptr(), key.ptr());
  if (!found) {
    if (PyErr_Occurred()) nb::raise_python_error();
    return nb::none();
  }
  nb::object value = nb::borrow(found);
  if (PyDict_DelItem(left_.ptr(), key.ptr()) != 0) nb::raise_python_error();
  return value;
}

void Keywords::Refuse(const char* name, nb::handle value, const std::string& wanted) const {
  const auto shown = nb::cast<std::string>(nb::repr(value));
  constexpr size_t kMost = 80;
  Raise(GE_STATUS_INVALID_ARGUMENT,
        std::string(name) + " is " +
            (shown.size() > kMost ? shown.substr(0, kMost) + "..." : shown) + ", wanted " + wanted);
}

uint64_t Keywords::Count(const char* name, uint64_t most) {
  const nb::object value = Take(name);
  if (value.is_none()) return 0;
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  uint64_t number = 0;
  if (!index.is_valid()) {
    PyErr_Clear();
  } else {
    number = PyLong_AsUnsignedLongLong(index.ptr());
    if (!PyErr_Occurred() && number <= most) return number;
    PyErr_Clear();
  }
  Refuse(name, value, "a whole number, 0 or more, at most " + std::to_string(most));
}

double Keywords::Number(const char* name) {
  const nb::object value = Take(name);
  if (value.is_none()) return 0;
  const double number = PyFloat_AsDouble(value.ptr());
  if (!PyErr_Occurred()) return number;
  PyErr_Clear();
  Refuse(name, value, "a number");
}

bool Keywords::Flag(const char* name) {
  const nb::object value = Take(name);
  if (value.is_none()) return false;
  if (!PyBool_Check(value.ptr())) Refuse(name, value, "True or False");
  return value.is(nb::handle(Py_True));
}

uint32_t Keywords::Place(const char* name, std::initializer_list<const char*> words) {
  const nb::object value = Take(name);
  if (value.is_none()) return 0;
  std::string all, word;
  uint32_t i = 0;
  const bool text = nb::try_cast(value, word);
  for (const char* each : words) {
    if (text && word == each && *each) return i;
    if (*each) all += (all.empty() ? "" : ", ") + std::string(each);
    ++i;
  }
  if (!text) Refuse(name, value, "one of " + all);
  Raise(GE_STATUS_INVALID_ARGUMENT, std::string(name) + " is '" + word + "', wanted " + all);
}

namespace {

// A text as it is; a path with a slash, since names without one are looked for.
std::optional<std::string> TextOf(nb::handle value) {
  if (PyUnicode_Check(value.ptr())) return nb::cast<std::string>(value);
  if (!nb::hasattr(value, "__fspath__")) return std::nullopt;
  const nb::object path = nb::steal(PyOS_FSPath(value.ptr()));
  if (!path.is_valid()) nb::raise_python_error();
  if (!PyUnicode_Check(path.ptr())) return std::nullopt;
  const auto text = nb::cast<std::string>(path);
  return text.find('/') == std::string::npos ? "./" + text : text;
}

}  // namespace

std::optional<std::string> Keywords::List(const char* name, const char* between) {
  const std::vector<std::string> texts = Texts(name);
  if (texts.empty()) return std::nullopt;
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : between) + text;
  return out;
}

std::vector<std::string> Keywords::Texts(const char* name) {
  const nb::object value = Take(name);
  if (value.is_none()) return {};
  if (auto one = TextOf(value)) return {*one};
  const nb::object each_in = nb::steal(PyObject_GetIter(value.ptr()));
  if (!each_in.is_valid()) {
    PyErr_Clear();
    Refuse(name, value, "a text, or a list of texts");
  }
  std::vector<std::string> out;
  for (nb::handle each : nb::borrow<nb::iterable>(each_in)) {
    const auto text = TextOf(each);
    if (!text) Raise(GE_STATUS_INVALID_ARGUMENT, std::string(name) + " wants texts");
    out.push_back(*text);
  }
  return out;
}

void Keywords::CheckAllTaken() const {
  for (auto [name, value] : left_) {
    const nb::object near =
        nb::module_::import_("difflib").attr("get_close_matches")(name, asked_, 1, 0.5);
    std::string said =
        std::string(function_) + "() has no keyword '" + nb::cast<std::string>(nb::str(name)) + "'";
    if (nb::len(near) > 0) {
      said += "; did you mean '" + nb::cast<std::string>(nb::str(nb::handle(near[0]))) + "'?";
    } else {
      said += "; it has " + nb::cast<std::string>(nb::str(", ").attr("join")(asked_));
    }
    PyErr_SetString(PyExc_TypeError, said.c_str());
    nb::raise_python_error();
  }
}

}  // namespace graphengine
