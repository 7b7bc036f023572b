// The functions of one instruction set.
#include "plugins/cpu/kit/simd/vector.h"

namespace ge_cpu {

#define GE_SIMD_NAME2(isa) kSimd_##isa
#define GE_SIMD_NAME(isa) GE_SIMD_NAME2(isa)
const Simd GE_SIMD_NAME(GE_SIMD_ISA) = {
    .unary = GE_SIMD_ISA::Unary,
    .binary = GE_SIMD_ISA::Binary,
    .binary_scalar = GE_SIMD_ISA::BinaryScalar,
    .reduce = GE_SIMD_ISA::ReduceRow,
    .reduce_rows = GE_SIMD_ISA::ReduceRows,
    .softmax = GE_SIMD_ISA::Softmax,
    .layer_norm = GE_SIMD_ISA::LayerNorm,
    .lstm_cell = GE_SIMD_ISA::LstmCell,
    .gru_cell = GE_SIMD_ISA::GruCell,
    .thin_product = GE_SIMD_ISA::ThinProduct,
    .panel_product = GE_SIMD_ISA::PanelProduct,
    .panel_columns = GE_SIMD_ISA::PanelColumns,
    .shifted_product = GE_SIMD_ISA::ShiftedProduct,
    .channel_sums = GE_SIMD_ISA::ChannelSums,
    .channel_pool = GE_SIMD_ISA::ChannelPool,
    .dot_rows = GE_SIMD_ISA::DotRows,
    .transpose = GE_SIMD_ISA::Transpose,
    .lerp_rows = GE_SIMD_ISA::LerpRows,
    .gather_lerp = GE_SIMD_ISA::GatherLerp,
    .pool_plane = GE_SIMD_ISA::PoolPlane,
    .pool_grad_pairs = GE_SIMD_ISA::PoolGradPairs,
    .moment_sums = GE_SIMD_ISA::MomentSums,
    .moment_rows = GE_SIMD_ISA::MomentRows,
    .slope_sums = GE_SIMD_ISA::SlopeSums,
    .slope_rows = GE_SIMD_ISA::SlopeRows,
    .blend_row = GE_SIMD_ISA::BlendRow,
    .blend_rows = GE_SIMD_ISA::BlendRows,
    .compare = GE_SIMD_ISA::CompareRow,
    .select = GE_SIMD_ISA::Select,
    .copy_rows = GE_SIMD_ISA::CopyRows,
    .integer_product = GE_SIMD_ISA::IntegerProduct,
    .code_product = GE_SIMD_ISA::CodeProduct,
    .pair_rows = GE_SIMD_ISA::PairRows,
    .widen_row = GE_SIMD_ISA::WidenRow,
    .widen_half = GE_SIMD_ISA::WidenHalfRow,
    .narrow_half = GE_SIMD_ISA::NarrowHalfRow,
    .widen_brain = GE_SIMD_ISA::WidenBrainRow,
    .narrow_brain = GE_SIMD_ISA::NarrowBrainRow,
    .extremes = GE_SIMD_ISA::Extremes,
    .quantize_row = GE_SIMD_ISA::QuantizeRow,
    .dequantize_row = GE_SIMD_ISA::DequantizeRow,
    .requantize_row = GE_SIMD_ISA::RequantizeRow,
    .lanes = GE_SIMD_ISA::kMaxLanes,
    .winograd_input = GE_SIMD_ISA::WinogradInput,
    .winograd_product = GE_SIMD_ISA::WinogradProduct,
    .winograd_output = GE_SIMD_ISA::WinogradOutput,
};

}  // namespace ge_cpu
