// AddDefaultAttrs: a host gives engines nodes with all attributes that have defaults. Tests that
// make nodes by hand add them here.
#pragma once

#include <string>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "ge/ops/op.h"

namespace ge::test {

// Adds the defaults missing in `attrs`; they point into the OpDef records, which live on.
inline void AddDefaultAttrs(const char* op_name, std::vector<ge_attr>* attrs) {
  const OpDef* op = FindOp("", op_name);
  if (op == nullptr) return;
  for (const AttrDef& d : op->attrs) {
    bool given = !d.default_value;
    for (const ge_attr& a : *attrs) given |= plugin::View(a.name) == d.name;
    if (given) continue;
    ge_attr a = {};
    a.name = plugin::Str(d.name);
    if (const auto* i = std::get_if<int64_t>(&*d.default_value)) {
      a.kind = GE_ATTR_INT;
      a.i = *i;
    } else if (const auto* f = std::get_if<double>(&*d.default_value)) {
      a.kind = GE_ATTR_FLOAT;
      a.f = *f;
    } else if (const auto* s = std::get_if<std::string>(&*d.default_value)) {
      a.kind = GE_ATTR_STRING;
      a.s = plugin::Str(*s);
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&*d.default_value)) {
      a.kind = GE_ATTR_INTS;
      a.ints = list->data();
      a.n = static_cast<uint32_t>(list->size());
    }
    attrs->push_back(a);
  }
}

}  // namespace ge::test
