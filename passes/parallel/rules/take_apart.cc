#include "passes/parallel/rules/take_apart.h"

#include <algorithm>
#include <vector>

#include "ge/ge_plugin.hpp"

namespace ge::parallel {
namespace {

using passes::Attrs;
using passes::CopyNodes;
using passes::Fn;
using passes::Type;
using passes::Val;

// Of N x C x ..., each channel by itself.
class Channels {
 public:
  explicit Channels(const Type& x) {
    for (int32_t d = 0; d < x.rank; ++d) {
      if (d != 1) summed_.push_back(d);
      if (d > 1) behind_.push_back(d - 1);
    }
    each_ = static_cast<double>(x.elements()) / static_cast<double>(x.dims[1].value);
  }
  Val Sum(Val v) const { return passes::ReduceSum(v, summed_, false); }
  Val Mean(Val v) const { return Sum(v) / each_; }
  // A row of a number for each channel, against the whole.
  Val Wide(Val row) const { return behind_.empty() ? row : passes::Unsqueeze(row, behind_); }

 private:
  std::vector<int64_t> summed_, behind_;
  double each_ = 1;
};

struct BatchMoments {
  Val mean, centred, variance;
};

BatchMoments MomentsOf(const Channels& by, Val x) {
  const Val mean = by.Mean(x), centred = x - by.Wide(mean);
  return {mean, centred, by.Mean(centred * centred)};
}

struct Parts {
  const ge_graph* g;
  const ge_node& n;
  CopyNodes& copy;
  Fn& to;
  Val in(uint32_t i) const { return copy.Get(n.in[i]); }
  void Give(uint32_t i, Val v) const {
    if (i < n.n_out && n.out[i] != 0) copy.Set(n.out[i], v);
  }
  double epsilon() const { return plugin::AttrFloat(n, "epsilon"); }
};

// Y, mean, variance = (x - mean) * scale / deviation + B.
bool PutNorm(const Parts& p) {
  const Type type = p.to.TypeOf(p.in(0));
  if (!type.known() || type.rank < 2 || type.elements() == 0) return false;
  const Channels by(type);
  const BatchMoments m = MomentsOf(by, p.in(0));
  const Val scale = p.in(1) / passes::Sqrt(m.variance + p.epsilon());
  p.Give(0, m.centred * by.Wide(scale) + by.Wide(p.in(2)));
  p.Give(1, m.mean);
  p.Give(2, m.variance);
  return true;
}

bool PutMoments(const Parts& p) {
  const Type type = p.to.TypeOf(p.in(0));
  if (!type.known() || type.rank < 2 || type.elements() == 0) return false;
  const BatchMoments m = MomentsOf(Channels(type), p.in(0));
  p.Give(0, m.mean);
  p.Give(1, m.variance);
  return true;
}

// With u = (x - mean) / deviation: (dY - mean of dY - u * mean of dY u) * scale / deviation.
bool PutNormGrad(const Parts& p) {
  const Type type = p.to.TypeOf(p.in(1));
  if (!type.known() || type.rank < 2 || type.elements() == 0) return false;
  const Channels by(type);
  const Val dy = p.in(0), x = p.in(1), scale = p.in(2), mean = p.in(3);
  const Val deviation = passes::Sqrt(p.in(4) + p.epsilon());
  const double each =
      static_cast<double>(type.elements()) / static_cast<double>(type.dims[1].value);
  const Val u = (x - by.Wide(mean)) / by.Wide(deviation);
  const Val of_scale = by.Sum(dy * u), of_shift = by.Sum(dy);
  const Val rest = dy - by.Wide(of_shift / each) - u * by.Wide(of_scale / each);
  p.Give(0, rest * by.Wide(scale / deviation));
  p.Give(1, of_scale);
  p.Give(2, of_shift);
  return true;
}

// A mean over samples, and maybe over more axes.
bool PutMean(const Parts& p) {
  const Type type = p.to.TypeOf(p.in(0));
  std::vector<int64_t> axes;
  if (!type.known() || !passes::IsFloat(type.dtype) || type.elements() == 0) return false;
  if (p.n.n_in > 1 && p.n.in[1] != 0 && !passes::KnownInts(*GE_VALUE(p.g, p.n.in[1]), &axes)) {
    return false;
  }
  if (axes.empty() && plugin::AttrInt(p.n, "noop_with_empty_axes") != 0) return false;
  for (int64_t& a : axes) a += a < 0 ? type.rank : 0;
  const bool all = axes.empty();  // omitted, or a list of none
  for (int32_t d = 0; all && d < type.rank; ++d) axes.push_back(d);
  if (std::count(axes.begin(), axes.end(), 0) == 0) return false;
  double each = 1;
  for (const int64_t a : axes) each *= static_cast<double>(type.dims[static_cast<size_t>(a)].value);
  const bool kept = plugin::AttrInt(p.n, "keepdims", 1) != 0;
  p.Give(0, passes::ReduceSum(p.in(0), axes, kept) / each);
  return true;
}

}  // namespace

bool TakeApart(const ge_graph* graph, const ge_node& n, CopyNodes& copy, Fn& to) {
  const Parts p{graph, n, copy, to};
  if (plugin::View(n.domain) == "ge") {
    const std::string_view op = plugin::View(n.op);
    if (op == "BatchNormalizationTraining") return PutNorm(p);
    if (op == "BatchNormalizationGrad") return PutNormGrad(p);
    return op == "ChannelMoments" && PutMoments(p);
  }
  return plugin::IsOp(n, "ReduceMean") && PutMean(p);
}

}  // namespace ge::parallel
