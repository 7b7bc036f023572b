#include "tools/ge_test/random_microsoft.h"

namespace ge::test {
namespace {

void GqaCase(CaseMaker& m) {
  const int64_t kv = m.r.Int(1, 2), heads = kv * m.r.Int(1, 3), size = 2 * m.r.Int(1, 3);
  const int64_t batch = m.r.Int(1, 3), past = m.r.Chance(0.4) ? 0 : m.r.Int(1, 5);
  const int64_t steps = past > 0 ? 1 : m.r.Int(1, 4);
  const bool packed = m.r.Chance(0.3), turned = m.r.Chance(0.6);
  m.Add(Signal(m, {batch, steps, (packed ? heads + 2 * kv : heads) * size}));
  for (int i = 0; i < 2; ++i) {
    AddMaybe(m, packed ? nullptr : Signal(m, {batch, steps, kv * size}));
  }
  for (int i = 0; i < 2; ++i) {
    AddMaybe(m, past > 0 ? Signal(m, {batch, kv, past, size}) : nullptr);
  }
  // Samples may have fewer older keys than the cache has rows.
  const bool full = past == 0 || m.r.Chance(0.5);
  const auto most = static_cast<double>(past + steps - 1);
  m.Add(m.Numbers(DType::kInt32, {batch}, full ? most : 0, most));
  m.AddConstant(m.Ints(DType::kInt32, {}, {past + steps}));
  for (int i = 0; i < 2 && turned; ++i) m.Add(Signal(m, {12, size / 2}));
  m.Set("num_heads", heads);
  m.Set("kv_num_heads", kv);
  if (turned) m.Set("do_rotary", int64_t{1});
  if (turned && m.r.Chance(0.5)) m.Set("rotary_interleaved", int64_t{1});
  if (m.r.Chance(0.3)) m.Set("local_window_size", m.r.Int(1, 4));
  if (m.r.Chance(0.3)) m.Set("softcap", m.r.Between(0.5, 2));
  if (m.r.Chance(0.3)) m.Set("scale", m.r.Between(0.1, 1));
  m.c.outputs = m.r.Chance(0.6) ? 3 : 1;
}

}  // namespace

GE_RANDOM_OP(microsoft_group_query_attention) = {"com.microsoft.GroupQueryAttention", GqaCase, 2e-5,
                                                 Error::kOfTerms};

}  // namespace ge::test
