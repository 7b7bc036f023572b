#include "passes/fold/fold_branches.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "ge/base/aligned.h"
#include "ge/ops/op.h"
#include "passes/fold/affine.h"
#include "passes/fold/floats.h"

namespace ge {
namespace {

constexpr int64_t kLargest = INT32_MAX / 4;  // of any number here; products of two do not overflow

// One spatial axis of a branch.
struct Side {
  int64_t kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0;

  bool IsSane() const {
    const auto within = [](int64_t n, int64_t least) { return n >= least && n <= kLargest; };
    return within(kernel, 1) && within(stride, 1) && within(dilation, 1) && within(begin, 0) &&
           within(end, 0);
  }
  // How much longer the result is than the axis, before strides.
  int64_t Longer() const { return begin + end - (kernel - 1) * dilation; }
};

struct Branch {
  Node node;
  ValueId x = 0, weight = 0, bias = 0;  // weight: 0 = a normalisation, see `affine`
  std::vector<int64_t> dims;            // of the weights
  std::vector<Side> axes;
  int64_t group = 1;
  std::optional<Affine> affine;  // without a node: the tensor itself
};

int64_t NumberAt(const std::vector<int64_t>& list, size_t i, int64_t otherwise) {
  return i < list.size() ? list[i] : otherwise;
}

class BranchFolder {
 public:
  BranchFolder(Transaction* t, FunctionId fn, const PassContext& context)
      : t_(*t), fn_(fn), context_(context) {}

  void TryAdd(const Node& n) {
    if (!n.id || !n.domain.empty() || n.op != "Add" || n.inputs.size() != 2) return;
    if (!n.effects.empty() || !n.after.empty() || !n.inputs[0] || !n.inputs[1]) return;
    const Node add = n;
    std::optional<Branch> a = Read(add.inputs[0]), b = Read(add.inputs[1]);
    if (a && !b) b = Itself(*a, add.inputs[1]);
    if (b && !a) a = Itself(*b, add.inputs[0]);
    if (!a || !b || a->x != b->x || (a->affine && b->affine)) return;
    if (a->affine || (!b->affine && !IsInside(*b, *a))) std::swap(a, b);
    if (b->affine ? !AsDiagonal(*a, &*b) : !IsInside(*b, *a)) return;
    if (!t_.CanReplace(fn_, add.outputs[0], a->node.outputs[0])) return;
    Merge(add, *a, *b);
  }

 private:
  const Function& f() const { return t_.graph().fn(fn_); }
  bool IsFloats(ValueId v) const {
    const Type& type = f().value(v).type;
    return f().value(v).constant && type.dtype == DType::kFloat && type.is_static();
  }

  std::optional<Branch> Read(ValueId v) {
    const Node* n = t_.Producer(fn_, v);
    if (!n || !n->domain.empty() || !n->effects.empty() || !n->after.empty()) return std::nullopt;
    if (n->inputs.empty() || !n->inputs[0] || t_.IsResult(fn_, v)) return std::nullopt;
    if (t_.Readers(fn_, v).size() != 1) return std::nullopt;
    Branch b;
    b.node = *n;
    b.x = n->inputs[0];
    if (n->op == "BatchNormalization") {
      b.affine = AffineOf(t_.graph(), f(), *n);
      return b.affine ? std::optional(std::move(b)) : std::nullopt;
    }
    return n->op == "Conv" && ReadConvolution(&b) ? std::optional(std::move(b)) : std::nullopt;
  }

  // The tensor that a convolution reads, added to its result. Only where weights are few or made
  // anew anyway: engines add a tensor to a result at little cost, and weights of a file need no
  // copy.
  std::optional<Branch> Itself(const Branch& conv, ValueId v) const {
    if (conv.affine || v != conv.x) return std::nullopt;
    if (conv.dims[1] != 1 && !mine_.count(conv.weight)) return std::nullopt;
    Branch b;
    b.x = v;
    b.affine.emplace();
    b.affine->factor.assign(static_cast<size_t>(conv.dims[0]), 1.0);
    return b;
  }

