// Refusal: a pass throws it to refuse its work, with a reason for the user. The entry point called
// by the host catches it: no exception leaves a plugin.
#pragma once

#include <string>

#include "ge/ge_plugin.h"

namespace ge::passes {

struct Refusal {
  ge_rc rc;
  std::string text;
};

}  // namespace ge::passes
