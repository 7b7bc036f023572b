#include "passes/fold/fold_pad.h"

#include <algorithm>
#include <limits>

#include "ge/ops/known_ints.h"
#include "ge/ops/op.h"
#include "passes/fold/floats.h"

namespace ge {
namespace {

constexpr int64_t kMostPad = INT32_MAX / 4;  // sums of two stay far from any overflow

// The integers of a constant; nullopt where it is none, or not all are numbers.
std::optional<std::vector<int64_t>> IntsOf(const Graph& g, const Function& f, ValueId v) {
  if (!v || !f.value(v).constant) return std::nullopt;
  const auto dims = ConstInts(g.consts[f.value(v).constant]);
  if (!dims) return std::nullopt;
  std::vector<int64_t> out;
  for (const Dim& d : *dims) {
    if (d.expr) return std::nullopt;
    out.push_back(d.value);
  }
  return out;
}

ValueId InputOf(const Node& n, size_t i) { return i < n.inputs.size() ? n.inputs[i] : 0; }

// What a Pad adds at the spatial axes, begins, then ends; nullopt where it adds elsewhere, takes
// away, or the data decide.
std::optional<std::vector<int64_t>> SpatialPads(const Graph& g, const Function& f,
                                                const Node& pad) {
  const Type& type = f.value(pad.inputs[0]).type;
  const auto pads = IntsOf(g, f, InputOf(pad, 1));
  if (!pads || !type.ranked || type.rank() < 3) return std::nullopt;
  const auto rank = static_cast<int64_t>(type.rank());
  std::vector<int64_t> axes;
  if (InputOf(pad, 3)) {
    const auto given = IntsOf(g, f, InputOf(pad, 3));
    if (!given) return std::nullopt;
    for (int64_t a : *given) axes.push_back(a < 0 ? a + rank : a);
  } else {
    for (int64_t a = 0; a < rank; ++a) axes.push_back(a);
  }
  if (pads->size() != 2 * axes.size()) return std::nullopt;
  const size_t spatial = type.rank() - 2;
  std::vector<int64_t> out(2 * spatial, 0);
  for (size_t i = 0; i < pads->size(); ++i) {
    const int64_t axis = axes[i % axes.size()], n = (*pads)[i];
    if (n < 0 || n > kMostPad || axis < 0 || axis >= rank || (axis < 2 && n != 0)) {
      return std::nullopt;
    }
    if (axis >= 2) out[static_cast<size_t>(axis) - 2 + (i < axes.size() ? 0 : spatial)] += n;
  }
  return out;
}

// The number that is filled in: 0 without one; nullopt where it is no float32 constant.
std::optional<float> FilledWith(const Graph& g, const Function& f, const Node& pad) {
  if (!InputOf(pad, 2)) return 0.0f;
  const auto value = FloatsOf(g, f, pad.inputs[2]);
  if (!value || value->size() != 1) return std::nullopt;
  return value->front();
}

// Whether `n` computes the same with these pads of its own as with numbers `filled` around x.
bool Takes(const Node& n, float filled, const std::vector<int64_t>& own,
           const std::vector<int64_t>& all) {
  if (n.op == "Conv") return filled == 0;
  if (AttrInt(n, "ceil_mode") != 0) return false;
  const std::vector<int64_t>& kernel = AttrInts(n, "kernel_shape");
  for (size_t i = 0; i < all.size(); ++i) {  // a window wholly outside has no greatest number
    if (all[i] >= kernel[i % kernel.size()]) return false;
  }
  if (n.op == "MaxPool") return filled == -std::numeric_limits<float>::infinity();
  const bool bare = std::all_of(own.begin(), own.end(), [](int64_t p) { return p == 0; });
  return filled == 0 && (bare || AttrInt(n, "count_include_pad") != 0);
}

bool IsReader(const Node& n) {
  const bool pool = n.op == "MaxPool" || n.op == "AveragePool";
  return n.id != 0 && n.domain.empty() && (n.op == "Conv" || pool) && n.effects.empty() &&
         n.outputs.size() == 1 && InputOf(n, 0) != 0 && AttrString(n, "auto_pad") == "NOTSET";
}

void TryFold(Transaction& t, FunctionId fn, const Node& n) {
  const Graph& g = t.graph();
  const Function& f = g.fn(fn);
  const Node* const pad = t.Producer(fn, n.inputs[0]);
  if (!pad || !pad->domain.empty() || pad->op != "Pad" || !pad->effects.empty()) return;
  if (f.value(n.inputs[0]).type.dtype != DType::kFloat) return;
  if (AttrString(*pad, "mode") != "constant") return;
  const auto more = SpatialPads(g, f, *pad);
  const auto filled = FilledWith(g, f, *pad);
  if (!more || !filled) return;
  std::vector<int64_t> own = AttrInts(n, "pads");
  if (own.empty()) own.assign(more->size(), 0);
  if (own.size() != more->size()) return;
  std::vector<int64_t> all = own;
  for (size_t i = 0; i < all.size(); ++i) {
    if (own[i] < 0 || own[i] > kMostPad) return;
    all[i] += (*more)[i];
  }
  if (n.op != "Conv" && AttrInts(n, "kernel_shape").size() * 2 != all.size()) return;
  if (!Takes(n, *filled, own, all)) return;
  const NodeId id = n.id;
  const bool average = n.op == "AveragePool";
  const Node padded = *pad;
  t.SetAttr(fn, id, Attr{"pads", std::move(all)});
  if (average) t.SetAttr(fn, id, Attr{"count_include_pad", int64_t{1}});
  t.SetInput(fn, id, 0, padded.inputs[0]);
  t.AddOrigin(fn, id, padded);
}

}  // namespace

Status FoldPad::Run(Transaction& transaction, const PassContext&) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const Node& n = transaction.graph().fn(fn).nodes[i];
      if (IsReader(n)) TryFold(transaction, fn, n);
    }
  }
  return {};
}

}  // namespace ge
