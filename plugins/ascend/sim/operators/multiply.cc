#include "plugins/ascend/sim/operators/multiply.h"

#include <algorithm>
#include <cstring>

#include "plugins/ascend/sim/operators/view.h"

namespace ge_engines::ascend::sim {
namespace {

constexpr int64_t kRows = 4;  // of a tile
using Lanes = float __attribute__((vector_size(16)));
constexpr int64_t kHalf = kPanel / 2;  // a panel's row is two of Lanes

template <int64_t rows>
void Tile(const float* a, const float* panel, int64_t depth, float* to) {
  Lanes total[rows][2] = {};
  for (int64_t k = 0; k < depth; k += kBlock) {
    Lanes part[rows][2] = {};
    for (int64_t j = k, end = std::min(depth, k + kBlock); j < end; ++j) {
      Lanes left, right;
      std::memcpy(&left, panel + j * kPanel, sizeof left);
      std::memcpy(&right, panel + j * kPanel + kHalf, sizeof right);
      for (int64_t i = 0; i < rows; ++i) {
        const float x = a[i * depth + j];
        part[i][0] += left * x;
        part[i][1] += right * x;
      }
    }
    for (int64_t i = 0; i < rows; ++i) {
      total[i][0] += part[i][0];
      total[i][1] += part[i][1];
    }
  }
  std::memcpy(to, total, sizeof total);
}

}  // namespace

void Multiply(const float* a, const float* panels, int64_t rows, int64_t columns, int64_t depth,
              float* c, int64_t step) {
  float tile[kRows * kPanel];
  for (int64_t row = 0; row < rows; row += kRows) {
    const int64_t high = std::min(kRows, rows - row);
    for (int64_t column = 0; column < columns; column += kPanel) {
      const int64_t wide = std::min(kPanel, columns - column);
      const float* panel = panels + column * depth;
      if (high == kRows) {
        Tile<kRows>(a + row * depth, panel, depth, tile);
      } else {
        for (int64_t i = 0; i < high; ++i) {
          Tile<1>(a + (row + i) * depth, panel, depth, tile + i * kPanel);
        }
      }
      for (int64_t i = 0; i < high; ++i) {
        std::copy_n(tile + i * kPanel, wide, c + (row + i) * step + column);
      }
    }
  }
}

void FillPanels(const float* b, int64_t depth, int64_t columns, float* panels) {
  for (int64_t column = 0; column < columns; column += kPanel) {
    const int64_t wide = std::min(kPanel, columns - column);
    for (int64_t k = 0; k < depth; ++k) {
      float* to = panels + column * depth + k * kPanel;
      std::copy_n(b + k * columns + column, wide, to);
      std::fill(to + wide, to + kPanel, 0.0f);
    }
  }
}

}  // namespace ge_engines::ascend::sim
