#include "plugins/ref/price.h"

#include <algorithm>

namespace ref {
namespace {

// Classes of loops and their speed on one core of a 2.x GHz x86-64 server (SSE2 code).
struct Class {
  double ns_per_product;  // multiply-adds of matrix kernels
  double ns_per_element;  // of output 0
  double ns_per_input;    // element of input 0
  double ns_per_byte;     // read and written
};
constexpr Class kMatrix = {0.3, 1.0, 0.5, 0};
constexpr Class kRecurrent = {1.2, 30, 0, 0};
constexpr Class kMoved = {0, 0, 0, 0.15};     // whole rows are copied
constexpr Class kStrided = {0, 1.5, 0, 0.1};  // element by element
constexpr Class kArithmetic = {0, 0.6, 0, 0.1};
constexpr Class kFunction = {0, 12, 0, 0.1};  // exponentials and the like, in double
constexpr Class kReduced = {0, 10, 1.5, 0.1};
constexpr Class kPooled = {0, 20, 4, 0.1};
constexpr double kNodeNs = 40;  // resolving tensors, entering the kernel

const Class& ClassOf(std::string_view op) {
  struct Entry {
    std::string_view op;
    const Class* of;
  };
  static constexpr Entry kTable[] = {
      {"Conv", &kMatrix},           {"ConvTranspose", &kMatrix},  {"Gemm", &kMatrix},
      {"MatMul", &kMatrix},         {"LSTM", &kRecurrent},        {"Concat", &kMoved},
      {"Split", &kMoved},           {"Gather", &kMoved},          {"Reshape", &kMoved},
      {"Identity", &kMoved},        {"Flatten", &kMoved},         {"Squeeze", &kMoved},
      {"Unsqueeze", &kMoved},       {"Dropout", &kMoved},         {"Constant", &kMoved},
      {"Transpose", &kStrided},     {"Slice", &kStrided},         {"Expand", &kStrided},
      {"Cast", &kStrided},          {"ConstantOfShape", &kMoved}, {"Range", &kStrided},
      {"Erf", &kFunction},          {"Exp", &kFunction},          {"Pow", &kFunction},
      {"Sigmoid", &kFunction},      {"Sin", &kFunction},          {"Softmax", &kFunction},
      {"Tanh", &kFunction},         {"Resize", &kFunction},       {"ReduceMax", &kReduced},
      {"ReduceMean", &kReduced},    {"ReduceSum", &kReduced},     {"GlobalAveragePool", &kReduced},
      {"GlobalMaxPool", &kReduced}, {"AveragePool", &kPooled},    {"MaxPool", &kPooled},
  };
  for (const Entry& e : kTable) {
    if (e.op == op) return *e.of;
  }
  return kArithmetic;
}

double CountOf(const TensorType& t) { return static_cast<double>(t.count); }

// Multiply-adds of the matrix kernels; 0 for the rest.
double Products(const NodeView& n, std::string_view op) {
  if (op == "Conv" || op == "ConvTranspose") {
    // Every element of Y (X for the transposed one) meets the weights of one of its channel.
    const TensorType w = n.in(1);
    const TensorType at = op == "Conv" ? n.out(0) : n.in(0);
    return w.rank < 1 || w.dims[0] == 0 ? 0 : CountOf(at) * CountOf(w) / w.dims[0];
  }
  if (op == "MatMul" || op == "Gemm") {
    const TensorType a = n.in(0);
    const bool first = op == "Gemm" && n.Int("transA", 0) != 0;
    return a.rank < 1 ? 0 : CountOf(n.out(0)) * a.dims[first ? 0 : a.rank - 1];
  }
  if (op == "LSTM") {
    const TensorType x = n.in(0);
    return x.rank != 3
               ? 0
               : static_cast<double>(x.dims[0]) * x.dims[1] * (CountOf(n.in(1)) + CountOf(n.in(2)));
  }
  return 0;
}

}  // namespace

uint64_t MarginalNs(const NodeView& n) {
  const std::string_view op = ge::plugin::View(n.node().op);
  const Class& c = ClassOf(op);
  double bytes = 0, elements = 0;
  for (uint32_t i = 0; i < n.n_out(); ++i) {
    if (!n.has_out(i)) continue;
    bytes += static_cast<double>(n.out(i).bytes);
    elements = std::max(elements, CountOf(n.out(i)));
  }
  // Look-ups read as much as they write, whatever the table's size.
  if (op == "Gather" || op == "Slice" || op == "Expand" || op == "Shape") {
    bytes *= 2;
  } else {
    for (uint32_t i = 0; i < n.n_in(); ++i) {
      if (n.has_in(i)) bytes += static_cast<double>(n.in(i).bytes);
    }
  }
  const double inputs = n.n_in() > 0 && n.has_in(0) ? CountOf(n.in(0)) : 0;
  const double ns = kNodeNs + c.ns_per_product * Products(n, op) + c.ns_per_element * elements +
                    c.ns_per_input * inputs + c.ns_per_byte * bytes;
  return static_cast<uint64_t>(std::min(ns, 1e18));
}

}  // namespace ref
