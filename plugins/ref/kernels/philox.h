// Draws of random numbers, element by element. Pure; any thread.
#pragma once

#include <algorithm>

#include "plugins/ref/checks.h"
#include "plugins/units/philox.h"

namespace ref {

using ge_engines::PhiloxKey;

inline PhiloxKey KeyOf(const NodeView& n) { return ge_engines::KeyOf(n.node()); }

// draw(element, number) for every element in order; normal: of the standard normal distribution
// instead, by the transform of Box and Muller.
template <class F>
void ForEachDraw(PhiloxKey key, int64_t count, bool normal, F&& draw) {
  for (int64_t i = 0; i < count; i += 2) {
    double pair[2];
    ge_engines::UniformPair(key, static_cast<uint64_t>(i) / 2, pair);
    if (normal) ge_engines::MakeNormal(pair);
    for (int64_t k = i; k < std::min(i + 2, count); ++k) draw(k, pair[k - i]);
  }
}

// y = at + width * draw; an optional input has the output's shape.
inline std::unique_ptr<Prepared> PrepareDraws(const NodeView& n, bool normal, double at,
                                              double width, Why* why) {
  if (!NeedPorts(n, 0, 1, why)) return nullptr;
  if (n.has_in(0) && !NeedSameDims(n.in(0), n.out(0), why)) return nullptr;
  const PhiloxKey key = KeyOf(n);
  std::unique_ptr<Prepared> made;
  if (!VisitFloat(n.out(0).dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([key, normal, at, width](const Call& c) {
          T* y = c.out(0).as<T>();
          ForEachDraw(key, c.out(0).count, normal,
                      [&](int64_t i, double v) { y[i] = Narrow<T>(at + width * v); });
          return static_cast<ge_rc>(GE_OK);
        });
        made->const_align = 1;
      })) {
    NoDType(n.out(0), why);
  }
  return made;
}

inline std::unique_ptr<Prepared> PrepareRandomNormal(const NodeView& n, Why* why) {
  return PrepareDraws(n, true, n.Float("mean"), n.Float("scale"), why);
}

inline std::unique_ptr<Prepared> PrepareRandomUniform(const NodeView& n, Why* why) {
  const double low = n.Float("low");
  return PrepareDraws(n, false, low, n.Float("high") - low, why);
}

}  // namespace ref
