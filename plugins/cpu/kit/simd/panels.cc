// Products with a constant matrix in panels, the rows of a panel one behind the other: one form of
// the weights for any number of rows.
#include "plugins/cpu/kit/simd/panel_sums.h"

HWY_BEFORE_NAMESPACE();
namespace ge_engines::cpu {
namespace GE_SIMD_ISA {
int64_t PanelColumns() { return kColumns; }

void PanelProduct(const float* left, int64_t lda, const float* right, int64_t panel,
                  const float* bias, float* y, int64_t ldy, int64_t m, int64_t n, int64_t k) {
  SumPanels<Floats>({left, lda, right, panel, bias, y, ldy, n, k, false}, m);
}

void PanelProductAdd(const float* left, int64_t lda, const float* right, int64_t panel, float* y,
                     int64_t ldy, int64_t m, int64_t n, int64_t k) {
  SumPanels<Floats>({left, lda, right, panel, nullptr, y, ldy, n, k, false, true}, m);
}

}  // namespace GE_SIMD_ISA
}  // namespace ge_engines::cpu
HWY_AFTER_NAMESPACE();
