// How a failure becomes graphengine.Error. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "ge/ge.h"

namespace graphengine {

// What `text` says, damaged UTF-8 replaced.
nanobind::object Text(std::string_view text);

// "ndarray".
std::string TypeName(nanobind::handle object);

// Leaves with graphengine.Error; `text` is put behind the name of the status.
[[noreturn]] void Raise(ge_status status, const std::string& text);
// Leaves with what a call of ge.h answered, unless that is GE_STATUS_OK. `error` may lack words.
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
