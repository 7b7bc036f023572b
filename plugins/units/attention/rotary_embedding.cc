#include "plugins/units/attention/rotary_embedding.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

// The inputs besides x, and what lies in them.
bool ReadCaches(const Parser& g, const ge_node& n, RotarySpec* s, Unit* u, Why* why) {
  const Dims cosines = g.dims(n.in[1]);
  Dims wanted = {s->batch, s->steps, s->half};
  s->ids = n.n_in > 3 && n.in[3] != 0;
  if (s->ids) {
    s->positions = cosines.empty() ? 0 : cosines[0];
    wanted = {s->positions, s->half};
    if (g.dtype(n.in[3]) != GE_I64 || g.dims(n.in[3]) != Dims{s->batch, s->steps}) {
      return why->Say(GE_WHY_SHAPE, "position_ids are not [batch, steps] of int64");
    }
  }
  if (cosines != wanted || g.dims(n.in[2]) != wanted) {
    return why->Say(GE_WHY_SHAPE, "the caches are not one row for each token or position");
  }
  u->in = {n.in[0], n.in[1], n.in[2]};
  if (s->ids) u->in.push_back(n.in[3]);
  return true;
}

bool ParseRotary(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  for (uint32_t k = 0; k < 3; ++k) {
    if (k >= n.n_in || n.in[k] == 0 || !g.IsReal(g.dtype(n.in[k]))) {
      return why->Say(GE_WHY_DTYPE, "only float32");
    }
  }
  const Dims& x = u->dims;
  const bool four = x.size() == 4;
  RotarySpec s;
  if (!four && x.size() != 3) return why->Say(GE_WHY_SHAPE, "rank 3 or 4 is wanted");
  s.batch = x[0];
  s.heads = four ? x[1] : gp::AttrInt(n, "num_heads");
  if (s.heads < 1 || (!four && x[2] % s.heads != 0)) {
    return why->Say(GE_WHY_ATTRIBUTE, "num_heads does not divide the hidden size");
  }
  s.steps = x[four ? 2 : 1];
  s.size = four ? x[3] : x[2] / s.heads;
  s.head_at = four ? s.steps * s.size : s.size;
  s.step_at = four ? s.size : s.heads * s.size;
  s.batch_at = s.heads * s.steps * s.size;
  const int64_t given = gp::AttrInt(n, "rotary_embedding_dim");
  const int64_t turned = given == 0 ? s.size : given;
  if (turned < 2 || turned > s.size || turned % 2 != 0) {
    return why->Say(GE_WHY_ATTRIBUTE, "no even number of elements to turn");
  }
  s.half = turned / 2;
  s.interleaved = gp::AttrInt(n, "interleaved") != 0;
  if (!ReadCaches(g, n, &s, u, why)) return false;
  u->spec = s;
  return true;
}

constexpr Operator kRotaryOperators[] = {
    {.op = "RotaryEmbedding", .parse = ParseRotary, .types = Types::kAny, .data = 0},
};
}  // namespace

const UnitKind RotarySpec::kKind = {
    .name = "rotary_embedding", .operators = kRotaryOperators, .in_place = InPlace::kFirst};

}  // namespace ge_engines
