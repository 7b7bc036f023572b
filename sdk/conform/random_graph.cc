#include "random_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ge::conform {
namespace {

using mock::Attr;

// Grows a net node by node; values stay of moderate size.
class Grower {
 public:
  Grower(Flavour flavour, uint64_t seed) : n_(seed), flavour_(flavour) {}

  Sample Grow() {
    const bool images = flavour_ == Flavour::kConvolutions;
    const bool rows = flavour_ == Flavour::kProducts;
    for (int i = 0; i < 2; ++i) {
      values_.push_back(n_.In(images ? Dims{1, 8, 9, 7} : rows ? Dims{5, 24} : Dims{3, 7, 8}));
    }
    const int64_t nodes = n_.r.Int(4, 14);
    while (static_cast<int64_t>(n_.graph.nodes.size()) < nodes) Step();
    std::vector<bool> read(n_.graph.values.size());
    for (const mock::Node& node : n_.graph.nodes) {
      for (uint32_t v : node.in) read[v] = true;
    }
    for (const mock::Node& node : n_.graph.nodes) {
      for (uint32_t v : node.out) {
        // Results on the way, too: they have readers and leave.
        if (!read[v] || n_.r.Chance(0.15)) n_.Out(v);
      }
    }
    return n_.Take(NameOf(flavour_));
  }

 private:
  uint32_t Any() { return n_.r.Pick(values_); }
  const Dims& dims(uint32_t value) const { return n_.dims(value); }

  void Step() {
    Flavour f = flavour_;
    if (f == Flavour::kMixed) f = static_cast<Flavour>(n_.r.Int(0, kFlavours - 2));
    if (n_.r.Chance(0.35)) f = Flavour::kElementwise;
    const uint32_t x = Any();
    switch (f) {
      case Flavour::kProducts:
        return Product(x);
      case Flavour::kConvolutions:
        return Convolution(x);
      case Flavour::kReductions:
        return Reduction(x);
      case Flavour::kMoves:
        return Move(x);
      default:
        return Elementwise(x);
    }
  }
  void Keep(uint32_t v) { values_.push_back(v); }

  void Elementwise(uint32_t x) {
    if (n_.r.Chance(0.5)) {
      static const std::vector<std::string> kUnary = {"Relu", "Sigmoid", "Tanh",
                                                      "Neg",  "Abs",     "HardSwish"};
      return Keep(n_.Unary(n_.r.Pick(kUnary), x));
    }
    static const std::vector<std::string> kBinary = {"Add", "Sub", "Mul", "Max", "Min"};
    const std::string op = n_.r.Pick(kBinary);
    uint32_t y = Any();
    if (dims(y) != dims(x)) {
      Dims d = dims(x);  // a constant that broadcasts
      for (int64_t& size : d) size = n_.r.Chance(0.5) ? 1 : size;
      while (!d.empty() && n_.r.Chance(0.3)) d.erase(d.begin());
      y = n_.Const(GE_F32, d);
    }
    // Products of products would soon be large or nothing.
    Keep(op == "Mul" ? n_.Unary("Tanh", n_.Binary(op, x, y)) : n_.Binary(op, x, y));
  }

  void Product(uint32_t x) {
    if (dims(x).size() < 2) return Elementwise(x);
    const int64_t deep = dims(x).back();
    const int64_t wide = n_.r.Pick<int64_t>({1, 7, 16, 24, 33});
    const double most = 1.5 / std::sqrt(static_cast<double>(deep));
    if (dims(x).size() == 2 && n_.r.Chance(0.4)) {
      const bool turned = n_.r.Chance(0.5);
      const uint32_t w =
          n_.Const(GE_F32, turned ? Dims{wide, deep} : Dims{deep, wide}, -most, most);
      return Keep(n_.Gemm(x, w, n_.Const(GE_F32, {wide}), false, turned));
    }
    const uint32_t y = n_.MatMul(x, n_.Const(GE_F32, {deep, wide}, -most, most));
    if (n_.r.Chance(0.4)) return Keep(y);
    const uint32_t z = n_.Binary("Add", y, n_.Const(GE_F32, {wide}));
    Keep(n_.r.Chance(0.6) ? n_.Unary("Relu", z) : z);
  }

  void Convolution(uint32_t x) {
    const Dims d = dims(x);
    if (d.size() != 4 || d[2] < 3 || d[3] < 3) return Elementwise(x);
    if (n_.r.Chance(0.2)) {
      return Keep(n_.Pool(n_.r.Chance(0.5) ? "MaxPool" : "AveragePool", x, 2, {1, 0, 1, 1}));
    }
    const bool depth = n_.r.Chance(0.25);
    const int64_t taps = n_.r.Chance(0.4) ? 1 : 3,
                  out = depth ? d[1] : n_.r.Pick<int64_t>({8, 12, 16});
    const Dims w = {out, depth ? 1 : d[1], taps, taps};
    const double most = 1.5 / std::sqrt(static_cast<double>(w[1] * taps * taps));
    const uint32_t y =
        n_.Conv(x, n_.Const(GE_F32, w, -most, most), n_.r.Chance(0.6) ? n_.Const(GE_F32, {out}) : 0,
                {1, taps / 2, 1, depth ? d[1] : 1});
    Keep(n_.r.Chance(0.6) ? n_.Unary("Relu", y) : y);
  }

