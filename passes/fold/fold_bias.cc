#include "passes/fold/fold_bias.h"

#include <algorithm>

#include "ge/ops/op.h"
#include "passes/fold/floats.h"

namespace ge {
namespace {

// Output channels and rank of a convolution with constant f32 weights; 0 channels: it is none.
struct Channels {
  int64_t count = 0;
  size_t rank = 0;
};

bool IsConvolution(const Node& n) {
  return n.domain.empty() && (n.op == "Conv" || n.op == "ConvTranspose");
}

Channels ChannelsOf(const Graph& g, const Function& f, const Node& n) {
  const bool transposed = n.op == "ConvTranspose";
  if (!IsConvolution(n)) return {};
  if (n.inputs.size() < 2 || n.outputs.size() != 1 || !n.effects.empty() || !n.inputs[1]) return {};
  if (!f.value(n.inputs[1]).constant) return {};
  const Type& type = g.consts[f.value(n.inputs[1]).constant].type;
  if (type.dtype != DType::kFloat || !type.is_static() || type.dims.size() < 3) return {};
  const std::vector<int64_t> dims = type.static_dims();
  const int64_t group = AttrInt(n, "group");
  if (!transposed) return {dims[0], dims.size()};
  if (group < 1 || (dims[1] > 0 && group > INT32_MAX / dims[1])) return {};
  return {dims[1] * group, dims.size()};
}

// The constant as one number for each channel; nullopt when it says more, or would make the
// result larger.
std::optional<std::vector<float>> PerChannel(const Graph& g, const Function& f, ValueId v,
                                             const Channels& channels) {
  const Type& type = f.value(v).type;
  if (f.value(v).constant == 0 || !type.is_static() || type.rank() > channels.rank) {
    return std::nullopt;
  }
  const std::vector<int64_t> dims = type.static_dims();
  const size_t missing = channels.rank - dims.size();
  for (size_t k = 0; k < dims.size(); ++k) {
    const bool channel = k + missing == 1 && dims[k] == channels.count;
    if (dims[k] != 1 && !channel) return std::nullopt;
  }
  auto numbers = FloatsOf(g, f, v);
  if (!numbers || numbers->empty()) return std::nullopt;
  if (numbers->size() == 1) numbers->resize(static_cast<size_t>(channels.count), numbers->front());
  return numbers;
}

void TryFold(Transaction& t, FunctionId fn, const Node& add, size_t side) {
  const Graph& g = t.graph();
  const Function& f = g.fn(fn);
  if (add.inputs.size() != 2 || !add.inputs[0] || !add.inputs[1] || !add.outputs[0]) return;
  const ValueId x = add.inputs[side];
  const Node* const conv = t.Producer(fn, x);
  if (!conv || t.IsResult(fn, x)) return;
  const Channels channels = ChannelsOf(g, f, *conv);
  if (channels.count < 1) return;
  auto bias = PerChannel(g, f, add.inputs[1 - side], channels);
  if (!bias || t.Readers(fn, x).size() != 1) return;
  const ValueId old = conv->inputs.size() > 2 ? conv->inputs[2] : 0;
  if (old) {
    const auto before = FloatsOf(g, f, old);
    if (!before || before->size() != bias->size()) return;
    for (size_t i = 0; i < bias->size(); ++i) {
      (*bias)[i] = static_cast<float>(double{(*bias)[i]} + double{(*before)[i]});
    }
  }
  const NodeId id = conv->id;
  const std::string name = NodeLabel(*conv) + "_bias" + std::to_string(add.id);
  const ValueId b =
      t.AddConst(fn, MakeConst(TensorType(DType::kFloat, std::vector<int64_t>{channels.count}),
                               bias->data(), bias->size() * sizeof(float), name));
  t.SetInput(fn, id, 2, b);
  t.AddOrigin(fn, id, add);
  t.ForgetName(fn, x);
  t.ReplaceUses(fn, add.outputs[0], x);
  t.Erase(fn, add.id);
}

}  // namespace

Status FoldBias::Run(Transaction& transaction, const PassContext&) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const std::vector<Node>& nodes = transaction.graph().fn(fn).nodes;
    if (std::none_of(nodes.begin(), nodes.end(), IsConvolution)) continue;
    const size_t count = nodes.size();
    for (size_t i = 0; i < count; ++i) {
      for (size_t side = 0; side < 2; ++side) {
        const Node& n = transaction.graph().fn(fn).nodes[i];
        if (n.id && n.domain.empty() && n.op == "Add") TryFold(transaction, fn, n, side);
      }
    }
  }
  return {};
}

}  // namespace ge
