// Refusal: what a pass throws to refuse its work, with a reason for the user. It is caught where
// the host's call enters: no exception leaves a plugin.
#pragma once

#include <string>

#include "ge/ge_plugin.h"

namespace ge::passes {

struct Refusal {
  ge_rc rc;
  std::string text;
};

}  // namespace ge::passes
