#include "tools/ge_test/random_microsoft.h"

namespace ge::test {
namespace {

struct MhaShape {
  int64_t heads, size, v_size, batch, steps, keys;
};

// Query, key and value; answers whether a bias may be added to them.
bool AddMhaInputs(CaseMaker& m, const MhaShape& s) {
  const int64_t kind = m.r.Int(0, 5);
  if (kind == 0) {
    m.Add(Signal(m, {s.batch, s.keys, s.heads, 3, s.size}));
    m.AddAbsent();
    m.AddAbsent();
    return false;
  }
  m.Add(Signal(m, {s.batch, s.steps, s.heads * s.size}));
  if (kind == 1) {
    m.Add(Signal(m, {s.batch, s.keys, s.heads, 2, s.size}));
    m.AddAbsent();
    return false;
  }
  if (kind == 2) {
    m.Add(Signal(m, {s.batch, s.heads, s.keys, s.size}));
    m.Add(Signal(m, {s.batch, s.heads, s.keys, s.v_size}));
    return false;
  }
  m.Add(Signal(m, {s.batch, s.keys, s.heads * s.size}));
  m.Add(Signal(m, {s.batch, s.keys, s.heads * s.v_size}));
  return true;
}

void MhaCase(CaseMaker& m) {
  MhaShape s{m.r.Int(1, 3), m.Size(4, 70), 0, m.Size(3, 12), m.Size(4, 70), m.Size(4, 40)};
  s.v_size = m.r.Chance(0.6) ? s.size : m.Size(4, 70);
  const bool apart = AddMhaInputs(m, s);
  if (m.c.inputs[0].tensor->dims.size() == 5) s.steps = s.keys;
  if (m.c.inputs[2].tensor == nullptr) s.v_size = s.size;
  const int64_t past = apart && m.r.Chance(0.4) ? m.r.Int(1, 3) : 0, total = past + s.keys;
  AddMaybe(m, apart && m.r.Chance(0.5) ? Signal(m, {s.heads * (2 * s.size + s.v_size)}) : nullptr);
  AddMaybe(m, AttentionMask(m, s.batch, s.steps, total));
  AddMaybe(m, m.r.Chance(0.3) ? Signal(m, {1, s.heads, s.steps, total}) : nullptr);
  if (past > 0) {
    m.Add(Signal(m, {s.batch, s.heads, past, s.size}));
    m.Add(Signal(m, {s.batch, s.heads, past, s.v_size}));
  }
  m.Set("num_heads", s.heads);
  if (m.r.Chance(0.3)) m.Set("unidirectional", m.r.Int(0, 1));
  if (m.r.Chance(0.3)) m.Set("scale", m.r.Between(0.1, 1));
  m.c.outputs = m.r.Chance(0.5) ? 3 : 1;
}

}  // namespace

GE_RANDOM_OP(microsoft_multi_head_attention) = {"com.microsoft.MultiHeadAttention", MhaCase, 2e-5,
                                                Error::kOfTerms};

}  // namespace ge::test
