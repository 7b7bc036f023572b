#include "passes/fold/fold_batchnorm.h"

#include <algorithm>
#include <cstring>

#include "ge/base/aligned.h"
#include "ge/ops/op.h"
#include "passes/fold/affine.h"
#include "passes/fold/floats.h"

namespace ge {
namespace {

struct Match {
  const Node* conv = nullptr;
  const Node* norm = nullptr;
  const Const* weight = nullptr;
  std::vector<float> bias;  // empty when absent
  Affine by;
};

bool ReadConv(const Graph& g, const Function& f, const Node& n, Match* m) {
  const bool conv = n.domain.empty() && (n.op == "Conv" || n.op == "ConvTranspose");
  if (!conv || n.inputs.size() < 2 || n.outputs.size() != 1 || !n.effects.empty()) return false;
  if (!n.inputs[1] || !f.value(n.inputs[1]).constant) return false;
  m->weight = &g.consts[f.value(n.inputs[1]).constant];
  const Type& type = m->weight->type;
  if (type.dtype != DType::kFloat || !type.is_static() || type.dims.size() < 2) return false;
  if (n.inputs.size() < 3 || !n.inputs[2]) return true;
  auto bias = FloatsOf(g, f, n.inputs[2]);
  if (!bias || bias->size() != m->by.factor.size()) return false;
  m->bias = std::move(*bias);
  return true;
}

// to[i] = from[i] * factor, rounded once; `from` may be unaligned. In pieces that stay in the
// first cache, so that the compiler may take several at once.
void Scale(const std::byte* from, size_t count, double factor, float* to) {
  constexpr size_t kPiece = 256;
  float w[kPiece];
  for (size_t at = 0; at < count; at += kPiece) {
    const size_t n = std::min(kPiece, count - at);
    std::memcpy(w, from + at * sizeof(float), n * sizeof(float));
    for (size_t i = 0; i < n; ++i) to[at + i] = static_cast<float>(w[i] * factor);
  }
}

// New weights: Conv has [out, in/group, ...], ConvTranspose [in, out/group, ...]. Weights are the
// bulk of a model, so they are read and written once.
std::optional<Const> ScaledWeights(const Match& m) {
  const std::vector<int64_t> dims = m.weight->type.static_dims();
  const auto channels = static_cast<int64_t>(m.by.factor.size());
  const int64_t group = AttrInt(*m.conv, "group");
  const bool transposed = m.conv->op == "ConvTranspose";
  if (group < 1 || dims[0] < 1 || dims[1] < 1 || dims[0] % group) return std::nullopt;
  // dims[1] * group cannot overflow where it has to equal the number of channels.
  if (transposed ? channels % group || dims[1] != channels / group : dims[0] != channels) {
    return std::nullopt;
  }
  const auto count = ElementCount(m.weight->type);
  ConstScratch scratch;
  const std::byte* from = ConstBytes(*m.weight, &scratch);
  if (!count || !*count || !from) return std::nullopt;
  const auto total = static_cast<size_t>(*count);
  AlignedBytes block = AllocateAligned(total * sizeof(float), 64);
  if (!block) return std::nullopt;  // the model runs as it is
  auto* const to = reinterpret_cast<float*>(block.get());
  const int64_t runs = transposed ? dims[0] * dims[1] : dims[0];
  const size_t step = total / static_cast<size_t>(runs);
  for (int64_t r = 0; r < runs; ++r) {
    const int64_t in = r / dims[1], b = r % dims[1];
    const int64_t out = transposed ? in / (dims[0] / group) * dims[1] + b : r;
    const size_t at = static_cast<size_t>(r) * step;
    Scale(from + at * sizeof(float), step, m.by.factor[static_cast<size_t>(out)], to + at);
  }
  Const c;
  c.type = m.weight->type;
  c.bytes = total * sizeof(float);
  c.data = block.get();
  c.owner = std::shared_ptr<std::byte>(std::move(block));
  return c;
}

std::vector<float> FoldedBias(const Match& m) {
  std::vector<float> out;
  for (size_t i = 0; i < m.by.factor.size(); ++i) {
    const double old = m.bias.empty() ? 0.0 : m.bias[i];
    out.push_back(static_cast<float>(old * m.by.factor[i] + m.by.shift[i]));
  }
  return out;
}

// The name of the constant that replaces `old` (or the absent one).
std::string FoldedName(const Function& f, ValueId old, const Match& m, const char* what) {
  std::string name = old ? f.value(old).name : std::string();
  if (name.empty()) name = NodeLabel(*m.conv) + what;
  return name + "_bn" + std::to_string(m.norm->id);
}

void TryFold(Transaction& t, FunctionId fn, const Node& norm, const PassContext& context) {
  const Graph& g = t.graph();
  const Function& f = g.fn(fn);
  if (norm.inputs.empty() || !norm.inputs[0] || norm.outputs.empty() || !norm.outputs[0]) return;
  const ValueId x = norm.inputs[0];
  Match m;
  m.norm = &norm;
  m.conv = t.Producer(fn, x);
  if (!m.conv || t.IsResult(fn, x) || t.Readers(fn, x).size() != 1) return;
  auto affine = AffineOf(g, f, norm);
  if (!affine) return;
  m.by = *std::move(affine);
  if (!ReadConv(g, f, *m.conv, &m)) return;
  // Weights that many convolutions share are made anew for each.
  const int64_t bytes = ByteCount(m.weight->type).value_or(0);
  if (context.budget && !context.budget->Take(bytes, 2.0 * static_cast<double>(bytes))) return;
  std::optional<Const> weight = ScaledWeights(m);
  if (!weight) return;
  if (context.done_reading && m.weight->mapped) {
    context.done_reading(m.weight->data, m.weight->bytes);
  }
  const NodeId conv = m.conv->id;
  const ValueId old_bias = m.conv->inputs.size() > 2 ? m.conv->inputs[2] : 0;
  const std::vector<float> bias_data = FoldedBias(m);
  const auto channels = static_cast<int64_t>(bias_data.size());
  Const bias =
      MakeConst(TensorType(DType::kFloat, std::vector<int64_t>{channels}), bias_data.data(),
                bias_data.size() * sizeof(float), FoldedName(f, old_bias, m, "_bias"));
  weight->name = FoldedName(f, m.conv->inputs[1], m, "_weight");
  const ValueId w = t.AddConst(fn, std::move(*weight));
  const ValueId b = t.AddConst(fn, std::move(bias));
  t.SetInput(fn, conv, 1, w);
  t.SetInput(fn, conv, 2, b);
  t.AddOrigin(fn, conv, norm);
  t.ForgetName(fn, x);
  t.ReplaceUses(fn, norm.outputs[0], x);
  t.Erase(fn, norm.id);
}

}  // namespace

Status FoldBatchnorm::Run(Transaction& transaction, const PassContext& context) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = transaction.graph().fn(fn).nodes[i];
      if (n.id && n.domain.empty() && n.op == "BatchNormalization")
        TryFold(transaction, fn, n, context);
    }
  }
  return {};
}

}  // namespace ge
