#include "passes/fold/fold_batchnorm.h"

#include <cmath>
#include <cstring>

#include "ge/ops/op.h"

namespace ge {
namespace {

// The elements of an f32 constant of exactly these dims; empty optional when it is anything else.
std::optional<std::vector<float>> Floats(const Graph& g, const Function& f, ValueId v) {
  if (!v || !f.value(v).constant) return std::nullopt;
  const Const& c = g.consts[f.value(v).constant];
  const auto count = ElementCount(c.type);
  if (c.type.dtype != DType::kFloat || !count) return std::nullopt;
  std::vector<std::byte> scratch;
  const std::byte* data = ConstBytes(c, &scratch);
  if (!data && *count) return std::nullopt;
  std::vector<float> out(static_cast<size_t>(*count));
  if (*count) std::memcpy(out.data(), data, out.size() * sizeof(float));
  return out;
}

struct Match {
  const Node* conv = nullptr;
  const Node* norm = nullptr;
  std::vector<float> weight, bias;  // bias is empty when absent
  Type weight_type;
  std::vector<double> factor, shift;  // y = factor * x + shift, by output channel
};

// The normalisation as one multiply and add per channel.
bool ReadNorm(const Graph& g, const Function& f, const Node& n, Match* m) {
  if (AttrInt(n, "training_mode", 0) != 0 || n.inputs.size() != 5) return false;
  for (size_t s = 1; s < n.outputs.size(); ++s) {
    if (n.outputs[s]) return false;
  }
  std::vector<float> p[4];  // scale, B, mean, variance
  for (int k = 0; k < 4; ++k) {
    auto x = Floats(g, f, n.inputs[k + 1]);
    if (!x || (k && x->size() != p[0].size())) return false;
    p[k] = std::move(*x);
  }
  const double epsilon = AttrFloat(n, "epsilon", 1e-5f);
  for (size_t i = 0; i < p[0].size(); ++i) {
    const double variance = static_cast<double>(p[3][i]) + epsilon;
    if (!(variance > 0)) return false;
    m->factor.push_back(p[0][i] / std::sqrt(variance));
    m->shift.push_back(p[1][i] - p[2][i] * m->factor.back());
  }
  return true;
}

bool ReadConv(const Graph& g, const Function& f, const Node& n, Match* m) {
  const bool conv = n.domain.empty() && (n.op == "Conv" || n.op == "ConvTranspose");
  if (!conv || n.inputs.size() < 2 || n.outputs.size() != 1 || !n.effects.empty()) return false;
  auto weight = Floats(g, f, n.inputs[1]);
  if (!weight) return false;
  m->weight_type = g.consts[f.value(n.inputs[1]).constant].type;
  if (m->weight_type.dims.size() < 2) return false;
  m->weight = std::move(*weight);
  if (n.inputs.size() < 3 || !n.inputs[2]) return true;
  auto bias = Floats(g, f, n.inputs[2]);
  if (!bias || bias->size() != m->factor.size()) return false;
  m->bias = std::move(*bias);
  return true;
}

// Scales the weights in place: Conv has [out, in/group, ...], ConvTranspose [in, out/group, ...].
bool ScaleWeights(Match* m) {
  const std::vector<int64_t> dims = m->weight_type.static_dims();
  const auto channels = static_cast<int64_t>(m->factor.size());
  const int64_t group = AttrInt(*m->conv, "group", 1);
  const bool transposed = m->conv->op == "ConvTranspose";
  if (group < 1 || dims[0] < 1 || dims[1] < 1 || dims[0] % group) return false;
  if (transposed ? dims[1] * group != channels : dims[0] != channels) return false;
  const size_t step = m->weight.size() / static_cast<size_t>(dims[0] * dims[1]);
  for (int64_t a = 0; a < dims[0]; ++a) {
    for (int64_t b = 0; b < dims[1]; ++b) {
      const int64_t out = transposed ? a / (dims[0] / group) * dims[1] + b : a;
      float* w = m->weight.data() + static_cast<size_t>(a * dims[1] + b) * step;
      for (size_t i = 0; i < step; ++i) w[i] = static_cast<float>(w[i] * m->factor[out]);
    }
  }
  return true;
}

std::vector<float> FoldedBias(const Match& m) {
  std::vector<float> out;
  for (size_t i = 0; i < m.factor.size(); ++i) {
    const double old = m.bias.empty() ? 0.0 : m.bias[i];
    out.push_back(static_cast<float>(old * m.factor[i] + m.shift[i]));
  }
  return out;
}

ValueId AddFloats(Transaction& t, FunctionId fn, const std::vector<float>& data, const Type& type,
                  ValueId old, const Match& m, const char* what) {
  const Function& f = t.graph().fn(fn);
  std::string name = old ? f.value(old).name : std::string();
  if (name.empty()) name = NodeLabel(*m.conv) + what;
  name += "_bn" + std::to_string(m.norm->id);
  return t.AddConst(fn, MakeConst(type, data.data(), data.size() * sizeof(float), name));
}

void TryFold(Transaction& t, FunctionId fn, const Node& norm) {
  const Graph& g = t.graph();
  const Function& f = g.fn(fn);
  if (norm.inputs.empty() || !norm.inputs[0] || norm.outputs.empty() || !norm.outputs[0]) return;
  const ValueId x = norm.inputs[0];
  Match m;
  m.norm = &norm;
  m.conv = t.Producer(fn, x);
  if (!m.conv || t.IsResult(fn, x) || t.Readers(fn, x).size() != 1) return;
  if (!ReadNorm(g, f, norm, &m) || !ReadConv(g, f, *m.conv, &m) || !ScaleWeights(&m)) return;
  const NodeId conv = m.conv->id;
  const ValueId old_bias = m.conv->inputs.size() > 2 ? m.conv->inputs[2] : 0;
  const std::vector<float> bias = FoldedBias(m);
  const Type bias_type =
      TensorType(DType::kFloat, std::vector<int64_t>{static_cast<int64_t>(bias.size())});
  const ValueId w = AddFloats(t, fn, m.weight, m.weight_type, m.conv->inputs[1], m, "_weight");
  const ValueId b = AddFloats(t, fn, bias, bias_type, old_bias, m, "_bias");
  t.SetInput(fn, conv, 1, w);
  t.SetInput(fn, conv, 2, b);
  t.AddOrigin(fn, conv, norm);
  t.ReplaceUses(fn, norm.outputs[0], x);
  t.Erase(fn, norm.id);
}

}  // namespace

Status FoldBatchnorm::Run(Transaction& t, const PassContext&) {
  for (FunctionId fn = 1; fn < t.graph().functions.size(); ++fn) {
    const size_t count = t.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = t.graph().fn(fn).nodes[i];
      if (n.id && n.domain.empty() && n.op == "BatchNormalization") TryFold(t, fn, n);
    }
  }
  return {};
}

}  // namespace ge
