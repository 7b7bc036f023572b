#include "tests/unit/random_graph.h"

#include <string>

#include "tests/unit/plan_generator.h"

namespace ge::test {
namespace {

constexpr uint32_t kInputs = 3;

class Maker {
 public:
  Maker(uint64_t seed, const RandomGraphOptions& options)
      : random_(seed), options_(options), n_(options.side) {}

  Graph Make() {
    graph_.opsets = {{"", kCanonicalOpset}};
    graph_.AddFunction("main");
    for (uint32_t i = 0; i < kInputs; ++i) {
      ValueId v = AddValue(&f(), TensorType(DType::kFloat, std::vector<int64_t>{n_, n_}),
                           "in" + std::to_string(i));
      f().params.push_back(v);
      square_.push_back(v);
    }
    while (f().nodes.size() < options_.nodes) AddOne();
    std::vector<bool> read(f().values.size());
    for (const Node& node : f().nodes) {
      for (ValueId v : node.inputs) read[v] = true;
    }
    for (const Node& node : f().nodes) {
      for (ValueId v : node.outputs) {
        if (!read[v] || random_.Chance(5)) f().results.push_back(v);
      }
    }
    graph_.entries.push_back({"main", 1});
    return std::move(graph_);
  }

 private:
  Function& f() { return graph_.fn(1); }

  // Mostly recent values, so that graphs are deep as well as wide.
  ValueId Pick(const std::vector<ValueId>& from) {
    const uint32_t n = static_cast<uint32_t>(from.size());
    return from[random_.Chance(60) ? n - 1 - random_.Below(std::min(n, 4u)) : random_.Below(n)];
  }

  std::vector<ValueId> Add(const char* op, std::vector<ValueId> inputs, std::vector<Attr> attrs,
                           uint32_t outputs = 1) {
    Node node;
    node.id = f().next_node_id++;
    node.op = op;
    node.inputs = std::move(inputs);
    node.attrs = std::move(attrs);
    for (uint32_t i = 0; i < outputs; ++i) {
      node.outputs.push_back(
          AddValue(&f(), Type(), "v" + std::to_string(node.id) + "_" + std::to_string(i)));
    }
    std::vector<ValueId> made = node.outputs;
    f().nodes.push_back(std::move(node));
    return made;
  }

  ValueId Weights() {
    std::vector<float> w(static_cast<size_t>(n_ * n_));
    for (float& x : w) x = Uniform() / 4;
    return AddConstValue(
        &graph_, &f(),
        MakeConst(TensorType(DType::kFloat, std::vector<int64_t>{n_, n_}), w.data(), w.size() * 4));
  }

  ValueId Axis(int64_t axis) {
    return AddConstValue(&graph_, &f(),
                         MakeConst(TensorType(DType::kInt64, std::vector<int64_t>{1}), &axis, 8));
  }

  float Uniform() { return static_cast<float>(random_.Below(1 << 20)) / (1 << 19) - 1; }

  void AddOne() {
    static constexpr const char* kUnary[] = {"Tanh", "Sigmoid", "Erf", "Neg", "Relu", "Sin"};
    static constexpr const char* kBinary[] = {"Add", "Sub", "Max"};
    switch (random_.Below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        square_.push_back(Add(kUnary[random_.Below(6)], {Pick(square_)}, {})[0]);
        break;
      case 4:
      case 5: {
        std::vector<ValueId> in = {Pick(square_), Pick(square_)};
        if (!column_.empty() && random_.Chance(40)) in[1] = Pick(column_);
        square_.push_back(Add(kBinary[random_.Below(3)], in, {})[0]);
        break;
      }
      case 6:
        // By an input: products of products would soon be too large.
        square_.push_back(Add("Mul", {Pick(square_), square_[random_.Below(kInputs)]}, {})[0]);
        break;
      case 7:
      case 8:
        square_.push_back(Add("MatMul", {Pick(square_), Weights()}, {})[0]);
        break;
      case 9:
        square_.push_back(
            Add("Transpose", {Pick(square_)}, {{"perm", std::vector<int64_t>{1, 0}}})[0]);
        break;
      case 10:
        if (wide_.empty() || random_.Chance(50)) {
          wide_.push_back(Add("Concat", {Pick(square_), Pick(square_)}, {{"axis", int64_t{1}}})[0]);
        } else {
          for (ValueId v : Add("Split", {Pick(wide_)},
                               {{"axis", int64_t{1}}, {"num_outputs", int64_t{2}}}, 2)) {
            square_.push_back(v);
          }
        }
        break;
      default:
        column_.push_back(Add("ReduceMean", {Pick(square_), Axis(1)}, {})[0]);
    }
  }

  Random random_;
  const RandomGraphOptions options_;
  const int64_t n_;
  Graph graph_;
  std::vector<ValueId> square_, wide_, column_;
};

}  // namespace

Graph RandomGraph(uint64_t seed, const RandomGraphOptions& options) {
  return Maker(seed, options).Make();
}

std::vector<std::vector<float>> RandomInputs(uint64_t seed, const RandomGraphOptions& options) {
  Random random(seed ^ 0x5eed);
  std::vector<std::vector<float>> inputs(kInputs);
  for (auto& in : inputs) {
    in.resize(static_cast<size_t>(options.side * options.side));
    for (float& x : in) x = static_cast<float>(random.Below(1 << 20)) / (1 << 19) - 1;
  }
  return inputs;
}

}  // namespace ge::test
