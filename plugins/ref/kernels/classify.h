// Questions about one float: y = op(x) as a bool. Pure; any thread.
#pragma once

#include "plugins/ref/checks.h"

namespace ref {

template <class Op>
std::unique_ptr<Prepared> PrepareClassify(const NodeView& n, Why* why, const Op& op = {}) {
  if (!NeedPorts(n, 1, 1, why) || !NeedSameDims(n.in(0), n.out(0), why)) return nullptr;
  if (n.out(0).dtype != GE_BOOL) return NoDType(n.out(0), why), nullptr;
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.in(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([op](const Call& c) {
          const Tensor x = c.in(0), y = c.out(0);
          const T* in = x.as<T>();
          bool* out = y.as<bool>();
          for (int64_t i = 0; i < y.count; ++i) out[i] = op(Widen(in[i]));
          return static_cast<ge_rc>(GE_OK);
        });
      })) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace ref
