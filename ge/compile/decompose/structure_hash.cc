#include "ge/compile/decompose/structure_hash.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace ge {

void StructureHash::AddBits(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  Add(bits);
}

void StructureHash::AddAttr(const Attr& attr) {
  Add(attr.name);
  Add(attr.value.index());
  std::visit(
      [&](const auto& x) {
        using T = std::decay_t<decltype(x)>;
        if constexpr (std::is_same_v<T, int64_t>) Add(static_cast<uint64_t>(x));
        if constexpr (std::is_same_v<T, double>) AddBits(x);
        if constexpr (std::is_same_v<T, std::string>) Add(x);
        if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          Add(x.size());
          for (const int64_t i : x) Add(static_cast<uint64_t>(i));
        }
        if constexpr (std::is_same_v<T, std::vector<double>>) {
          Add(x.size());
          for (const double d : x) AddBits(d);
        }
        if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          Add(x.size());
          for (const std::string& s : x) Add(s);
        }
      },
      attr.value);
}

void StructureHash::AddType(const Value& v, int64_t most) {
  Add(v.constant != 0 ? 1 : 0);
  Add(static_cast<uint64_t>(v.type.dtype));
  if (!v.type.is_tensor() || !v.type.is_static()) return;
  Add(v.type.dims.size());
  for (const Dim& d : v.type.dims) {
    Add(static_cast<uint64_t>(std::min<int64_t>(d.value, most)));
  }
}

uint64_t KeyOfNode(const Function& function, const Node& n) {
  StructureHash hash;
  hash.Add(n.domain);
  hash.Add(n.op);
  for (const std::vector<ValueId>* list : {&n.inputs, &n.outputs}) {
    hash.Add(list->size());
    for (const ValueId v : *list) {
      hash.Add(v == 0 ? 0 : 1 + function.value(v).constant);
      if (v != 0) hash.AddType(function.value(v), std::numeric_limits<int64_t>::max());
    }
  }
  for (const Attr& a : n.attrs) hash.AddAttr(a);
  return hash.sum();
}

}  // namespace ge
