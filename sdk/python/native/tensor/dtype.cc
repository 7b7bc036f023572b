#include "dtype.h"

#include <nanobind/stl/string.h>

#include <functional>
#include <vector>

#include "raise.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

struct DType {
  const Element* element;
};

std::vector<nb::handle>& Objects() {  // by ONNX's number, as long as the process
  static std::vector<nb::handle> objects;
  return objects;
}

// Null for a word of no type of numbers.
const Element* NumbersNamed(std::string_view word) {
  const Element* element = ElementNamed(word);
  return element && element->bits != 0 ? element : nullptr;
}

const Element* ElementOfPython(nb::handle type) {
  const auto is = [&](PyTypeObject& other) {
    return type.ptr() == reinterpret_cast<PyObject*>(&other);
  };
  if (is(PyFloat_Type)) return ElementNamed("float32");
  if (is(PyLong_Type)) return ElementNamed("int64");
  if (is(PyBool_Type)) return ElementNamed("bool");
  if (is(PyComplex_Type)) return ElementNamed("complex64");
  return nullptr;
}

// Null where `object` names none.
const Element* Find(nb::handle object) {
  if (const DType* known = nullptr; nb::try_cast(object, known) && known) return known->element;
  if (const Element* element = ElementOfPython(object)) return element;
  if (PyUnicode_Check(object.ptr())) return NumbersNamed(nb::cast<std::string>(object));
  if (PyLong_Check(object.ptr()) && !PyBool_Check(object.ptr())) {
    int32_t number = 0;
    const Element* element = nb::try_cast(object, number) ? ElementOf(number) : nullptr;
    return element && element->bits != 0 ? element : nullptr;
  }
  // numpy's dtype, its scalar types, and those of ml_dtypes.
  nb::object name = nb::getattr(object, "name", nb::none());
  if (!PyUnicode_Check(name.ptr())) name = nb::getattr(object, "__name__", nb::none());
  if (!PyUnicode_Check(name.ptr())) return nullptr;
  const auto word = nb::cast<std::string>(name);
  return NumbersNamed(word == "bool_" ? "bool" : word);
}

nb::object Equal(const DType& self, nb::handle other) {
  const Element* element = Find(other);
  if (!element && !PyUnicode_Check(other.ptr())) {
    return nb::borrow(nb::handle(Py_NotImplemented));
  }
  return nb::bool_(element == self.element);
}

nb::object NumpyType(const DType& self) {
  nb::object numpy = nb::module_::import_("numpy");
  if (self.element->numpy) return numpy.attr("dtype")(self.element->name);
  if (self.element->bits < 8) {
    Raise(GE_STATUS_UNSUPPORTED, std::string(self.element->name) +
                                     " lies several to a byte, which numpy lacks; convert to "
                                     "another type, as by astype(\"int8\")");
  }
  PyObject* types = PyImport_ImportModule("ml_dtypes");
  if (!types) {
    PyErr_Clear();
    Raise(GE_STATUS_UNSUPPORTED,
          std::string("numpy lacks ") + self.element->name + "; install ml_dtypes");
  }
  return numpy.attr("dtype")(nb::steal(types).attr(self.element->name));
}

}  // namespace

nb::handle DTypeOf(int32_t number) { return Objects().at(static_cast<size_t>(number)); }

PyTypeObject* DTypeType() { return reinterpret_cast<PyTypeObject*>(nb::type<DType>().ptr()); }

const Element& ElementFor(nb::handle object, const std::string& what) {
  if (const Element* element = Find(object)) return *element;
  Raise(GE_STATUS_INVALID_ARGUMENT,
        what + " is " + nb::cast<std::string>(nb::repr(object)) +
            ", wanted a type of numbers, as graphengine.float32, \"float32\" or numpy.float32");
}

void AddDType(nb::module_& m) {
  nb::class_<DType>(m, "DType", "An element type. It equals its word and numpy's type.")
      .def_prop_ro(
          "name", [](const DType& t) { return t.element->name; },
          "The word of numpy or ml_dtypes: \"float32\".")
      .def_prop_ro(
          "itemsize", [](const DType& t) { return (t.element->bits + 7) / 8; },
          "Bytes of an element; 1 for smaller ones.")
      .def_prop_ro(
          "number", [](const DType& t) { return t.element->number; }, "ONNX's.")
      .def_prop_ro("dtype", NumpyType, nb::sig("def dtype(self) -> typing.Any"),
                   "numpy's own, so that numpy.dtype takes this.")
      .def("__eq__", Equal, nb::arg().none(), nb::is_operator(),
           nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const DType& t) { return PyObject_Hash(nb::str(t.element->name).ptr()); })
      .def("__repr__", [](const DType& t) { return std::string("graphengine.") + t.element->name; })
      .def(
          "__reduce__",
          [](const DType& t) {
            return nb::make_tuple(nb::module_::import_("graphengine.tensor").attr("dtype_named"),
                                  nb::make_tuple(t.element->name));
          },
          nb::sig("def __reduce__(self) -> typing.Any"));
  std::vector<nb::handle>& objects = Objects();
  objects.assign(1, nb::handle());
  for (int32_t i = 1; const Element* element = ElementOf(i); ++i) {
    objects.push_back(nb::cast(DType{element}).release());
  }
  m.def(
      "dtype", [](nb::handle object) { return DTypeOf(ElementFor(object, "dtype").number); },
      nb::arg("object").none(), nb::sig("def dtype(object: typing.Any) -> DType"),
      "The DType that a word, a type of Python or numpy, or ONNX's number names.");
}

}  // namespace graphengine
