#include "ge/tune/work_sample.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/text.h"
#include "ge/infer/infer.h"
#include "ge/ops/defaults.h"
#include "ge/verify/verify.h"

namespace ge {
namespace {

// Numbers are beside the point: kernels take as long for any that are normal.
constexpr std::string_view kShared = R"(ge 1
opset "" 28
opset "ge" 1
const zero : f32[] = 0
const six : f32[] = 6
const half : f32[] = 0.5
const two : f32[] = 2
const channel : f32[64,1,1] = splat 0.5
const c32 : f32[32] = splat 0.1
const c64 : f32[64] = splat 0.1
const c128 : f32[128] = splat 0.1
const c256 : f32[256] = splat 0.1
const w1_64 : f32[64,64,1,1] = splat 0.02
const w1_128 : f32[128,128,1,1] = splat 0.02
const w1_32_256 : f32[256,32,1,1] = splat 0.02
const w3_64 : f32[64,64,3,3] = splat 0.02
const w3_16 : f32[32,16,3,3] = splat 0.02
const c256b : f32[256] = splat 0.1
const w1_256 : f32[256,256,1,1] = splat 0.01
const w1_128b : f32[128,128,1,1] = splat 0.02
const w3_96 : f32[96,96,3,3] = splat 0.01
const c96 : f32[96] = splat 0.1
const d3_128 : f32[128,1,3,3] = splat 0.1
const w3_3 : f32[32,3,3,3] = splat 0.05
const w7_3 : f32[32,3,7,7] = splat 0.02
const w5_8 : f32[16,8,5,5] = splat 0.02
const d3_64 : f32[64,1,3,3] = splat 0.1
const d5_128 : f32[128,1,5,5] = splat 0.1
const t2_32 : f32[32,32,2,2] = splat 0.02
const m256 : f32[256,256] = splat 0.01
const m256_512 : f32[256,512] = splat 0.01
const m100_40 : f32[100,40] = splat 0.01
const m512 : f32[512,512] = splat 0.01
const c512 : f32[512] = splat 0.1
const table : f32[1000,64] = splat 0.3
const ids : i64[1,48] = splat 17
const last : i64[1] = [-1]
const first : i64[1] = [0]
const second : i64[1] = [1]
const places : i64[2] = [2, 3]
const begin : i64[1] = [8]
const end : i64[1] = [40]
const flat : i64[2] = [64, -1]
const heads : i64[4] = [0, 0, 4, 64]
const scales : f32[4] = [1, 1, 2, 2]
const wide : i64[4] = [4, 64, 28, 28]
const k1_128 : i64[4] = [128, 64, 1, 1]
const k1_64 : i64[4] = [64, 64, 1, 1]
const k1_512 : i64[4] = [128, 512, 1, 1]
const k3_64 : i64[4] = [64, 64, 3, 3]
const shape28 : i64[4] = [8, 64, 28, 28]
const shape14 : i64[4] = [64, 6, 14, 14]
const k5_few : i64[4] = [8, 1, 5, 5]
const k7_few : i64[4] = [32, 3, 7, 7]
const k5_16 : i64[4] = [16, 6, 5, 5]
)";

constexpr std::string_view kNodes = R"(
  conv1_64 = Conv(maps28, w1_64, c64)
  conv1_128 = Conv(maps7, w1_128, c128)
  conv3_64 = Conv(maps14, w3_64, c64) {pads=[1, 1, 1, 1]}
  conv3_16 = Conv(maps40, w3_16, c32) {pads=[1, 1, 1, 1], strides=[2, 2]}
  first3 = Conv(picture, w3_3, c32) {pads=[1, 1, 1, 1], strides=[2, 2]}
  first7_of = Conv(picture, w7_3, c32) {pads=[3, 3, 3, 3], strides=[2, 2]}
  first7 = Relu(first7_of)
  conv5_8 = Conv(maps12, w5_8) {pads=[2, 2, 2, 2]}
  depth3 = Conv(maps28, d3_64, c64) {group=64, pads=[1, 1, 1, 1]}
  depth5 = Conv(maps7, d5_128, c128) {group=128, pads=[2, 2, 2, 2], strides=[2, 2]}
  relu_of = Conv(maps28b, w1_32_256, c256)
  conv_relu = Relu(relu_of)
  relu_of3 = Conv(maps14, w3_64, c64) {pads=[1, 1, 1, 1]}
  conv_relu3 = Relu(relu_of3)
  clip_of = Conv(maps28, d3_64, c64) {group=64, pads=[1, 1, 1, 1]}
  conv_clip = Clip(clip_of, zero, six)
  bias_of = Conv(maps14, w1_64)
  large1 = Conv(maps56, w1_128b, c128)
  large_clip_of = Conv(maps56, w1_128b, c128)
  large_clip = Clip(large_clip_of, zero, six)
  large_relu_of = Conv(maps56, w1_128b, c128)
  large_relu = Relu(large_relu_of)
  deep1 = Conv(maps14w, w1_256, c256b)
  deep_relu_of = Conv(maps14w, w1_256, c256b)
  deep_relu = Relu(deep_relu_of)
  deep_clip_of = Conv(maps14w, w1_256, c256b)
  deep_clip = Clip(deep_clip_of, zero, six)
  deep_sum_of = Conv(maps14w, w1_256, c256b)
  deep_sum = Add(deep_sum_of, maps14w)
  large3 = Conv(maps28w, w3_96, c96) {pads=[1, 1, 1, 1]}
  large_relu3_of = Conv(maps28w, w3_96, c96) {pads=[1, 1, 1, 1]}
  large_relu3 = Relu(large_relu3_of)
  large_depth = Conv(maps56, d3_128, c128) {group=128, pads=[1, 1, 1, 1]}
  large_depth_clip_of = Conv(maps56, d3_128, c128) {group=128, pads=[1, 1, 1, 1]}
  large_depth_clip = Clip(large_depth_clip_of, zero, six)
  large_depth_half_of = Conv(maps56, d3_128, c128) {group=128, pads=[1, 1, 1, 1], strides=[2, 2]}
  large_depth_half = Clip(large_depth_half_of, zero, six)
  conv_bias = Add(bias_of, channel)
  sum_of = Conv(maps14, w3_64, c64) {pads=[1, 1, 1, 1]}
  sum = Add(sum_of, maps14)
  conv_sum_relu = Relu(sum)
  swish_of = Conv(maps14, w1_64, c64)
  gate = Sigmoid(swish_of)
  conv_swish = Mul(swish_of, gate)
  up = ConvTranspose(maps12b, t2_32, c32) {strides=[2, 2]}
  product = MatMul(tokens, m256)
  thin = MatMul(row, m256_512)
  small_product = MatMul(ten, m100_40)
  hall_product = MatMul(hall, m512)
  hall_biased_of = MatMul(hall, m512)
  hall_biased = Add(hall_biased_of, c512)
  hall_gemm = Gemm(hall_rows, m512, c512)
  scores = MatMul(query, key)
  biased_of = MatMul(tokens, m256)
  biased = Add(biased_of, c256)
  wide_of = MatMul(tokens, m256_512)
  gelu_of = Add(wide_of, half)
  widened = Gelu(gelu_of)
  gemm = Gemm(rows, m256, c256)
  gemm_relu_of = Gemm(row, m256, c256)
  gemm_relu = Relu(gemm_relu_of)
  softmax = Softmax(weights)
  normal = LayerNormalization(tokens, c256, c256)
  mean = ReduceMean(tokens, last)
  total = ReduceSum(tokens, last)
  most = ReduceMax(tokens, last)
  mean_maps = ReduceMean(maps14, places)
  average = GlobalAveragePool(maps28)
  average7 = GlobalAveragePool(maps7)
  max3 = MaxPool(maps28) {kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]}
  max2 = MaxPool(maps14) {kernel_shape=[2, 2], strides=[2, 2]}
  average2 = AveragePool(maps14) {kernel_shape=[2, 2], strides=[2, 2]}
  turned = Transpose(query) {perm=[0, 2, 1, 3]}
  turned_last = Transpose(query) {perm=[0, 1, 3, 2]}
  turned_rows = Transpose(ten) {perm=[1, 0]}
  turned_large = Transpose(matrix) {perm=[1, 0]}
  turned_heads = Transpose(heads_of) {perm=[0, 2, 1, 3]}
  turned_keys = Transpose(heads_of) {perm=[0, 2, 3, 1]}
  turned_maps = Transpose(maps14) {perm=[0, 2, 3, 1]}
  joined = Concat(maps14, maps14) {axis=1}
  joined_rows = Concat(row, row) {axis=1}
  left, right = Split(tokens) {axis=2, num_outputs=2}
  cut = Slice(tokens, begin, end, second)
  cut_row = Slice(row, begin, end, second)
  reshaped = Reshape(maps28, flat)
  split_heads = Reshape(tokens, heads)
  flattened = Flatten(maps7)
  squeezed = Squeeze(row, first)
  more = Unsqueeze(row, first)
  expanded = Expand(maps28, wide)
  embedded = Gather(table, ids)
  picked = Gather(row, first) {axis=1}
  enlarged = Resize(maps12, _, scales) {mode="nearest"}
  smooth = Resize(maps12, _, scales) {mode="linear"}
  number = Cast(counts) {to=1}
  same = Equal(counts, counts)
  chosen = Where(same, number, half)
)";

