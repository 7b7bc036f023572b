// What the units of each kind are told of their operator. Plain values.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "plugins/cpu/kit/layout.h"
#include "plugins/cpu/kit/simd/kernels.h"

namespace ge_engines::cpu {

// Conv and ConvTranspose; in: x, weights.
struct ConvSpec {
  bool transposed = false;
  Dims src, weights, dst;  // weights: g, o/g, i/g, spatial... when groups > 1
  Dims stride, dilation, pad_l, pad_r;
  int64_t groups = 1;
  bool bias = false;
  // Channels of a block in which images are to lie; 0: as the library likes best.
  int block = 0;
  // Of oneDNN: image and weights are rounded to bfloat16; what is made, too.
  bool rounds = false, rounds_result = false;
  auto operator<=>(const ConvSpec&) const = default;
};
// The gradient of a convolution, its attributes as there; in: dY and weights, or x and dY.
struct ConvGradSpec {
  ConvSpec conv;
  bool of_weights = false;
  auto operator<=>(const ConvGradSpec&) const = default;
};
// ge.MaxPoolGrad; in: dY, x.
struct PoolGradSpec {
  Dims x, dy, kernel, stride, dilation, pad_l;
};
struct MomentsSpec {};  // ge.ChannelMoments; in: x; out: mean, variance
// in: dY, x, scale, mean, variance; out: dX, dscale, dB
struct BatchNormGradSpec {
  float eps = 0;
};
// ge.AdamStep, ge.MomentumStep and so on; in and out as the nodes'. `beta1` is the momentum,
// `beta2` RMSProp's alpha.
enum class StepRule : uint8_t { kMomentum, kAdam, kRmsProp, kAdagrad, kLion, kLars, kLamb };
struct StepSpec {
  StepRule rule = StepRule::kMomentum;
  bool apart = false;  // weights decay beside the gradient
  bool ahead = false;  // Nesterov's
  bool when = false;   // the last input says whether the step is taken
  double beta1 = 0, beta2 = 0, eps = 0, decay = 0, trust = 0;
  bool adam() const { return rule == StepRule::kAdam || rule == StepRule::kLamb; }
  size_t slots() const { return adam() ? 2 : 1; }
  size_t scalars() const { return adam() ? 3 : 1; }
};
// MatMul and Gemm; in: a, b.
struct ProductSpec {
  bool trans_a = false, trans_b = false;
  float alpha = 1, beta = 1;  // factors of the product and of the bias
};
struct PoolSpec {
  bool max = true, count_pad = false;
  Dims src, dst, kernel, stride, pad_l, pad_r;
};
struct PointwiseSpec {};  // in[0], then posts

struct ReduceSpec {
  Reduce reduce = Reduce::kSum;
  Dims axes;
  bool keep_dims = true;
};
struct SoftmaxSpec {
  int axis = 0;
};
struct LayerNormSpec {  // in: x, gamma or 0, beta or 0
  float eps = 0;
  bool centered = true;  // else by the root of the mean square, without a beta
};
struct ConcatSpec {
  int axis = 0;
};
struct ResizeSpec {  // nearest, whole factors
  Dims factors;
};
struct ViewSpec {};  // same elements in the same order
struct TransposeSpec {
  Dims perm;
};
struct Box {
  Dims start, step;
};
struct SliceSpec {  // one box for each output: Slice, Split
  std::vector<Box> boxes;
};
struct ExpandSpec {};

// How element i of an axis of a resized tensor is made: x[at] + w * (x[next] - x[at]), or x[at]
// where next and w are empty.
struct Taps {
  std::vector<int32_t> at, next;
  std::vector<float> w;
};
struct ResampleSpec {      // Resize, nearest by any factor or linear
  std::vector<Taps> taps;  // by axis; empty where the axis stays
};
struct GatherSpec {  // in: data, indices
  int axis = 0;
  bool backwards = true;  // negative indices count from the end
};
struct AppendSpec {  // in: cache, length, new rows
  int axis = 0;
};
struct AddRowsSpec {};  // ge.AddRows; in: data, indices, updates
struct CastSpec {};
enum class Relation {
  kEqual,
  kLess,
  kGreater,
  kLessOrEqual,
  kGreaterOrEqual,
  kAnd,
  kOr,
  kXor,
  kNot
};
struct RelationSpec {  // in: two of one dtype, one of kNot; out: bool, or float32 before a Cast
  Relation op = Relation::kEqual;
};
struct WhereSpec {};  // in: condition, x, z; of 4-byte types
// Places named by integers; in: data and indices, or data, indices and updates.
struct IndexSpec {
  bool scatter = false;
  bool add = false;     // updates of float32 are added, in their order; else the last one stays
  bool tuples = false;  // GatherND and ScatterND; else one index along `axis`
  int axis = 0;         // of tuples: how many axes are batches
};
struct CumSumSpec {  // in: x
  int axis = 0;
  bool exclusive = false, reverse = false;
};
struct ArgSpec {  // in: x; out: places, int64
  int axis = 0;
  bool least = false, last = false;
};
struct TopKSpec {  // in: x, k; out: values or 0, places or 0
  int axis = 0;
  bool largest = true;
};
// in: x, then the filling or nothing; axes from -before on. Axes without pads are one with the axis
// before them.
struct FillPadSpec {
  Dims x, y, before;
};
struct TileSpec {};  // in: x
// Elements in another order: along each axis `size` of them, `times` elements of axis `x` of the
// input apart, `to` elements of the dense result.
struct MoveSpec {
  struct Axis {
    int64_t size, x, times, to;
  };
  std::vector<Axis> axes;
};
struct FillSpec {  // ConstantOfShape; its shape is not read
  std::array<uint8_t, 8> element{};
};
struct TriangleSpec {  // Trilu; in: x
  bool upper = true;
  int64_t diagonal = 0;
};
// Element i of an axis is the sum of w[first[i] ...] * x[from[i] ...] over first[i + 1] - first[i]
// neighbours; all are empty where the axis stays.
struct WeighedAxis {
  std::vector<int32_t> from, first;
  std::vector<float> w;
};
struct WeighSpec {  // Resize, cubic or against aliases; in: x
  std::vector<WeighedAxis> axes;
};
struct GridSpec {  // GridSample of images; in: x, grid
  bool nearest = false, corners = false;
  enum Beyond { kZeros, kBorder, kReflection } beyond = kZeros;
};
struct PReluSpec {};       // in: x, slope
struct InstanceNormSpec {  // in: x, scale, bias
  float eps = 0;
};
struct SpectrumSpec {  // STFT of real samples; in: samples, then the window or nothing
  int64_t step = 1, length = 1;
};
struct CodePoolSpec {  // MaxPool of 8-bit codes
  PoolSpec pool;
};
struct RoiAlignSpec {  // in: x, rois, batch indices; the mean of samples
  int64_t rois = 0, batch = 0, channels = 0, height = 0, width = 0;
  int64_t out_height = 0, out_width = 0;
  int64_t ratio = 0;  // samples along each axis of a bin; 0 = by the region's size
  double scale = 1;
  bool half_pixel = false;
};
// What becomes of the scores of a learned model; by ONNX's numbers.
enum class ScoreTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
struct Forest;       // plugins/cpu/native/forest.h
struct ForestSpec {  // tree ensembles; in: x; out: scores, or labels and scores
  std::shared_ptr<const Forest> forest;
};
struct SupportMachine;  // plugins/cpu/native/vectors.h
struct VectorSpec {     // support vector machines; in and out as of tree ensembles
  std::shared_ptr<const SupportMachine> machine;
};
struct WeightLines;  // plugins/cpu/native/lines.h
struct LineSpec {    // weighted sums of features; in and out as of tree ensembles
  std::shared_ptr<const WeightLines> lines;
};
enum class RowNorm : uint8_t { kMax, kL1, kL2 };
struct RowNormSpec {  // each row of in[0] by its greatest element, sum of magnitudes or length
  RowNorm norm = RowNorm::kMax;
  int64_t rows = 0, n = 0;
};
struct RowSquareSpec {  // of each row of in[0] the sum of its squares, or the root of that
  bool root = false;
  int64_t rows = 0, n = 0;
};
struct IntegerSpec {  // in[0] fn in[1]
  Fn fn = Fn::kAdd;
};

// Positions in Unit::in of integer convolutions and products; 0 where there is none. Weights and
// their zero points are constants; without y_scale the result is the sums, int32.
struct QuantIn {
  enum : size_t { kX, kW, kXZero, kWZero, kXScale, kWScale, kYScale, kYZero, kBias, kCount };
};
// What Relu and Clip leave of a result's codes.
struct CodeRange {
  int32_t least = INT32_MIN, most = INT32_MAX;
};
struct IntegerConvSpec {
  ConvSpec conv;
  CodeRange range;
};
struct IntegerProductSpec {
  bool turned = false;  // weights are [n][k]
  CodeRange range;
};
// Of groups of 8-bit codes (native/code_groups.h): each x and the result with its own scale.
struct CodeScale {
  float scale = 1;
  int32_t zero = 0;
  bool is_signed = false;
  bool operator==(const CodeScale&) const = default;
};
struct CodePairSpec {  // in: a of the result's dims, b; a + b, a - b or a * b
  Fn fn = Fn::kAdd;
  bool channels = false;  // b has one element for each image and channel, else a's dims
  CodeScale a, b, y;
  CodeRange range;
};
// in: x as [outer][middle][inner], one constant float for each of the middle; x fn it.
struct CodeConstantSpec {
  Fn fn = Fn::kAdd;  // or kSub, kRSub, kMul, kDiv
  int64_t outer = 1, middle = 1, inner = 1;
  CodeScale x, y;
  CodeRange range;
};
struct CodeMapSpec {  // in: x; `posts` without operands, to each code by a table
  CodeScale x, y;
  CodeRange range;
};
struct CodeMeanSpec {  // in: x; the mean of all axes behind the second
  CodeScale x, y;
  CodeRange range;
};
struct CodeConcatSpec {
  int axis = 0;
  std::vector<CodeScale> x;
  CodeScale y;
};
// A scale for each of `dim` slices of a tensor [outer, dim, inner]; 1 for a scale for all.
struct QuantGrid {
  int64_t outer = 1, dim = 1, inner = 1;
};
struct QuantizeSpec {  // in: x, scale, zero or 0, or x alone; out: y, then maybe scale and zero
  QuantGrid grid;
};
// What is done to scores before their softmax.
struct ScoreStep {
  enum Kind { kUnary, kBinary, kWhere } kind = kUnary;
  Fn fn = Fn::kLinear;
  float a = 0, b = 0;    // of kUnary; a: what a score becomes by kWhere
  bool keep = true;      // kWhere: scores stay where the condition is true, else where it is not
  size_t operand = 0;    // position in Unit::in
  Dims view, step;       // the axes of scores but keys, and the operand's elements along each
  int64_t key_step = 1;  // along keys: 1 or 0
};
// Elements from one batch, head and row to the next; a row's are neighbours.
struct HeadSteps {
  int64_t batch = 0, head = 0, row = 0;
};
// Attention; in: q, k, v, operands of the steps, then lengths or 0. Batches and heads of `rows`
// queries, of which `share` heads read one of the keys.
struct AttendSpec {
  int64_t batch = 1, heads = 1, share = 1, rows = 0, keys = 0, size = 0, v_size = 0;
  HeadSteps q, k, v, y;
  bool turned = true;       // keys are rows of k, else columns, k.row elements long
  bool of_product = false;  // k is the right operand of a product and lies as that is found
  std::vector<ScoreStep> steps;
  bool sees_none = false;  // rows that see no key become zeros, else NaN
  // Row i sees keys up to past + i; with lengths the last row sees the last key.
  bool causal = false;
  int64_t past = 0;  // keys that came before those of k and v, which are `fresh`
  int64_t fresh = 0;
  bool lengths = false;  // how many keys each batch has, int64
  // Positions in Unit::in of the keys and values of the past, and of the lengths; 0: none.
  size_t past_k = 0, past_v = 0, lengths_in = 0;
};
struct NBitsSpec {  // MatMulNBits; in: a, codes, scales, zero points or 0; all but a constants
  int64_t n = 0, k = 0;
  NBitsForm form;
  bool narrow = false;  // its accuracy_level permits x in steps of 8 bits
};
struct DequantizeSpec {  // in: x, scale, zero or 0
  QuantGrid grid;
};

enum class Cell { kRnn, kGru, kLstm };
// What a recurrent cell does to a sum: ONNX's names, with their parameters.
struct CellFn {
  enum Kind {
    kRelu,
    kTanh,
    kSigmoid,
    kAffine,
    kLeakyRelu,
    kThresholdedRelu,
    kScaledTanh,
    kHardSigmoid,
    kElu,
    kSoftsign,
    kSoftplus
  } kind = kSigmoid;
  float a = 0, b = 0;
  auto operator<=>(const CellFn&) const = default;
};
// RNN, GRU and LSTM; in: x, w, r, then bias, lengths, h, c and peepholes, or 0; out: those of y,
// y_h and y_c that are wanted.
struct RecurrentSpec {
  Cell cell = Cell::kLstm;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0;
  int directions = 1;
  bool reverse = false;      // of the first direction; the second always is
  bool batch_first = false;  // [batch, steps, ...] and not [steps, batch, ...]
  bool input_forget = false;
  bool reset_after = false;  // of GRU: linear_before_reset
  float clip = 0;            // 0: none
  CellFn fn[6];              // those of one direction, then of the other
  bool y = true, y_h = false, y_c = false;

