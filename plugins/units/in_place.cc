#include "plugins/units/in_place.h"

#include <algorithm>

namespace ge_engines {

const Unit* InPlaceUnit(const std::vector<Unit>& units) {
  if (units.size() != 1) return nullptr;
  const Unit& u = units[0];
  switch (u.kind().in_place) {
    case InPlace::kNone:
      return nullptr;
    case InPlace::kPointwise:
      return u.post_ops.size() == 1 && u.post_ops[0].channel == nullptr && u.out.size() == 1
                 ? &u
                 : nullptr;
    default:
      return u.post_ops.empty() ? &u : nullptr;
  }
}

namespace {

// Input k in the place of output k: each is read just where its new value is written.
std::vector<uint32_t> AliasesOfOutputs(const ge_segment& segment, const Unit& u) {
  std::vector<uint32_t> pairs;
  for (size_t k = 0; k < u.out.size(); ++k) {
    const uint32_t* const out = std::find(segment.out, segment.out + segment.n_out, u.out[k]);
    const uint32_t* const in = std::find(segment.in, segment.in + segment.n_in, u.in[k]);
    const bool once = std::count(u.in.begin(), u.in.end(), u.in[k]) == 1;
    if (out == segment.out + segment.n_out || in == segment.in + segment.n_in || !once) continue;
    pairs.push_back(static_cast<uint32_t>(out - segment.out));
    pairs.push_back(static_cast<uint32_t>(in - segment.in));
  }
  return pairs;
}

}  // namespace

std::vector<uint32_t> AliasesOf(const Parser& parser, const ge_segment& segment, const Unit& u) {
  if (u.kind().in_place == InPlace::kOutputs) return AliasesOfOutputs(segment, u);
  std::vector<uint32_t> pairs;
  if (segment.n_out != 1 || segment.out[0] != u.out[0]) return pairs;
  for (uint32_t i = 0; i < segment.n_in; ++i) {
    const uint32_t v = segment.in[i];
    const bool plain = (segment.in_layout == nullptr || segment.in_layout[i] == 0) &&
                       (segment.out_layout == nullptr || segment.out_layout[0] == 0);
    const bool whole = parser.dims(v) == u.dims && parser.dtype(v) == parser.dtype(u.out[0]);
    const bool moved = u.kind().in_place == InPlace::kFirst && v != u.in[0];
    if (plain && whole && !moved) pairs.insert(pairs.end(), {0, i});
  }
  return pairs;
}

}  // namespace ge_engines