// A batch that is trained on: kernels that come out of the run, and gradients, whose parts are
// convolutions by kernels as large as the image.
constexpr std::string_view kTraining = R"(
  way1_64 = Conv(batch28, kernel1)
  way3_64 = Conv(batch28, kernel3) {pads=[1, 1, 1, 1]}
  way5_6 = Conv(batch14, kernel5)
  way5_few = Conv(gray, kernel5_few) {pads=[2, 2, 2, 2]}
  to1_7 = ge.ConvGradWeight(batch7, change7, k1_512)
  to1_28 = ge.ConvGradWeight(batch28, change28, k1_128)
  to1_28s = ge.ConvGradWeight(batch28, change14, k1_128) {strides=[2, 2]}
  to1_56 = ge.ConvGradWeight(batch56, change56, k1_64)
  to3_14 = ge.ConvGradWeight(batch14b, change14b, k3_64) {pads=[1, 1, 1, 1]}
  to3_28 = ge.ConvGradWeight(batch28, change28b, k3_64) {pads=[1, 1, 1, 1]}
  to3_28s = ge.ConvGradWeight(batch28, change14b, k3_64) {pads=[1, 1, 1, 1], strides=[2, 2]}
  to3_56 = ge.ConvGradWeight(batch56, change56, k3_64) {pads=[1, 1, 1, 1]}
  to5_14 = ge.ConvGradWeight(batch14, change10, k5_16)
  to5_few = ge.ConvGradWeight(gray, change_gray, k5_few) {pads=[2, 2, 2, 2]}
  to7_few = ge.ConvGradWeight(colour, change_colour, k7_few) {pads=[3, 3, 3, 3], strides=[2, 2]}
  from1_28 = ge.ConvGradInput(change28, kernel1, shape28)
  from1_28s = ge.ConvGradInput(change14, kernel1, shape28) {strides=[2, 2]}
  from3_28 = ge.ConvGradInput(change28b, kernel3, shape28) {pads=[1, 1, 1, 1]}
  from3_28s = ge.ConvGradInput(change14b, kernel3, shape28) {pads=[1, 1, 1, 1], strides=[2, 2]}
  from5_14 = ge.ConvGradInput(change10, kernel5, shape14)
  t_batch7 = Transpose(batch7) {perm=[1, 0, 2, 3]}
  t_change7 = Transpose(change7) {perm=[1, 0, 2, 3]}
  t_batch14b = Transpose(batch14b) {perm=[1, 0, 2, 3]}
  t_change14b = Transpose(change14b) {perm=[1, 0, 2, 3]}
  t_batch28 = Transpose(batch28) {perm=[1, 0, 2, 3]}
  t_change28 = Transpose(change28) {perm=[1, 0, 2, 3]}
  t_change28b = Transpose(change28b) {perm=[1, 0, 2, 3]}
  t_change14 = Transpose(change14) {perm=[1, 0, 2, 3]}
  t_batch56 = Transpose(batch56) {perm=[1, 0, 2, 3]}
  t_change56 = Transpose(change56) {perm=[1, 0, 2, 3]}
  t_gray = Transpose(gray) {perm=[1, 0, 2, 3]}
  t_change_gray = Transpose(change_gray) {perm=[1, 0, 2, 3]}
  t_colour = Transpose(colour) {perm=[1, 0, 2, 3]}
  t_change_colour = Transpose(change_colour) {perm=[1, 0, 2, 3]}
  part1_7 = Conv(t_batch7, t_change7)
  part1_28 = Conv(t_batch28, t_change28)
  part1_28s = Conv(t_batch28, t_change14) {dilations=[2, 2]}
  part1_56 = Conv(t_batch56, t_change56)
  part5_few = Conv(t_gray, t_change_gray) {pads=[2, 2, 2, 2]}
  part7_few = Conv(t_colour, t_change_colour) {dilations=[2, 2], pads=[3, 3, 2, 2]}
  part3_14 = Conv(t_batch14b, t_change14b) {pads=[1, 1, 1, 1]}
  part3_28 = Conv(t_batch28, t_change28b) {pads=[1, 1, 1, 1]}
  part3_28s = Conv(t_batch28, t_change14b) {dilations=[2, 2], pads=[1, 1, 0, 0]}
  part3_56 = Conv(t_batch56, t_change56) {pads=[1, 1, 1, 1]}
)";

