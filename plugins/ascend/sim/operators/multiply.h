// Multiply: products of matrices in float32, as a matrix unit sums them: sixteen products deep,
// then these sums. Pure; any thread.
#pragma once

#include <cstdint>

namespace ge_engines::ascend::sim {

inline constexpr int64_t kPanel = 8;  // columns of one panel
inline int64_t PanelColumns(int64_t columns) { return (columns + kPanel - 1) / kPanel * kPanel; }

// c[rows][columns], whose rows are `step` apart, of a[rows][depth] and b, which lies in panels of
// kPanel columns, each [depth][kPanel]; the last one has columns of padding.
void Multiply(const float* a, const float* panels, int64_t rows, int64_t columns, int64_t depth,
              float* c, int64_t step);

// Panels of b[depth][columns]; columns of padding are 0.
void FillPanels(const float* b, int64_t depth, int64_t columns, float* panels);

// What cubeMathType says: whether factors of float32 are rounded to float16 first.
enum CubeMath : int64_t { kKeepType = 0, kMayRound = 1, kUseHalf = 2 };

}  // namespace ge_engines::ascend::sim
