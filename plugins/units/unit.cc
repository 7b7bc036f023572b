#include "plugins/units/unit.h"

namespace ge_engines {

const UnitKind NothingSpec::kKind = {.name = "nothing"};

size_t UnaryPostOps(const Unit& unit) {
  size_t n = 0;
  while (n < unit.post_ops.size() && !unit.post_ops[n].binary()) ++n;
  return n;
}

std::string ToText(const Dims& dims) {
  std::string s = "[";
  for (size_t i = 0; i < dims.size(); ++i) s += (i > 0 ? "," : "") + std::to_string(dims[i]);
  return s + "]";
}

}  // namespace ge_engines