  void Reduction(uint32_t x) {
    if (dims(x).empty()) return Elementwise(x);
    const auto rank = static_cast<int64_t>(dims(x).size());
    const int64_t axis = n_.r.Int(0, rank - 1);
    switch (n_.r.Int(0, 3)) {
      case 0:
        return Keep(n_.Softmax("Softmax", x, axis));
      case 1:
        return Keep(dims(x).back() > 1 ? n_.LayerNorm(x) : n_.Softmax("Softmax", x, axis));
      case 2:
        return Keep(n_.Reduce("ReduceMax", x, {axis}, true));
      default:
        return Keep(n_.Reduce("ReduceMean", x, {axis}, n_.r.Chance(0.7)));
    }
  }

  void Move(uint32_t x) {
    const Dims d = dims(x);
    if (d.empty()) return Elementwise(x);
    const auto rank = static_cast<int64_t>(d.size());
    const int64_t axis = n_.r.Int(0, rank - 1);
    switch (n_.r.Int(0, 4)) {
      case 0: {
        std::vector<int64_t> perm(d.size());
        for (size_t i = 0; i < perm.size(); ++i) perm[i] = rank - 1 - static_cast<int64_t>(i);
        return Keep(n_.Transpose(x, perm));
      }
      case 1:
        return Keep(n_.Reshape(x, {mock::CountOf(d) / d.back(), d.back()}));
      case 2:
        return Keep(n_.Concat({x, n_.Unary("Sigmoid", x)}, axis));
      case 3: {
        const int64_t size = d[static_cast<size_t>(axis)];
        return Keep(n_.Slice(x, axis, size > 1 ? 1 : 0, size));
      }
      default:
        return Keep(n_.Expand(n_.Reduce("ReduceMean", x, {axis}, true), d));
    }
  }

  Net n_;
  Flavour flavour_;
  std::vector<uint32_t> values_;
};

std::string AttrText(const Attr& a) {
  switch (a.kind) {
    case GE_ATTR_INT:
      return fmt::format("{}={}", a.name, a.i);
    case GE_ATTR_FLOAT: {
      const std::string number = fmt::format("{:.17g}", a.f);
      const bool whole = number.find_first_of(".en") == std::string::npos;
      return a.name + "=" + number + (whole ? ".0" : "");
    }
    case GE_ATTR_STRING:
      return fmt::format("{}=\"{}\"", a.name, a.s);
    default:
      return fmt::format("{}=[{}]", a.name, fmt::join(a.ints, ", "));
  }
}

std::string TypeText(const mock::Type& tensor) {
  return fmt::format("{}[{}]", ShortName(tensor.dtype), fmt::join(tensor.dims, ","));
}

std::string ConstText(const std::string& name, const Tensor& t) {
  std::string out =
      fmt::format("const {} : {}[{}] = ", name, ShortName(t.dtype), fmt::join(t.dims, ","));
  std::vector<std::string> numbers;
  for (int64_t i = 0; i < t.count(); ++i) {
    numbers.push_back(IsFloat(t.dtype) ? fmt::format("{:.9g}", ElementOf(t, i))
                                       : fmt::format("{:.0f}", ElementOf(t, i)));
  }
  return t.dims.empty() ? out + numbers[0] + "\n"
                        : out + fmt::format("[{}]\n", fmt::join(numbers, ", "));
}

}  // namespace

const char* NameOf(Flavour flavour) {
  static constexpr const char* kNames[kFlavours] = {"elementwise", "products", "convolutions",
                                                    "reductions",  "moves",    "mixed"};
  return kNames[static_cast<int>(flavour)];
}

Sample RandomSample(Flavour flavour, uint64_t seed) { return Grower(flavour, seed).Grow(); }

std::string TextOf(const mock::Graph& graph) {
  std::map<std::string, uint32_t> opsets = {{"", mock::kOpset}};
  for (const mock::Node& n : graph.nodes) opsets.emplace(n.domain, n.version);
  std::string out = "ge 1\n";
  for (const auto& [domain, version] : opsets) {
    out += fmt::format("opset \"{}\" {}\n", domain, version);
  }
  const auto name = [](uint32_t v) { return "v" + std::to_string(v); };
  for (uint32_t v = 1; v < graph.values.size(); ++v) {
    if (graph.values[v].constant != nullptr) out += ConstText(name(v), *graph.values[v].constant);
  }
  std::vector<std::string> in, results;
  for (uint32_t v : graph.in) in.push_back(name(v) + ": " + TypeText(graph.values[v].type));
  for (uint32_t v : graph.out) results.push_back(name(v));
  out += fmt::format("fn main({}) -> ({}) {{\n", fmt::join(in, ", "), fmt::join(results, ", "));
  for (const mock::Node& n : graph.nodes) {
    std::vector<std::string> args, outs, attrs;
    for (uint32_t v : n.in) args.push_back(v == 0 ? "_" : name(v));
    for (uint32_t v : n.out) {
      const mock::Type& type = graph.values[v].type;  // with sizes that the data decide: left out
      outs.push_back(mock::IsStatic(type) ? name(v) + ": " + TypeText(type) : name(v));
    }
    for (const Attr& a : n.attrs) attrs.push_back(AttrText(a));
    const std::string op = n.domain.empty() ? n.op : n.domain + "." + n.op;
    out += fmt::format("  {} = {}({})", fmt::join(outs, ", "), op, fmt::join(args, ", "));
    out += attrs.empty() ? "\n" : fmt::format(" {{{}}}\n", fmt::join(attrs, ", "));
  }
  return out + "}\nentry infer \"main\" = main\n";
}

}  // namespace ge::conform
