#include "plugins/units/unit.h"

namespace ge_engines {

const UnitKind NothingSpec::kKind = {.name = "nothing"};

size_t UnaryPostOps(const Unit& u) {
  size_t n = 0;
  while (n < u.post_ops.size() && !u.post_ops[n].binary()) ++n;
  return n;
}

std::string ToText(const Dims& d) {
  std::string s = "[";
  for (size_t i = 0; i < d.size(); ++i) s += (i > 0 ? "," : "") + std::to_string(d[i]);
  return s + "]";
}

}  // namespace ge_engines
