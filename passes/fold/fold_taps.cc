#include "passes/fold/fold_taps.h"

#include <algorithm>
#include <optional>

#include "ge/ops/op.h"

namespace ge {
namespace {

constexpr int64_t kMost = INT32_MAX / 4;  // of any number here; products of two do not overflow

// One spatial axis of a convolution. Each is looked at alone: where the batch or another axis is
// open, what is known is cut once, not again at each signature.
struct Axis {
  std::optional<int64_t> known;  // its size
  int64_t kernel, stride, dilation, begin, end;
  int64_t size = known.value_or(1);

  bool IsSane() const {
    const auto within = [](int64_t n, int64_t least) { return n >= least && n <= kMost; };
    return within(size, 1) && within(kernel, 1) && within(stride, 1) && within(dilation, 1) &&
           within(begin, 0) && within(end, 0) && (!known || Places() > 0);
  }
  int64_t Places() const {
    const int64_t room = size + begin + end - (kernel - 1) * dilation - 1;
    return room < 0 ? 0 : room / stride + 1;
  }
  // Whether a place of the result reads an element of x by this tap.
  bool Meets(int64_t tap) const {
    const int64_t first = tap * dilation - begin;  // what place 0 reads
    const int64_t place = first >= 0 ? 0 : (-first + stride - 1) / stride;
    return place < Places() && first + place * stride < size;
  }
};

// The taps that are kept, [first, last]; pads stay at least 0.
struct Kept {
  int64_t first, last;
};
Kept KeptOf(const Axis& a) {
  Kept k{0, a.kernel - 1};
  if (!a.known) return k;
  while (k.first < k.last && !a.Meets(k.first)) ++k.first;
  while (k.last > k.first && !a.Meets(k.last)) --k.last;
  k.first = std::min(k.first, a.begin / a.dilation);
  k.last = std::max(k.last, a.kernel - 1 - a.end / a.dilation);
  return k;
}

int64_t At(const std::vector<int64_t>& list, size_t i, int64_t otherwise) {
  return i < list.size() ? list[i] : otherwise;
}

// The spatial axes of a convolution with constant weights; empty where it is none.
std::vector<Axis> AxesOf(const Graph& g, const Function& f, const Node& n) {
  if (!n.id || !n.domain.empty() || n.op != "Conv" || !n.effects.empty()) return {};
  if (n.inputs.size() < 2 || !n.inputs[0] || !n.inputs[1]) return {};
  if (AttrString(n, "auto_pad") != "NOTSET" || !f.value(n.inputs[1]).constant) return {};
  const Type &x = f.value(n.inputs[0]).type, &w = g.consts[f.value(n.inputs[1]).constant].type;
  if (!w.is_static() || x.rank() < 3 || x.rank() != w.rank()) return {};
  const std::vector<int64_t> kernel = w.static_dims();
  const std::vector<int64_t>&strides = AttrInts(n, "strides"),
        &dilations = AttrInts(n, "dilations"), &pads = AttrInts(n, "pads");
  const size_t spatial = x.rank() - 2;
  std::vector<Axis> axes;
  for (size_t i = 0; i < spatial; ++i) {
    const Dim& size = x.dims[i + 2];
    const auto known = size.known() ? std::optional(size.value) : std::nullopt;
    axes.push_back({known, kernel[i + 2], At(strides, i, 1), At(dilations, i, 1), At(pads, i, 0),
                    At(pads, i + spatial, 0)});
    if (!axes.back().IsSane()) return {};
  }
  return axes;
}

ValueId Ints(Transaction& t, FunctionId fn, const std::vector<int64_t>& numbers, std::string name) {
  const Type type = TensorType(DType::kInt64, std::vector<int64_t>{std::ssize(numbers)});
  return t.AddConst(
      fn, MakeConst(type, numbers.data(), numbers.size() * sizeof(int64_t), std::move(name)));
}

void CutTaps(Transaction& t, FunctionId fn, const Node& n) {
  std::vector<Axis> axes = AxesOf(t.graph(), t.graph().fn(fn), n);
  std::vector<int64_t> which, starts, ends;
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& a = axes[i];
    const auto [first, last] = KeptOf(a);
    if (first == 0 && last == a.kernel - 1) continue;
    which.push_back(static_cast<int64_t>(i) + 2);
    starts.push_back(first);
    ends.push_back(last + 1);
    a.begin -= first * a.dilation;
    a.end -= (a.kernel - 1 - last) * a.dilation;
    a.kernel = last - first + 1;
    if (a.kernel == 1) a.dilation = 1;
  }
  if (which.empty()) return;
  const Node conv = n;
  const std::string name = NodeLabel(conv) + "_taps";
  const Type w = t.graph().fn(fn).value(conv.inputs[1]).type;
  std::vector<int64_t> dims = w.static_dims(), kernel, dilations, pads(2 * axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    kernel.push_back(dims[i + 2] = axes[i].kernel);
    dilations.push_back(axes[i].dilation);
    pads[i] = axes[i].begin;
    pads[i + axes.size()] = axes[i].end;
  }
  const ValueId from = Ints(t, fn, starts, name + "_starts"),
                to = Ints(t, fn, ends, name + "_ends"), along = Ints(t, fn, which, name + "_axes");
  const ValueId cut = t.AddNode(fn, conv.id, "", "Slice", {conv.inputs[1], from, to, along}, {},
                                {TensorType(w.dtype, dims)}, {&conv})[0];
  t.SetInput(fn, conv.id, 1, cut);
  t.SetAttr(fn, conv.id, Attr{"kernel_shape", std::move(kernel)});
  t.SetAttr(fn, conv.id, Attr{"dilations", std::move(dilations)});
  t.SetAttr(fn, conv.id, Attr{"pads", std::move(pads)});
}

}  // namespace

Status FoldTaps::Run(Transaction& transaction, const PassContext&) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i)
      CutTaps(transaction, fn, transaction.graph().fn(fn).nodes[i]);
  }
  return {};
}

}  // namespace ge