constexpr std::string_view kTrainingInputs =
    ", kernel1: f32[128,64,1,1], kernel3: f32[64,64,3,3], kernel5: f32[16,6,5,5], kernel5_few: "
    "f32[8,1,5,5], "
    "batch7: f32[8,512,7,7], change7: f32[8,128,7,7], batch14: f32[64,6,14,14], "
    "change10: f32[64,16,10,10], batch14b: f32[8,64,14,14], change14b: f32[8,64,14,14], "
    "batch28: f32[8,64,28,28], change28: f32[8,128,28,28], change28b: f32[8,64,28,28], "
    "gray: f32[64,1,28,28], change_gray: f32[64,8,28,28], "
    "colour: f32[8,3,64,64], change_colour: f32[8,32,32,32], "
    "change14: f32[8,128,14,14], batch56: f32[8,64,56,56], change56: f32[8,64,56,56]";

constexpr std::string_view kInputs =
    "matrix: f32[768,768], heads_of: f32[4,128,12,64], picture: f32[1,3,96,96], maps14w: "
    "f32[1,256,14,14], maps28w: f32[1,96,28,28], "
    "maps56: f32[1,128,56,56], maps7: f32[1,128,7,7], maps12: f32[1,8,12,12], maps12b: "
    "f32[1,32,12,12], "
    "maps14: f32[1,64,14,14], maps28: f32[1,64,28,28], maps28b: f32[1,32,28,28], "
    "maps40: f32[1,16,40,40], tokens: f32[1,48,256], rows: f32[16,256], row: f32[1,256], "
    "hall: f32[1,128,512], hall_rows: f32[128,512], ten: f32[10,100], query: f32[1,48,4,64], key: "
    "f32[1,48,64,12], weights: f32[1,4,48,48], "
    "counts: i64[10,40]";

