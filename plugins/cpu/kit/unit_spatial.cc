// Parsing of convolutions, pools, products and of operators that move elements.
#include <cmath>
#include <cstring>

#include "plugins/cpu/kit/unit.h"

namespace ge_cpu {

namespace {

Dims Or(gp::Span<int64_t> list, size_t n, int64_t absent) {
  return list.size() == n ? Dims(list.begin(), list.end()) : Dims(n, absent);
}

}  // namespace

// Strides, dilations and both paddings of a sliding window, auto_pad resolved against the result's
// dims. For a transposed convolution src and dst change roles.
bool Parser::Window(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel,
                    bool transposed, Dims* stride, Dims* dilation, Dims* pad_l, Dims* pad_r,
                    Why* why) const {
  const size_t s = kernel.size();
  *stride = Or(gp::AttrInts(n, "strides"), s, 1);
  *dilation = Or(gp::AttrInts(n, "dilations"), s, 1);
  const auto pads = gp::AttrInts(n, "pads");
  const std::string_view mode = gp::AttrString(n, "auto_pad");
  const Dims& in = transposed ? dst : src;
  const Dims& out = transposed ? src : dst;
  pad_l->assign(s, 0);
  pad_r->assign(s, 0);
  for (size_t k = 0; k < s; ++k) {
    if ((*stride)[k] < 1 || (*dilation)[k] < 1 || kernel[k] < 1) {
      return why->Say(GE_WHY_ATTRIBUTE, "stride, dilation or kernel below 1");
    }
    const int64_t span = (kernel[k] - 1) * (*dilation)[k] + 1;
    const int64_t need = (out[k + 2] - 1) * (*stride)[k] + span - in[k + 2];
    if (mode == "NOTSET" && pads.size() == 2 * s) {
      (*pad_l)[k] = pads[k];
    } else if (mode == "SAME_UPPER") {
      (*pad_l)[k] = std::max<int64_t>(need, 0) / 2;
    } else if (mode == "SAME_LOWER") {
      (*pad_l)[k] = (std::max<int64_t>(need, 0) + 1) / 2;
    }
    // What the result's shape implies; a window that ends before the border leaves it negative.
    (*pad_r)[k] = need - (*pad_l)[k];
    if ((*pad_l)[k] < 0 || (*pad_l)[k] >= span + (transposed ? in[k + 2] : 0)) {
      return why->Say(GE_WHY_ATTRIBUTE, "padding is negative or not smaller than the kernel");
    }
  }
  return true;
}

bool Parser::ConvShape(uint32_t i, uint32_t x, uint32_t w, ConvSpec* spec, Why* why) const {
  const ge_node& n = node(i);
  if (n.n_in <= w || n.in[w] == 0) return why->Say(GE_WHY_SHAPE, "no weights");
  ConvSpec& c = *spec;
  c.src = dims(n.in[x]);
  c.weights = dims(n.in[w]);
  c.dst = dims(n.out[0]);
  c.groups = gp::AttrInt(n, "group");
  if (c.src.size() < 3 || c.src.size() > 5) {
    return why->Say(GE_WHY_SHAPE, "rank " + std::to_string(c.src.size()) + ", only 3 to 5");
  }
  if (!constant(n.in[w])) return why->Say(GE_WHY_DYNAMIC, "weights are not constant");
  if (c.weights.size() != c.src.size() || c.groups < 1 || c.weights[0] % c.groups != 0 ||
      c.weights[1] * c.groups != c.src[1] || c.weights[0] != c.dst[1]) {
    return why->Say(GE_WHY_SHAPE, "weights " + ToText(c.weights) + " do not fit the input");
  }
  const Dims kernel(c.weights.begin() + 2, c.weights.end());
  if (!Window(n, c.src, c.dst, kernel, false, &c.stride, &c.dilation, &c.pad_l, &c.pad_r, why)) {
    return false;
  }
  if (c.groups > 1) {
    c.weights[0] /= c.groups;
    c.weights.insert(c.weights.begin(), c.groups);
  }
  return true;
}

bool Parser::Conv(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  if (!ConvShape(i, 0, 1, &u->spec.emplace<ConvSpec>(), why)) return false;
  u->in.push_back(n.in[1]);
  if (n.n_in > 2 && n.in[2] != 0) {
    if (!constant(n.in[2])) return why->Say(GE_WHY_DYNAMIC, "bias is not constant");
    u->bias.push_back(n.in[2]);
  }
  return true;
}

bool Parser::ConvTranspose(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  if (n.n_in < 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "no weights");
  auto& c = u->spec.emplace<ConvSpec>();
  c.transposed = true;
  c.src = dims(n.in[0]);
  c.dst = u->dims;
  c.groups = gp::AttrInt(n, "group");
  const Dims w = dims(n.in[1]);
  if (c.src.size() < 3 || c.src.size() > 5) {
    return why->Say(GE_WHY_SHAPE, "rank " + std::to_string(c.src.size()) + ", only 3 to 5");
  }
  if (!constant(n.in[1])) return why->Say(GE_WHY_DYNAMIC, "weights are not constant");
  if (c.groups != 1) return why->Say(GE_WHY_ATTRIBUTE, "group is not 1");
  if (w.size() != c.src.size() || w[0] != c.src[1] || w[1] != c.dst[1]) {
    return why->Say(GE_WHY_SHAPE, "weights " + ToText(w) + " do not fit the input");
  }
  c.weights = w;
  std::swap(c.weights[0], c.weights[1]);  // output channels first
  const Dims kernel(w.begin() + 2, w.end());
  if (gp::AttrString(n, "auto_pad") != "NOTSET") {
    return why->Say(GE_WHY_ATTRIBUTE, "auto_pad is not NOTSET");
  }
  if (!Window(n, c.src, c.dst, kernel, true, &c.stride, &c.dilation, &c.pad_l, &c.pad_r, why)) {
    return false;
  }
  u->in.push_back(n.in[1]);
  if (n.n_in > 2 && n.in[2] != 0) {
    if (!constant(n.in[2])) return why->Say(GE_WHY_DYNAMIC, "bias is not constant");
    u->bias.push_back(n.in[2]);
  }
  return true;
}

bool Parser::Pool(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  auto& p = u->spec.emplace<PoolSpec>();
  p.max = gp::View(n.op) == "MaxPool";
  p.src = dims(n.in[0]);
  p.dst = u->dims;
  if (p.src.size() < 3 || p.src.size() > 5) {
    return why->Say(GE_WHY_SHAPE, "rank " + std::to_string(p.src.size()) + ", only 3 to 5");
  }
  if (n.n_out > 1 && n.out[1] != 0) return why->Say(GE_WHY_ATTRIBUTE, "Indices are not computed");
  const auto kernel = gp::AttrInts(n, "kernel_shape");
  if (kernel.size() != p.src.size() - 2) return why->Say(GE_WHY_ATTRIBUTE, "no kernel_shape");
  p.kernel.assign(kernel.begin(), kernel.end());
  Dims dilation;
  if (!Window(n, p.src, p.dst, p.kernel, false, &p.stride, &dilation, &p.pad_l, &p.pad_r, why)) {
    return false;
  }
  for (int64_t d : dilation) {
    if (d != 1) return why->Say(GE_WHY_ATTRIBUTE, "dilations are not taken");
  }
  p.count_pad = gp::AttrInt(n, "count_include_pad") != 0;
  const auto pads = gp::AttrInts(n, "pads");
  for (size_t k = 0; k < p.kernel.size(); ++k) {
    if (p.pad_r[k] >= p.kernel[k]) {
      return why->Say(GE_WHY_SHAPE, "a window lies wholly in the padding");
    }
    const int64_t stated = pads.size() == 2 * p.kernel.size() ? pads[k + p.kernel.size()] : 0;
    if (!p.max && p.count_pad && p.pad_r[k] > stated) {
      return why->Say(GE_WHY_NUMERICS, "ceil_mode with count_include_pad");
    }
  }
  return true;
}

bool Parser::MatMul(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  if (n.n_in != 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  u->spec = ProductSpec();
  u->in.push_back(n.in[1]);
  const Dims a = dims(n.in[0]), b = dims(n.in[1]);
  if (a.size() < 2 || b.size() < 2) return why->Say(GE_WHY_SHAPE, "a vector operand");
  if (b.size() == 2) return true;
  // Batches must agree, or one operand must have none.
  const Dims batch_a(a.begin(), a.end() - 2), batch_b(b.begin(), b.end() - 2);
  if (Product(batch_a) != 1 && Product(batch_b) != 1 && batch_a != batch_b) {
    return why->Say(GE_WHY_SHAPE, "batches " + ToText(batch_a) + " and " + ToText(batch_b) +
                                      " need broadcasting");
  }
  return true;
}

bool Parser::Gemm(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  if (n.n_in < 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  auto& s = u->spec.emplace<ProductSpec>();
  u->in.push_back(n.in[1]);
  s.trans_a = gp::AttrInt(n, "transA") != 0;
  s.trans_b = gp::AttrInt(n, "transB") != 0;
  s.alpha = static_cast<float>(gp::AttrFloat(n, "alpha"));
  s.beta = static_cast<float>(gp::AttrFloat(n, "beta"));
  if (s.alpha != 1) {
    u->posts.push_back({Fn::kLinear, s.alpha, 0, 0, nullptr});
  }
  if (n.n_in < 3 || n.in[2] == 0) return true;
  const uint32_t c = n.in[2];
  if (s.alpha == 1 && constant(c) &&
      (dims(c) == Dims{u->dims[1]} || dims(c) == Dims{1, u->dims[1]})) {
    u->bias.push_back(c);
  } else if (s.beta == 1) {
    Post p;
    p.fn = Fn::kAdd;
    p.operand = c;
    u->posts.push_back(p);
  } else {
    return why->Say(GE_WHY_ATTRIBUTE, "beta is not 1 and C is no constant row");
  }
  return true;
}

bool Parser::Concat(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  auto& axis = u->spec.emplace<ConcatSpec>().axis;
  axis = static_cast<int>(gp::AttrInt(n, "axis"));
  if (axis < 0) axis += static_cast<int>(u->dims.size());
  if (axis < 0 || axis >= static_cast<int>(u->dims.size())) {
    return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  }
  u->in.assign(n.in, n.in + n.n_in);
  for (uint32_t v : u->in) {
    if (v == 0 || Product(dims(v)) == 0) return why->Say(GE_WHY_SHAPE, "an input without elements");
    if (dtype(v) != dtype(u->out[0])) return why->Say(GE_WHY_DTYPE, "inputs differ in dtype");
  }
  return true;
}

bool Parser::Resize(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  const std::string_view mode = gp::AttrString(n, "mode");
  const std::string_view where = gp::AttrString(n, "coordinate_transformation_mode");
  const std::string_view round = gp::AttrString(n, "nearest_mode");
  // With whole factors both of these read element floor(x / factor).
  const bool floor = where == "asymmetric" && round == "floor";
  const bool half =
      where == "half_pixel" && (round == "round_prefer_floor" || round == "round_prefer_ceil");
  bool whole = mode == "nearest" && (floor || half) && gp::AttrInts(n, "axes").size() == 0;
  const Dims x = dims(n.in[0]);
  Dims factors;
  for (size_t k = 0; k < x.size() && whole; ++k) {
    whole = u->dims[k] % x[k] == 0;
    factors.push_back(u->dims[k] / x[k]);
  }
  // A fractional scale can give the same dims as a whole one but other coordinates.
  if (whole && n.n_in > 2 && n.in[2] != 0 && Product(dims(n.in[2])) > 0) {
    if (!constant(n.in[2])) return why->Say(GE_WHY_DYNAMIC, "scales are not constant");
    const std::vector<float> s = Floats(n.in[2]);
    for (size_t k = 0; k < s.size() && k < x.size(); ++k) {
      whole = whole && s[k] == static_cast<float>(factors[k]);
    }
  }
  if (!whole) return Resample(i, u, why);
  u->spec = ResizeSpec{std::move(factors)};
  return true;
}

bool Parser::View(uint32_t, Unit* u, Why* why) const {
  u->spec = ViewSpec();
  if (Product(dims(u->in[0])) != Product(u->dims)) return why->Say(GE_WHY_SHAPE, "element counts");
  if (dtype(u->in[0]) != dtype(u->out[0])) return why->Say(GE_WHY_DTYPE, "input and output differ");
  return true;
}

bool Parser::Transpose(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  auto& axes = u->spec.emplace<TransposeSpec>().perm;
  const auto perm = gp::AttrInts(n, "perm");
  const size_t rank = u->dims.size();
  for (size_t k = 0; k < rank; ++k) {
    axes.push_back(perm.size() == rank ? perm[k] : static_cast<int64_t>(rank - 1 - k));
    if (axes[k] < 0 || axes[k] >= static_cast<int64_t>(rank)) {
      return why->Say(GE_WHY_ATTRIBUTE, "perm is out of range");
    }
  }
  return true;
}

bool Parser::Slice(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  const Dims x = dims(n.in[0]);
  Dims start, axes, step;
  if (n.n_in < 3 || !Integers(n.in[1], &start)) {
    return why->Say(GE_WHY_DYNAMIC, "starts are not constant");
  }
  if (n.n_in > 3 && n.in[3] != 0) {
    if (!Integers(n.in[3], &axes)) return why->Say(GE_WHY_DYNAMIC, "axes are not constant");
  } else {
    for (size_t k = 0; k < start.size(); ++k) axes.push_back(static_cast<int64_t>(k));
  }
  step.assign(start.size(), 1);
  if (n.n_in > 4 && n.in[4] != 0 && !Integers(n.in[4], &step)) {
    return why->Say(GE_WHY_DYNAMIC, "steps are not constant");
  }
  if (axes.size() != start.size() || step.size() != start.size()) {
    return why->Say(GE_WHY_SHAPE, "starts, axes and steps differ in length");
  }
  Box box{Dims(x.size(), 0), Dims(x.size(), 1)};
  for (size_t k = 0; k < start.size(); ++k) {
    const int64_t a = axes[k] < 0 ? axes[k] + static_cast<int64_t>(x.size()) : axes[k];
    if (a < 0 || a >= static_cast<int64_t>(x.size())) return why->Say(GE_WHY_SHAPE, "bad axis");
    if (step[k] < 1) return why->Say(GE_WHY_ATTRIBUTE, "a step below 1");
    const size_t at = static_cast<size_t>(a);
    int64_t b = start[k] < 0 ? start[k] + x[at] : start[k];
    b = std::min(std::max<int64_t>(b, 0), x[at]);
    if (b + (u->dims[at] - 1) * step[k] >= x[at]) return why->Say(GE_WHY_SHAPE, "out of range");
    box.start[at] = b;
    box.step[at] = step[k];
  }
  u->spec = SliceSpec{{box}};
  return true;
}

bool Parser::Split(uint32_t i, Unit* u, Why* why) const {
  const ge_node& n = node(i);
  auto& boxes = u->spec.emplace<SliceSpec>().boxes;
  const Dims x = dims(n.in[0]);
  const int64_t rank = static_cast<int64_t>(x.size());
  int64_t axis = gp::AttrInt(n, "axis");
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return why->Say(GE_WHY_ATTRIBUTE, "axis is out of range");
  int64_t at = 0;
  u->out.clear();
  for (uint32_t k = 0; k < n.n_out; ++k) {
    if (n.out[k] == 0) return why->Say(GE_WHY_SHAPE, "an omitted output");
    Box box{Dims(x.size(), 0), Dims(x.size(), 1)};
    box.start[static_cast<size_t>(axis)] = at;
    at += dims(n.out[k])[static_cast<size_t>(axis)];
    boxes.push_back(box);
    u->out.push_back(n.out[k]);
  }
  if (at != x[static_cast<size_t>(axis)]) return why->Say(GE_WHY_SHAPE, "outputs do not add up");
  return true;
}

}  // namespace ge_cpu