  int64_t gates() const { return hidden * (cell == Cell::kLstm ? 4 : cell == Cell::kGru ? 3 : 1); }
};

// Every output is empty: whatever the operator is, nothing is read or made.
struct NothingSpec {};

using Spec = std::variant<
    NothingSpec, ViewSpec, ConvSpec, ConvGradSpec, PoolGradSpec, MomentsSpec, BatchNormGradSpec,
    StepSpec, ProductSpec, PoolSpec, PointwiseSpec, ReduceSpec, SoftmaxSpec, LayerNormSpec,
    ConcatSpec, ResizeSpec, TransposeSpec, SliceSpec, ExpandSpec, ResampleSpec, GatherSpec,
    AppendSpec, AddRowsSpec, CastSpec, RelationSpec, WhereSpec, IndexSpec, CumSumSpec, ArgSpec,
    TopKSpec, FillPadSpec, TileSpec, MoveSpec, FillSpec, TriangleSpec, WeighSpec, GridSpec,
    CodePoolSpec, PReluSpec, InstanceNormSpec, SpectrumSpec, RoiAlignSpec, ForestSpec, VectorSpec,
    RowSquareSpec, LineSpec, RowNormSpec, IntegerSpec, IntegerConvSpec, IntegerProductSpec,
    NBitsSpec, AttendSpec, QuantizeSpec, DequantizeSpec, CodePairSpec, CodeConstantSpec,
    CodeMapSpec, CodeMeanSpec, CodeConcatSpec, RecurrentSpec>;

}  // namespace ge_engines::cpu
