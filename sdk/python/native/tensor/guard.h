// Guarded: the body of a function that Python itself calls, outside of nanobind: C++ exceptions
// become Python's. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <new>

namespace graphengine {

// What `body` answers, or `failed` with Python's exception set.
template <typename T, typename F>
T Guarded(T failed, F&& body) {
  try {
    return body();
  } catch (nanobind::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return failed;
}

}  // namespace graphengine
