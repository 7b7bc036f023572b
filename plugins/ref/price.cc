#include "plugins/ref/price.h"

#include <algorithm>
#include <cmath>

#include "plugins/ref/checks.h"

namespace ref {
namespace {

// Classes of loops and their speed, measured on one core of a 2.8 GHz Xeon (SSE2 code), rounded.
struct Class {
  double ns_per_product;  // multiply-adds of matrix kernels
  double ns_per_element;  // of output 0
  double ns_per_input;    // element of input 0
  double ns_per_byte;     // read and written
};
constexpr Class kMatrix = {0.14, 1.0, 0, 0};
constexpr double kNsPerPacked = 1.1;           // element of a matrix kernel's panel
constexpr Class kIntegers = {1.9, 1.0, 0, 0};  // tap by tap, in 64 bits or double
constexpr Class kQuantized = {0, 5, 0, 0.1};
constexpr Class kRecurrent = {2, 30, 0, 0};
constexpr Class kContracted = {20, 10, 0, 0};     // place by place of the index space, in double
constexpr Class kTransformed = {2.3, 5, 0, 0.1};  // term by term, in double
constexpr Class kMoved = {0, 0, 0, 0.15};         // whole rows are copied
constexpr Class kStrided = {0, 1.5, 0, 0.1};      // element by element
constexpr Class kJoined = {0, 0, 0, 0.02};        // whole blocks are copied; measured on an EPYC
constexpr Class kArithmetic = {0, 0.8, 0, 0.1};
constexpr Class kPlain = {0, 0.2, 0, 0.02};   // one instruction an element; measured on an EPYC
constexpr Class kFunction = {0, 20, 0, 0.1};  // exponentials and the like, in double
constexpr Class kReduced = {0, 10, 1.5, 0.1};
constexpr Class kPooled = {0, 30, 2, 0.1};
constexpr Class kRows = {0, 3, 0, 0.1};  // three passes in double over each row
// Measured on an EPYC: places of the greatest 1.2 to 2.5 ns an element; the greatest k 4 ns an
// element and 80 an element that is wanted; a sample of a grid 33 to 70 ns; a tuple 9.
constexpr Class kPlaces = {0, 1, 2, 0};
constexpr Class kSorted = {0, 80, 3.5, 0};
constexpr Class kSampled = {0, 50, 0, 0.1};
constexpr Class kTuples = {0, 5, 0, 0.02};
// Measured on an EPYC: rows of keys and values are made double for each query, 0.8 ns a number and
// its product.
constexpr Class kAttended = {0.8, 1, 0, 0.1};
constexpr Class kParted = {0, 4.5, 0, 0.1};  // a branch an element
// Measured on an EPYC: 1.2 ns a branch of a tree, of a support vector 0.4 a feature and 7 its
// function, 20 a score.
constexpr Class kLearned = {1, 20, 0, 0};
// The same, before what the general prior takes off (0.45): of a weighted sum 0.35 ns a product, 2
// a sum, 1 a feature that is made double, 6 a transform; 3.3 an element of a normalized row; 1.9 an
// element that is picked.
constexpr Class kSummed = {1, 2, 0, 0};
constexpr Class kNormalized = {0, 6.5, 0, 0.1};
constexpr Class kPicked = {0, 4, 0, 0};
// The same; of those without a prior of their own. Inverse functions and the like 5 to 18 ns an
// element, with two of them 30; draws 6, normal ones 20; a score of a loss 3.5 to 6; an exponential
// that is reduced 4 to 6; the greatest of a column 1 to 9; a turned element 1; a mark 1.4.
constexpr Class kSlowFunction = {0, 60, 0, 0.1};
constexpr Class kDrawn = {0, 16, 0, 0};
constexpr Class kNormalDrawn = {0, 45, 0, 0};
constexpr Class kScored = {0, 1, 9, 0};
constexpr Class kSummedUp = {0, 10, 11, 0};
constexpr Class kMarked = {0, 6, 0, 0.1};
constexpr Class kTurned = {0, 2, 0, 0.1};
constexpr Class kMoments = {0, 14, 0, 0.1};
constexpr Class kPadded = {0, 4.5, 0, 0};  // 1.9 to 4.5 an element, by the number of axes
constexpr double kNodeNs = 40;             // resolving tensors, entering the kernel
// Beyond the caches memory is what loops wait for, plain loops too: copies reach 10 bytes a ns
// there (the fixed record of a machine). An Add of 7 MB had asked 0.27 ms for 0.37 and so less than
// native, which counts memory.
constexpr double kBeyondCaches = 6e6, kNsPerByteBeyond = 0.1;

struct Entry {
  std::string_view op;
  const Class* of;
};
constexpr Entry kTable[] = {
    {"Conv", &kMatrix},
    {"ConvTranspose", &kMatrix},
    {"Gemm", &kMatrix},
    {"MatMul", &kMatrix},
    {"ConvInteger", &kIntegers},
    {"QLinearConv", &kIntegers},
    {"MatMulInteger", &kIntegers},
    {"QLinearMatMul", &kIntegers},
    {"QuantizeLinear", &kQuantized},
    {"DequantizeLinear", &kQuantized},
    {"DynamicQuantizeLinear", &kQuantized},
    {"LSTM", &kRecurrent},
    {"GRU", &kRecurrent},
    {"Einsum", &kContracted},
    {"RNN", &kRecurrent},
    {"Add", &kPlain},
    {"Sub", &kPlain},
    {"Mul", &kPlain},
    {"Concat", &kJoined},
    {"Split", &kMoved},
    {"Gather", &kMoved},
    {"Reshape", &kMoved},
    {"Identity", &kMoved},
    {"Flatten", &kMoved},
    {"Squeeze", &kMoved},
    {"Unsqueeze", &kMoved},
    {"Dropout", &kMoved},
    {"Constant", &kMoved},
    {"Transpose", &kStrided},
    {"Slice", &kStrided},
    {"Expand", &kStrided},
    {"Cast", &kStrided},
    {"ConstantOfShape", &kMoved},
    {"Range", &kStrided},
    {"Erf", &kFunction},
    {"Exp", &kFunction},
    {"Log", &kFunction},
    {"Pow", &kFunction},
    {"Sigmoid", &kFunction},
    {"Sin", &kFunction},
    {"Softplus", &kFunction},
    {"Softmax", &kFunction},
    {"Tanh", &kFunction},
    {"Acos", &kFunction},
    {"Acosh", &kFunction},
    {"Asin", &kFunction},
    {"Asinh", &kFunction},
    {"Atan", &kFunction},
    {"Atanh", &kFunction},
    {"Celu", &kFunction},
    {"Cos", &kFunction},
    {"Cosh", &kFunction},
    {"Elu", &kFunction},
    {"Mod", &kFunction},
    {"Selu", &kFunction},
    {"Shrink", &kFunction},
    {"Sinh", &kFunction},
    {"Tan", &kFunction},
    {"Mish", &kSlowFunction},
    {"Bernoulli", &kDrawn},
    {"RandomUniform", &kDrawn},
    {"RandomUniformLike", &kDrawn},
    {"RandomNormal", &kNormalDrawn},
    {"RandomNormalLike", &kNormalDrawn},
    {"SoftmaxCrossEntropyLoss", &kScored},
    {"LogSoftmax", &kScored},
    {"Hardmax", &kMarked},
    {"Sign", &kMarked},
    {"OneHot", &kTurned},
    {"RotaryEmbedding", &kTurned},
    {"IsInf", &kTurned},
    {"MeanVarianceNormalization", &kMoments},
    {"ReduceMin", &kReduced},
    {"ReduceProd", &kReduced},
    {"ReduceL1", &kReduced},
    {"ReduceLogSum", &kReduced},
    {"ReduceLogSumExp", &kSummedUp},
    {"Resize", &kFunction},
    {"ReduceMax", &kReduced},
    {"ReduceMean", &kReduced},
    {"ReduceSum", &kReduced},
    {"ReduceL2", &kReduced},
    {"ReduceSumSquare", &kReduced},
    {"GlobalAveragePool", &kReduced},
    {"GlobalMaxPool", &kReduced},
    {"AveragePool", &kPooled},
    {"MaxPool", &kPooled},
    {"LayerNormalization", &kRows},
    {"Gelu", &kFunction},
    {"ArgMax", &kPlaces},
    {"ArgMin", &kPlaces},
    {"TopK", &kSorted},
    {"GridSample", &kSampled},
    {"GatherND", &kTuples},
    {"PRelu", &kParted},
    {"DFT", &kTransformed},
    {"STFT", &kTransformed},
    {"Attention", &kAttended},
    {"TreeEnsemble", &kLearned},
    {"TreeEnsembleRegressor", &kLearned},
    {"TreeEnsembleClassifier", &kLearned},
    {"SVMClassifier", &kLearned},
    {"SVMRegressor", &kLearned},
    {"LinearClassifier", &kSummed},
    {"LinearRegressor", &kSummed},
    {"Normalizer", &kNormalized},
    {"ArrayFeatureExtractor", &kPicked},
    {"Pad", &kPadded},
};

const Class& ClassOf(std::string_view op) {
  for (const Entry& e : kTable) {
    if (e.op == op) return *e.of;
  }
  return kArithmetic;
}

constexpr double kNsPerRow = 2;  // of a Gather, apart from its bytes

double CountOf(const TensorType& t) { return static_cast<double>(t.count); }

struct Effort {
  double products = 0;  // multiply-adds
  double packed = 0;    // elements that are put into panels first
};

// Copies that a Gather makes: an index for each place of the axes before its own.
double RowsOfGather(const NodeView& n) {
  const TensorType x = n.in(0);
  const int64_t axis = n.Int("axis") < 0 ? n.Int("axis") + x.rank : n.Int("axis");
  double rows = CountOf(n.in(1));
  for (int64_t d = 0; d < axis; ++d) rows *= static_cast<double>(x.dims[d]);
  return rows;
}

double Ratio(double a, int64_t b) { return b == 0 ? 0 : a / static_cast<double>(b); }

// Places of an Einsum's index space: the extents of all letters and of the ellipsis.
double PlacesOf(const NodeView& n) {
  double letters[128] = {}, dots = 1, places = 1;
  std::string_view rest = n.Text("equation");
  rest = rest.substr(0, rest.find("->"));
  for (uint32_t i = 0; i < n.n_in(); ++i) {
    const std::string_view term = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(term.size() + 1, rest.size()));
    const auto is_letter = [](char ch) { return ch != '.' && ch != ' '; };
    const int hidden =
        n.in(i).rank - static_cast<int>(std::count_if(term.begin(), term.end(), is_letter));
    double own = 1;
    int axis = 0;
    for (size_t k = 0; k < term.size() && axis < n.in(i).rank; ++k) {
      const auto size = [&] { return static_cast<double>(n.in(i).dims[axis++]); };
      if (term[k] == '.' && term.substr(k, 3) == "...") {
        for (int d = 0; d < hidden && axis < n.in(i).rank; ++d) own *= size();
        k += 2;
      } else if (is_letter(term[k])) {
        double& extent = letters[term[k] & 127];
        extent = std::max(extent, size());
      }
    }
    dots = std::max(dots, own);
  }
  for (double extent : letters) places *= extent > 0 ? extent : 1;
  return places * dots;
}

// Of one row of a tree ensemble: branches until a leaf as of even trees, and the leaf's votes.
double TreesEffort(const NodeView& n, bool listed) {
  const Ints tree = n.List("nodes_treeids");
  size_t trees = listed && tree.size() > 0 ? 1 : n.List("tree_roots").size();
  for (size_t i = 1; listed && i < tree.size(); ++i) trees += tree[i] != tree[i - 1] ? 1 : 0;
  if (trees == 0) return 0;
  const auto nodes = static_cast<double>(n.List("nodes_featureids").size());
  const auto votes =
      static_cast<double>(std::max(n.List("class_ids").size(), n.List("target_ids").size()));
  const double of_leaf = votes / std::max(1.0, nodes / 2);
  return static_cast<double>(trees) *
         (3 + of_leaf + 1.2 * std::log2(1 + nodes / static_cast<double>(trees)));
}

// Products that one row of a learned model takes as long as.
// Weighted sums of a row.
double SummedEffort(const NodeView& n) {
  const auto features = static_cast<double>(n.in(0).dims[n.in(0).rank - 1]);
  const auto weights = static_cast<double>(ge::plugin::AttrFloats(n.node(), "coefficients").size());
  const double transform = n.Text("post_transform") == "NONE" ? 0 : 13;
  return 2.2 * features + 0.8 * weights + weights / std::max(1.0, features) * (4 + transform);
}

double LearnedEffort(const NodeView& n, std::string_view op) {
  if (op.substr(0, 4) == "Tree") return TreesEffort(n, op != "TreeEnsemble");
  double vectors = static_cast<double>(n.Int("n_supports"));
  for (const int64_t count : n.List("vectors_per_class")) vectors += static_cast<double>(count);
  const auto features = static_cast<double>(n.in(0).dims[n.in(0).rank - 1]);
  return vectors * (0.4 * features + 7);
}

// Terms of all sums of DFT and STFT.
double TransformEffort(const NodeView& n, std::string_view op) {
  const TensorType x = n.in(0), y = n.out(0);
  if (op == "DFT") {  // a sum over the transformed axis for every bin
    const void* known = n.constant(2);
    const int64_t axis = known == nullptr ? -2 : IntAt({n.in(2), const_cast<void*>(known)}, 0);
    const int64_t at = std::clamp<int64_t>(axis < 0 ? axis + x.rank : axis, 0, x.rank - 1);
    return Ratio(CountOf(y), y.dims[y.rank - 1]) * static_cast<double>(x.dims[at]);
  }
  // A sum over a frame, at most the samples, for every bin.
  const double bins = y.rank == 4 ? static_cast<double>(y.dims[2]) : 1;
  const bool half = n.Int("onesided") != 0;
  return CountOf(y) / 2 * bins * (half ? 2 : 1);
}

// Of the matrix kernels and learned models; zero for the rest.
Effort EffortOf(const NodeView& n, std::string_view op) {
  if (op == "Conv" || op == "ConvTranspose") {
    // Every element of Y (of X for the transposed one) meets the weights of one of its channel.
    const TensorType w = n.in(1), at = op == "Conv" ? n.out(0) : n.in(0);
    if (op == "ConvTranspose") {  // X is packed once for each output channel of its group
      // A panel of few positions is as much work as a full one: 2.4 ns a product of one pixel.
      const double full = 1 + 11 / std::max(1.0, Ratio(CountOf(at), at.dims[1]));
      return {CountOf(at) * Ratio(CountOf(w), w.dims[0]) * full, CountOf(at) * w.dims[1]};
    }
    const double positions = Ratio(CountOf(at), at.dims[1]);
    const double taps = Ratio(CountOf(w), w.dims[0]) * static_cast<double>(n.Int("group"));
    // A panel of few positions is as much work as a full one: 0.85 ns a product of one pixel.
    const double full = 1 + 5 / std::max(1.0, positions);
    return {CountOf(at) * Ratio(CountOf(w), w.dims[0]) * full, positions * taps};
  }
  if (op == "ConvInteger" || op == "QLinearConv") {
    const TensorType w = n.in(op == "QLinearConv" ? 3 : 1);
    return {CountOf(n.out(0)) * Ratio(CountOf(w), w.dims[0]), 0};
  }
  if (op == "MatMul" || op == "Gemm" || op == "MatMulInteger" || op == "QLinearMatMul") {
    const TensorType a = n.in(0);
    const bool turned = op == "Gemm" && n.Int("transA") != 0;
    const int64_t depth = a.dims[turned ? 0 : a.rank - 1];
    const double products = CountOf(n.out(0)) * static_cast<double>(depth);
    const int64_t rows = turned ? a.dims[1] : a.rank == 1 ? 1 : a.dims[a.rank - 2];
    return {products, Ratio(products, rows)};
  }
  if (op == "Attention") {  // every query meets all keys and values of its head, and an exponential
    constexpr double kExponential = 10;  // products that it takes as long as
    const TensorType q = n.in(0), k = n.in(1), y = n.out(0);
    const bool four = q.rank == 4;
    double keys = static_cast<double>(k.dims[four ? 2 : 1]);
    if (n.has_in(4)) keys += static_cast<double>(n.in(4).dims[2]);
    const double heads =
        static_cast<double>(four ? q.dims[1] : std::max<int64_t>(1, n.Int("q_num_heads")));
    const double rows = static_cast<double>(q.dims[0]) * static_cast<double>(q.dims[four ? 2 : 1]);
    return {keys * (CountOf(q) + CountOf(y) + rows * heads * kExponential), 0};
  }
  if (op == "DFT" || op == "STFT") return {TransformEffort(n, op), 0};
  if (op == "Einsum") return {PlacesOf(n) * static_cast<double>(n.n_in()) / 2, 0};
  if (op == "LSTM" || op == "GRU" || op == "RNN") {
    const TensorType x = n.in(0);
    const double rows = static_cast<double>(x.dims[0]) * static_cast<double>(x.dims[1]);
    return {rows * (CountOf(n.in(1)) + CountOf(n.in(2))), 0};
  }
  const bool summed = &ClassOf(op) == &kSummed;
  if (summed || &ClassOf(op) == &kLearned) {
    const double rows = n.in(0).rank == 2 ? static_cast<double>(n.in(0).dims[0]) : 1;
    return {rows * (summed ? SummedEffort(n) : LearnedEffort(n, op)), 0};
  }
  return {};
}

// Of square matrices, by elimination.
double EliminationNs(const NodeView& n, bool inverse) {
  const TensorType x = n.in(0);
  const auto size = static_cast<double>(x.dims[x.rank - 1]);
  const double count = CountOf(x) / std::max(1.0, size * size);
  return count * size * (inverse ? 20 + size * size : 15 + 0.14 * size * size);
}

// What no class counts; measured on an EPYC: updates that meet the data 4.5 ns, taps that are added
// to an image 4.5, what is put back where it was pooled 6.5; of moved taps four neighbours a
// channel and products in double one after another.
double OwnNs(const NodeView& n, std::string_view op) {
  if (op == "ScatterND" || op == "ScatterElements") {
    return n.Text("reduction") == "none" ? 0 : 4.5 * CountOf(n.in(2));
  }
  if (op == "Col2Im") return 4.5 * CountOf(n.in(0));
  if (op == "MaxUnpool") return 6.5 * CountOf(n.in(0));
  if (op == "Det" || op == "Inverse") return EliminationNs(n, op == "Inverse");
  if (op != "DeformConv") return 0;
  const TensorType w = n.in(1), y = n.out(0);
  const double depth = Ratio(CountOf(w), w.dims[0]);
  const double taps = Ratio(depth, w.dims[1]) * static_cast<double>(n.in(0).dims[1]);
  return CountOf(y) * depth * 0.45 + Ratio(CountOf(y), y.dims[1]) * taps * 4;
}

}  // namespace

