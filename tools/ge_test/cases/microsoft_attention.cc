#include "tools/ge_test/random_microsoft.h"

namespace ge::test {
namespace {

void AttentionMsCase(CaseMaker& m) {
  const int64_t heads = m.Size(3, 12), size = m.Size(4, 32), batch = m.r.Int(1, 3),
                steps = m.Size(4, 40), in = m.Size(6, 384);
  const int64_t past = m.r.Chance(0.3) ? m.r.Int(1, 3) : 0, total = past + steps;
  const int64_t hidden = heads * size,
                v_hidden = past > 0 || m.r.Chance(0.6) ? hidden : heads * m.Size(4, 32);
  m.Add(Signal(m, {batch, steps, in}));
  m.Add(TameWeight(m, {in, 2 * hidden + v_hidden}, 4 * in));
  AddMaybe(m, m.r.Chance(0.7) ? Signal(m, {2 * hidden + v_hidden}) : nullptr);
  AddMaybe(m, AttentionMask(m, batch, steps, total));
  AddMaybe(m, past > 0 ? Signal(m, {2, batch, heads, past, size}) : nullptr);
  if (m.r.Chance(0.3)) {
    m.Add(Signal(m, {m.r.Chance(0.5) ? 1 : batch, m.r.Chance(0.5) ? 1 : heads, steps, total}));
  }
  m.Set("num_heads", heads);
  if (v_hidden != hidden) m.Set("qkv_hidden_sizes", Dims{hidden, hidden, v_hidden});
  if (m.r.Chance(0.5)) m.Set("unidirectional", m.r.Int(0, 1));
  if (m.r.Chance(0.3)) m.Set("scale", m.r.Between(0.1, 1));
  m.c.outputs = v_hidden == hidden && m.r.Chance(0.5) ? 2 : 1;
}

}  // namespace

GE_RANDOM_OP(microsoft_attention) = {"com.microsoft.Attention", AttentionMsCase, 2e-5,
                                     Error::kOfTerms};

}  // namespace ge::test