  bool ReadConvolution(Branch* b) const {
    const Node& n = b->node;
    if (n.inputs.size() < 2 || n.outputs.size() != 1 || !n.inputs[1]) return false;
    if (AttrString(n, "auto_pad") != "NOTSET" || !IsFloats(n.inputs[1])) return false;
    b->weight = n.inputs[1];
    b->bias = n.inputs.size() > 2 ? n.inputs[2] : 0;
    b->dims = f().value(b->weight).type.static_dims();
    if (b->bias && (!IsFloats(b->bias) ||
                    f().value(b->bias).type.static_dims() != std::vector<int64_t>{b->dims[0]})) {
      return false;
    }
    b->group = AttrInt(n, "group");
    const std::vector<int64_t>&strides = AttrInts(n, "strides"),
          &dilations = AttrInts(n, "dilations"), &pads = AttrInts(n, "pads");
    for (size_t i = 2; i < b->dims.size(); ++i) {
      const size_t k = i - 2, spatial = b->dims.size() - 2;
      b->axes.push_back({b->dims[i], NumberAt(strides, k, 1), NumberAt(dilations, k, 1),
                         NumberAt(pads, k, 0), NumberAt(pads, k + spatial, 0)});
      if (!b->axes.back().IsSane()) return false;
    }
    return !b->axes.empty() && b->group >= 1 && b->dims[0] >= 1 && b->dims[1] >= 1;
  }

  // Whether each place of its result reads what the larger one reads there, or less of it.
  static bool IsInside(const Branch& small, const Branch& large) {
    const bool alike = small.group == large.group && small.axes.size() == large.axes.size() &&
                       small.dims[0] == large.dims[0] && small.dims[1] == large.dims[1];
    if (!alike) return false;
    for (size_t i = 0; i < small.axes.size(); ++i) {
      const Side &s = small.axes[i], &l = large.axes[i];
      if (s.stride != l.stride || s.Longer() != l.Longer()) return false;
      if (s.kernel > 1 && s.dilation != l.dilation) return false;
      const int64_t before = l.begin - s.begin;
      if (before < 0 || before % l.dilation || before / l.dilation + s.kernel > l.kernel)
        return false;
    }
    return true;
  }

  // The normalisation as a window of 1x1 with the groups of the convolution.
  static bool AsDiagonal(const Branch& beside, Branch* norm) {
    const auto channels = std::ssize(norm->affine->factor);
    if (beside.dims[0] != channels || beside.dims[1] * beside.group != channels) return false;
    norm->axes.assign(beside.axes.size(), Side());
    norm->dims.assign(beside.dims.size(), 1);
    norm->dims[0] = channels;
    norm->dims[1] = beside.dims[1];
    norm->group = beside.group;
    return IsInside(*norm, beside);
  }

  // The elements of an input of the convolution, which from here on are its own: a copy, unless
  // this run has made one before. Null where the budget or the memory does not allow it.
  float* Own(const Branch& b, uint32_t slot, ValueId from, const std::vector<int64_t>& dims) {
    if (const auto known = mine_.find(from); known != mine_.end()) return known->second;
    const Type type = TensorType(DType::kFloat, dims);
    const auto bytes = static_cast<uint64_t>(ByteCount(type).value_or(0));
    const auto effort = 2.0 * static_cast<double>(bytes);
    if (context_.budget && !context_.budget->Take(static_cast<int64_t>(bytes), effort))
      return nullptr;
    std::shared_ptr<std::byte> block = AllocateShared(bytes);
    if (!block || !CopyTo(from, bytes, block.get())) return nullptr;
    auto* const data = reinterpret_cast<float*>(block.get());
    Const c;
    c.name =
        (from ? f().value(from).name : NodeLabel(b.node)) + "_branches" + std::to_string(b.node.id);
    c.type = type;
    c.bytes = bytes;
    c.data = block.get();
    c.owner = std::move(block);
    const ValueId own = t_.AddConst(fn_, std::move(c));
    t_.SetInput(fn_, b.node.id, slot, own);
    mine_[own] = data;
    return data;
  }

  // Zeros for an absent bias.
  bool CopyTo(ValueId from, uint64_t bytes, std::byte* to) const {
    if (!from) return std::memset(to, 0, bytes) != nullptr;
    const Const& c = t_.graph().consts[f().value(from).constant];
    ConstScratch scratch;
    const std::byte* data = ConstBytes(c, &scratch);
    if (!data) return false;
    std::memcpy(to, data, bytes);
    if (context_.done_reading && c.mapped) context_.done_reading(c.data, c.bytes);
    return true;
  }

