#include "ge/ops/scalar_inputs.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

Status InferMelWeightMatrix(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const DType dtype, DTypeAttr(c.node(), "output_datatype", kNumeric));
  GE_ASSIGN_OR_RETURN(const Dim bands, ScalarSize(c, 0, "num_mel_bins", 0));
  GE_ASSIGN_OR_RETURN(const Dim length, ScalarSize(c, 1, "dft_length", 1));
  const char* names[] = {"sample_rate", "lower_edge_hertz", "upper_edge_hertz"};
  for (size_t i = 2; i < 5; ++i) GE_RETURN_IF_ERROR(WantScalar(c, i, names[i - 2]));
  auto bins = c.dims().FloorDiv(length, KnownDim(2));
  if (bins) bins = c.dims().Add(*bins, KnownDim(1));
  GE_ASSIGN_OR_RETURN(const Dim rows, Checked(c.node(), bins, "the number of frequencies"));
  return SetTensor(c, 0, dtype, {rows, bands});
}

OpDef MelWeightMatrixRecord() {
  OpDef op{"", "MelWeightMatrix", 17, {}, {}, {}, InferMelWeightMatrix, PerOutput<4>};
  op.inputs = {{"num_mel_bins", kIndex, "T1"},
               {"dft_length", kIndex, "T1"},
               {"sample_rate", kIndex, "T1"},
               {"lower_edge_hertz", kFloats, "T2"},
               {"upper_edge_hertz", kFloats, "T2"}};
  op.outputs = {{"output", kNumeric, "T3"}};
  op.attrs = {{"output_datatype", AttrKind::kInt, 1}};
  return op;
}

}  // namespace

// Triangles of height 1, evenly spaced on the mel scale, over the frequencies of a spectrum:
// [dft_length / 2 + 1, num_mel_bins].
GE_OP(mel_weight_matrix) = MelWeightMatrixRecord();

}  // namespace ge
