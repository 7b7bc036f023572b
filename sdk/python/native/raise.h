// Turns failures into graphengine.Error. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "ge/ge.h"

namespace graphengine {

// `text` as a str, damaged UTF-8 replaced.
nanobind::object Text(std::string_view text);

// "ndarray".
std::string TypeName(nanobind::handle object);

// Throws graphengine.Error; `text` follows the status's name.
[[noreturn]] void Raise(ge_status status, const std::string& text);
// Throws the error of a call of ge.h, unless `status` is GE_STATUS_OK. `error` may lack words. What
// a Python operator raised is thrown as it is.
void Check(ge_status status, const ge_error& error);

inline ge_error NoError() {
  ge_error error;
  error.size = sizeof error;
  error.status = GE_STATUS_OK;
  error.message[0] = 0;
  error.node[0] = 0;
  return error;
}

}  // namespace graphengine