  // Adds windows of the smaller one, row by row, to where they lie in those of the larger one.
  static void AddWindows(const Branch& small, const std::byte* from, const Branch& large,
                         float* to) {
    const size_t n = large.axes.size();
    const int64_t row = small.axes[n - 1].kernel;
    std::vector<int64_t> at(n), first(n);
    for (size_t i = 0; i < n; ++i) {
      first[i] = (large.axes[i].begin - small.axes[i].begin) / large.axes[i].dilation;
    }
    const int64_t windows = large.dims[0] * large.dims[1];
    std::vector<float> piece(static_cast<size_t>(row));
    for (int64_t w = 0; w < windows; ++w) {
      std::fill(at.begin(), at.end(), 0);
      for (bool more = true; more;) {
        int64_t place = w;
        for (size_t i = 0; i < n; ++i) place = place * large.axes[i].kernel + first[i] + at[i];
        std::memcpy(piece.data(), from, piece.size() * sizeof(float));
        for (int64_t k = 0; k < row; ++k) to[place + k] += piece[static_cast<size_t>(k)];
        from += piece.size() * sizeof(float);
        more = false;
        for (size_t i = n - 1; i-- > 0 && !more;) {
          more = ++at[i] < small.axes[i].kernel;
          if (!more) at[i] = 0;
        }
      }
    }
  }

  static void AddDiagonal(const Branch& norm, const Branch& large, float* to) {
    int64_t window = 1, place = 0;
    for (const Side& s : large.axes) {
      window *= s.kernel;
      place = place * s.kernel + s.begin / s.dilation;
    }
    for (int64_t c = 0; c < large.dims[0]; ++c) {
      const int64_t at = (c * large.dims[1] + c % large.dims[1]) * window + place;
      to[at] += static_cast<float>(norm.affine->factor[static_cast<size_t>(c)]);
    }
  }

  // What it adds to each channel beside its products; empty = nothing, nullopt = it cannot be read.
  std::optional<std::vector<float>> ShiftOf(const Branch& small) const {
    if (small.affine) {
      return std::vector<float>(small.affine->shift.begin(), small.affine->shift.end());
    }
    if (!small.bias) return std::vector<float>();
    return FloatsOf(t_.graph(), f(), small.bias);
  }

  void Merge(const Node& add, const Branch& large, const Branch& small) {
    // Both are made before the first is changed.
    ConstScratch scratch;
    const std::byte* from =
        small.affine ? nullptr
                     : ConstBytes(t_.graph().consts[f().value(small.weight).constant], &scratch);
    const std::optional<std::vector<float>> shift = ShiftOf(small);
    if ((!small.affine && !from) || !shift) return;
    float* const bias = shift->empty() ? nullptr : Own(large, 2, large.bias, {large.dims[0]});
    if (!bias && !shift->empty()) return;
    float* const weight = Own(large, 1, large.weight, large.dims);
    if (!weight) return;
    if (small.affine) {
      AddDiagonal(small, large, weight);
    } else {
      AddWindows(small, from, large, weight);
      const Const& c = t_.graph().consts[f().value(small.weight).constant];
      if (context_.done_reading && c.mapped) context_.done_reading(c.data, c.bytes);
    }
    for (size_t i = 0; i < shift->size(); ++i) bias[i] += (*shift)[i];
    t_.AddOrigin(fn_, large.node.id, add);
    t_.ForgetName(fn_, large.node.outputs[0]);
    t_.ReplaceUses(fn_, add.outputs[0], large.node.outputs[0]);
    t_.Erase(fn_, add.id);
    if (!small.node.id) return;  // the tensor itself
    t_.AddOrigin(fn_, large.node.id, small.node);
    t_.Erase(fn_, small.node.id);
  }

  Transaction& t_;
  const FunctionId fn_;
  const PassContext& context_;
  std::map<ValueId, float*> mine_;  // constants that this run has made, each of one convolution
};

}  // namespace

Status FoldBranches::Run(Transaction& transaction, const PassContext& context) {
  for (FunctionId fn = 1; fn < transaction.graph().functions.size(); ++fn) {
    BranchFolder folder(&transaction, fn, context);
    const size_t count = transaction.graph().fn(fn).nodes.size();
    for (size_t i = 0; i < count; ++i) folder.TryAdd(transaction.graph().fn(fn).nodes[i]);
  }
  return {};
}

}  // namespace ge
