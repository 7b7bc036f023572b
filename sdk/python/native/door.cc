#include "door.h"

#include <nanobind/stl/string.h>
#include <structmember.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "guard.h"
#include "raise.h"

namespace nb = nanobind;

namespace graphengine {
namespace {

bool all_frames = false;  // for those who work on the package

struct Door {
  PyObject_HEAD vectorcallfunc call;
  PyObject* function;  // owned
  PyObject* weak;
};

Door& Of(PyObject* self) { return *reinterpret_cast<Door*>(self); }

// "…/graphengine/"
const std::string& Folder() {
  static const std::string* folder = nullptr;
  if (folder) return *folder;
  const std::string* made = [] {
    const nb::object path = nb::module_::import_("graphengine").attr("__path__");
    return new std::string(nb::cast<std::string>(nb::str(nb::object(path[0]))) + "/");
  }();
  if (!folder) folder = made;  // no lock of C++: an import lets the GIL go
  return *folder;
}

std::string FileOf(nb::handle trace) {
  const nb::object code = trace.attr("tb_frame").attr("f_code");
  return nb::cast<std::string>(nb::object(code.attr("co_filename")));
}

// "…/python3.11/": where the standard library lies.
const std::string& Library() {
  static const std::string* folder = nullptr;
  if (folder) return *folder;
  const std::string* made = [] {
    const nb::object path = nb::module_::import_("sysconfig").attr("get_path")("stdlib");
    return new std::string(nb::cast<std::string>(nb::str(path)) + "/");
  }();
  if (!folder) folder = made;  // no lock of C++: an import lets the GIL go
  return *folder;
}

// Whether a file is of Python's own library, or of one that the package calls.
bool IsLibrary(const std::string& file) {
  if (file.starts_with("<frozen ")) return true;
  const size_t site = file.rfind("-packages/");
  if (site == std::string::npos) return file.starts_with(Library());
  const std::string_view name = std::string_view(file).substr(site + 10);
  return name.starts_with("numpy/") || name.starts_with("safetensors/") ||
         name.starts_with("tqdm/");
}

// The traceback without frames of ours, and of libraries that these call; None where nothing is
// left.
nb::object Cut(nb::handle trace) {
  nb::object first = nb::none(), last;
  bool ours = false;  // the frame before was, and so are those of libraries that it calls
  for (nb::object at = nb::borrow(trace); !at.is_none(); at = at.attr("tb_next")) {
    const std::string file = FileOf(at);
    ours = file.starts_with(Folder()) || (ours && IsLibrary(file));
    if (ours) continue;
    if (last.is_valid()) {
      last.attr("tb_next") = at;
    } else {
      first = at;
    }
    last = at;
  }
  if (last.is_valid()) last.attr("tb_next") = nb::none();
  return first;
}

// `error` and those that it came from, each once.
void CutAll(nb::handle error, std::vector<PyObject*>* seen) {
  constexpr size_t kMost = 100;  // a chain may be long, and its parts cross
  for (PyObject* each : *seen) {
    if (each == error.ptr() || seen->size() > kMost) return;
  }
  seen->push_back(error.ptr());
  error.attr("__traceback__") = Cut(error.attr("__traceback__"));
  for (const char* from : {"__cause__", "__context__"}) {
    const nb::object earlier = error.attr(from);
    if (!earlier.is_none()) CutAll(earlier, seen);
  }
}

PyObject* Call(PyObject* self, PyObject* const* args, size_t n, PyObject* names) {
  PyObject* out = PyObject_Vectorcall(Of(self).function, args, n, names);
  if (!out) CutFrames();
  return out;
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  PyObject* function = nullptr;
  static const char* names[] = {"function", nullptr};
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Door", const_cast<char**>(names), &function)) {
    return nullptr;
  }
  if (!PyCallable_Check(function)) {
    PyErr_SetString(PyExc_TypeError, "Door() takes a function");
    return nullptr;
  }
  Door* door = PyObject_GC_New(Door, type);
  if (!door) return nullptr;
  door->call = Call;
  door->function = Py_NewRef(function);
  door->weak = nullptr;
  PyObject_GC_Track(door);
  return reinterpret_cast<PyObject*>(door);
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(Of(self).function);
  return 0;
}

int Clear(PyObject* self) {
  Py_CLEAR(Of(self).function);
  return 0;
}

void Dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  if (Of(self).weak) PyObject_ClearWeakRefs(self);
  Clear(self);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

PyObject* Bind(PyObject* self, PyObject* object, PyObject*) {
  if (!object || object == Py_None) return Py_NewRef(self);
  return Guarded<PyObject*>(nullptr, [&] {
    static PyObject* type = nullptr;  // no lock of C++: an import lets the GIL go
    if (!type) type = nb::object(nb::module_::import_("types").attr("MethodType")).release().ptr();
    const nb::handle method(type);
    return method(nb::handle(self), nb::handle(object)).release().ptr();
  });
}

// What the function has, beside what the type has.
PyObject* GetAttr(PyObject* self, PyObject* name) {
  const auto is = [name](const char* word) {
    return PyUnicode_CompareWithASCIIString(name, word) == 0;
  };
  // The type has these, too.
  if (is("__module__") || is("__doc__")) return PyObject_GetAttr(Of(self).function, name);
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  PyErr_Clear();
  return PyObject_GetAttr(Of(self).function, name);
}

PyObject* GetFunction(PyObject* self, void*) { return Py_NewRef(Of(self).function); }

PyObject* Repr(PyObject* self) { return PyObject_Repr(Of(self).function); }

// By its name, as functions are.
PyObject* Reduce(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(Of(self).function, "__qualname__");
}

PyGetSetDef getset[] = {{"__wrapped__", GetFunction, nullptr, "The function.", nullptr},
                        {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"__reduce__", Reduce, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Door, call), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Door, weak), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(New)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Dealloc)},
                       {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(Clear)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(Bind)},
                       {Py_tp_getattro, reinterpret_cast<void*>(GetAttr)},
                       {Py_tp_repr, reinterpret_cast<void*>(Repr)},
                       {Py_tp_getset, getset},
                       {Py_tp_methods, methods},
                       {Py_tp_members, members},
                       {0, nullptr}};

}  // namespace

void CutFrames() {
  if (all_frames) return;
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyException_SetTraceback(value, trace ? trace : Py_None);
  Py_XDECREF(trace);
  try {
    std::vector<PyObject*> seen;
    CutAll(value, &seen);
  } catch (nb::python_error&) {  // an exception with attributes of its own kind: as it is
  }
  PyErr_Restore(type, value, PyException_GetTraceback(value));
}

void AddDoor(nb::module_& m) {
  const std::string name = nb::cast<std::string>(m.attr("__name__")) + ".Door";
  PyType_Spec spec{name.c_str(), sizeof(Door), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                       Py_TPFLAGS_METHOD_DESCRIPTOR,
                   slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) nb::raise_python_error();
  m.attr("Door") = nb::steal(type);
  m.def(
      "show_all_frames", [](bool show) { return std::exchange(all_frames, show); }, nb::arg("show"),
      "Whether tracebacks keep the frames of the package, for those who work on it. Answers what "
      "was before.");
}

}  // namespace graphengine
