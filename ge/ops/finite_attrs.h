// The check of float attributes that scale or bend a curve. Not an inference rule of its own: see
// infer_shapes.h. Any thread may call.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>

#include "ge/ops/infer_shapes.h"

namespace ge {

// Refuses the first infinite or NaN attribute among these.
inline Status WantFinite(const Node& n, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const double v = AttrFloat(n, name);
    if (!std::isfinite(v)) {
      return Bad(n, fmt::format("attribute '{}' is {}, wanted a finite number", name, v));
    }
  }
  return {};
}

}  // namespace ge
