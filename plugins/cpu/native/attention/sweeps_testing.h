// Runs attention at the sizes of a sweep (native/sweeps_testing.h). For tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "plugins/cpu/kit/aligned_block.h"
#include "plugins/cpu/native/attention/attention.h"
#include "plugins/cpu/native/sweeps_testing.h"
#include "plugins/units/attention/attention.h"

namespace ge_engines::cpu::native {

// Steps as SweepAttend has them.
inline Wanted AttendWanted(const AttendSpec& spec, const float* q, const float* k,
                           const float* value, const float* mask,
                           const std::vector<uint8_t>& seen) {
  const int64_t rows = spec.rows, keys = spec.keys, size = spec.size, v_size = spec.v_size;
  Wanted want(spec.batch * rows * v_size);
  for (int64_t i = 0; i < spec.batch * rows; ++i) {
    const int64_t h = i / rows, r = i % rows;
    std::vector<double> share(Z(keys));
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (int64_t e = 0; e < size; ++e) {
        score += double{q[i * size + e]} * double{k[(h * keys + j) * size + e]};
      }
      score = score * 0.125 + double{mask[r * keys + j]};
      if (seen[Z(h * keys + j)] == 0) score = -1e9;
      const int64_t own = spec.past + r;
      if (spec.before >= 0 && j < own - spec.before) score = -INFINITY;
      if (spec.after >= 0 && j > own + spec.after) score = -INFINITY;
      share[Z(j)] = score;
      top = std::max(top, score);
    }
    for (double& x : share) sum += x = std::exp(x - top);
    for (int64_t j = 0; j < keys; ++j) {
      for (int64_t e = 0; e < v_size; ++e) {
        const double p = share[Z(j)] / sum * double{value[(h * keys + j) * v_size + e]};
        want.sum[Z(i * v_size + e)] += p;
        want.size[Z(i * v_size + e)] += std::fabs(p);
      }
    }
  }
  return want;
}

// Two heads with an added mask, with a bool mask that keeps each row's first key, with a scale;
// causal and with windows, too.
inline void SweepAttend(int64_t rows, int64_t keys, int64_t size, int64_t v_size) {
  constexpr int64_t kHeads = 2;
  const float *q = Numbers(kHeads * rows * size), *v = Weights(kHeads * keys * v_size);
  const float *k = Numbers(kHeads * keys * size) + 3, *mask = Numbers(rows * keys) + 11;
  std::vector<float> columns(Z(kHeads * keys * size));
  for (int64_t i = 0; i < kHeads * keys * size; ++i) {
    columns[Z((i / (keys * size) * size + i % size) * keys + i / size % keys)] = k[i];
  }
  std::vector<uint8_t> seen(Z(kHeads * keys));
  for (int64_t i = 0; i < kHeads * keys; ++i) seen[Z(i)] = i % keys % 5 != 3 ? 1 : 0;
  AttendSpec s;
  s.batch = kHeads;
  s.rows = rows;
  s.keys = keys;
  s.size = size;
  s.v_size = v_size;
  s.q = {rows * size, 0, size};
  s.v = {keys * v_size, 0, v_size};
  s.y = {rows * v_size, 0, v_size};
  s.steps.resize(3);
  s.steps[0].a = 0.125f;
  s.steps[1].kind = ScoreStep::kBinary;
  s.steps[1].fn = Fn::kAdd;
  s.steps[1].view = {kHeads, rows};
  s.steps[1].step = {0, keys};
  s.steps[2].kind = ScoreStep::kWhere;
  s.steps[2].a = -1e9f;
  s.steps[2].view = {kHeads, rows};
  s.steps[2].step = {keys, 0};
  s.past = keys > rows ? keys - rows : 0;
  // Windows in which each row sees a key.
  const int64_t left = std::max<int64_t>(rows - keys, 0) + 3;
  for (const auto& [before, after] : {std::pair<int64_t, int64_t>{-1, -1}, {-1, 0}, {left, 2}}) {
    s.before = before;
    s.after = after;
    const Wanted want = AttendWanted(s, q, k, v, mask, seen);
    for (const bool transposed : {true, false}) {
      s.transposed = transposed;
      s.k = {keys * size, 0, transposed ? size : keys};
      InEachSetting([&](const Setting& setting) {
        SCOPED_TRACE(testing::Message()
                     << rows << " rows, " << keys << " keys, " << size << " and " << v_size
                     << ", window " << s.before << " " << s.after << ", turned " << transposed);
        const AttendPlan plan(setting.simd(), s, setting.threads);
        std::vector<float> y(Z(kHeads * rows * v_size + 1), kGuard);
        AlignedBlock room(plan.floats() * sizeof(float) * static_cast<uint64_t>(plan.threads));
        auto at = [](const void* p) { return static_cast<float*>(const_cast<void*>(p)); };
        RunLoop(*AttentionKernel(plan),
                {y.data(), at(q), transposed ? at(k) : columns.data(), at(v), at(q), at(mask),
                 at(seen.data()), at(q), at(room.data())});
        // Exponentials of sums: their error is a share of the result.
        want.Expect(y.data(), kHeads * rows * v_size, 4e-6);
        ASSERT_EQ(y.back(), kGuard);
      });
    }
  }
}

}  // namespace ge_engines::cpu::native