// The node has been prepared, so ranks are those that its operator needs.
uint64_t MarginalNs(const NodeView& n) {
  const std::string_view op = ge::plugin::View(n.node().op);
  const Class& c = ClassOf(op);
  const Effort effort = EffortOf(n, op);
  double bytes = 0, elements = 0;
  for (uint32_t i = 0; i < n.n_out(); ++i) {
    if (!n.has_out(i)) continue;
    bytes += static_cast<double>(n.out(i).bytes);
    elements = std::max(elements, CountOf(n.out(i)));
  }
  // Look-ups read as much as they write, whatever the table's size.
  if (op == "Gather" || op == "Slice" || op == "Expand" || op == "Shape") {
    bytes *= 2;
  } else if (op == "KvAppend") {  // as where the cache is overwritten where it lies
    bytes = 2 * static_cast<double>(n.in(2).bytes);
    elements = 0;
  } else {
    for (uint32_t i = 0; i < n.n_in(); ++i) {
      if (n.has_in(i)) bytes += static_cast<double>(n.in(i).bytes);
    }
  }
  // Row by row: what is copied for each is a matter of bytes.
  const double row = op == "Gather" ? RowsOfGather(n) * kNsPerRow : 0;
  const double inputs = n.n_in() > 0 && n.has_in(0) ? CountOf(n.in(0)) : 0;
  double ns = kNodeNs + row + OwnNs(n, op) + c.ns_per_product * effort.products +
              kNsPerPacked * effort.packed + c.ns_per_element * elements + c.ns_per_input * inputs +
              c.ns_per_byte * bytes;
  if (bytes > kBeyondCaches) ns = std::max(ns, bytes * kNsPerByteBeyond);
  return static_cast<uint64_t>(std::min(ns, 1e18));
}

}  // namespace ref
