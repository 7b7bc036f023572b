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
opset "" 27
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
)";

constexpr std::string_view kNodes = R"(
  conv1_64 = Conv(maps28, w1_64, c64)
  conv1_128 = Conv(maps7, w1_128, c128)
  conv3_64 = Conv(maps14, w3_64, c64) {pads=[1, 1, 1, 1]}
  conv3_16 = Conv(maps40, w3_16, c32) {pads=[1, 1, 1, 1], strides=[2, 2]}
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

constexpr std::string_view kInputs =
    "maps7: f32[1,128,7,7], maps12: f32[1,8,12,12], maps12b: f32[1,32,12,12], "
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
  std::string inputs{kInputs}, nodes{kNodes};
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