// Loops over elements, at sizes that are all overhead, in the first cache and in the second.
constexpr std::string_view kSizes[] = {"8", "1,64,6,6", "1,64,20,20"};
constexpr std::string_view kUnary[] = {"Relu", "Sigmoid", "Tanh",       "HardSigmoid", "Erf",
                                       "Exp",  "Log",     "Sqrt",       "Neg",         "Abs",
                                       "Gelu", "Sin",     "Reciprocal", "Softplus"};
constexpr std::string_view kBinary[] = {"Add", "Sub", "Mul", "Div", "Max", "Pow"};

struct Body {
  std::string inputs = std::string(kInputs).append(kTrainingInputs);
  std::string nodes = std::string(kNodes).append(kTraining);
  int count = 0;

  void Add(std::string_view call) { nodes += fmt::format("  e{} = {}\n", count++, call); }
};

void AddLoops(Body* body) {
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    const std::string x = fmt::format("x{}", i), z = fmt::format("z{}", i);
    body->inputs += fmt::format(", {}: f32[{}], {}: f32[{}]", x, kSizes[i], z, kSizes[i]);
    for (std::string_view op : kUnary) body->Add(fmt::format("{}({})", op, x));
    for (std::string_view op : kBinary) body->Add(fmt::format("{}({}, {})", op, x, z));
    body->Add(fmt::format("Mul({}, half)", x));
    body->Add(fmt::format("Pow({}, two)", x));
    body->Add(fmt::format("Clip({}, zero, six)", x));
    if (i > 0) body->Add(fmt::format("Add({}, channel)", x));
  }
}

// Every value that nothing reads.
void AddResults(Function* f) {
  std::vector<bool> read(f->values.size());
  for (const Node& node : f->nodes) {
    for (ValueId v : node.inputs) read[v] = true;
  }
  for (const Node& node : f->nodes) {
    for (ValueId v : node.outputs) {
      if (v && !read[v]) f->results.push_back(v);
    }
  }
}

}  // namespace

Result<Graph> MakeWorkSample() {
  Body body;
  AddLoops(&body);
  const std::string text = fmt::format("{}fn main({}) -> () {{{}}}\nentry infer \"main\" = main\n",
                                       kShared, body.inputs, body.nodes);
  GE_ASSIGN_OR_RETURN(Graph graph, ParseText(text, "work sample"));
  AddResults(&graph.fn(graph.entries[0].fn));
  FillDefaults(&graph);
  GE_RETURN_IF_ERROR(Verify(graph));
  GE_RETURN_IF_ERROR(Infer(&graph));
  return graph;
}

}  // namespace ge
