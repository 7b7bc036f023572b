// Parsing of convolutions, pools and products.
#include "plugins/cpu/kit/parse.h"

namespace ge_engines::cpu {

namespace {

Dims Or(gp::Span<int64_t> list, size_t n, int64_t absent) {
  return list.size() == n ? Dims(list.begin(), list.end()) : Dims(n, absent);
}

// Strides, dilations and both paddings of a sliding window, auto_pad resolved against the result's
// dims. For a transposed convolution src and dst change roles; a stated output_shape makes its
// pads, whatever `pads` says, and what output_padding adds counts as cut.
bool Window(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel, bool transposed,
            Dims* stride, Dims* dilation, Dims* pad_l, Dims* pad_r, Why* why) {
  const size_t s = kernel.size();
  *stride = Or(gp::AttrInts(n, "strides"), s, 1);
  *dilation = Or(gp::AttrInts(n, "dilations"), s, 1);
  const auto pads = gp::AttrInts(n, "pads");
  const std::string_view mode = gp::AttrString(n, "auto_pad");
  const bool upper = mode == "SAME_UPPER";
  const bool made =
      upper || mode == "SAME_LOWER" || (transposed && gp::AttrInts(n, "output_shape").size() == s);
  const Dims more = transposed ? Or(gp::AttrInts(n, "output_padding"), s, 0) : Dims(s, 0);
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
    if (made) {
      const int64_t total = std::max<int64_t>(need + more[k], 0);
      (*pad_l)[k] = upper ? total / 2 : total - total / 2;
    } else if (mode == "NOTSET" && pads.size() == 2 * s) {
      (*pad_l)[k] = pads[k];
    }
    // What the result's shape implies; a window that ends before the border leaves it negative.
    (*pad_r)[k] = need - (*pad_l)[k];
    if ((*pad_l)[k] < 0 || (*pad_l)[k] >= span + (transposed ? in[k + 2] : 0)) {
      return why->Say(GE_WHY_ATTRIBUTE, "padding is negative or not smaller than the kernel");
    }
  }
  return true;
}

}  // namespace

bool WindowOf(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel, Dims* stride,
              Dims* dilation, Dims* pad_l, Dims* pad_r, Why* why) {
  return Window(n, src, dst, kernel, false, stride, dilation, pad_l, pad_r, why);
}

bool ConvShapeOf(const ge_node& n, const Dims& x, const Dims& w, const Dims& y, ConvSpec* spec,
                 Why* why) {
  ConvSpec& c = *spec;
  c.src = x, c.weights = w, c.dst = y;
  c.groups = gp::AttrInt(n, "group");
  if (c.src.size() < 3 || c.src.size() > 5) {
    return why->Say(GE_WHY_SHAPE, "rank " + std::to_string(c.src.size()) + ", only 3 to 5");
  }
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

bool ParseConvShape(const Parser& g, uint32_t i, uint32_t x, uint32_t w, ConvSpec* spec, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in <= w || n.in[w] == 0) return why->Say(GE_WHY_SHAPE, "no weights");
  if (!g.constant(n.in[w])) return why->Say(GE_WHY_DYNAMIC, "weights are not constant");
  return ConvShapeOf(n, g.dims(n.in[x]), g.dims(n.in[w]), g.dims(n.out[0]), spec, why);
}

bool HasConstantWeights(const Unit& u, const Parser& p, Why* why) {
  if (!p.constant(u.in[1])) return why->Say(GE_WHY_DYNAMIC, "weights are not constant");
  return u.in.size() < 3 || why->Say(GE_WHY_DYNAMIC, "bias is not constant");
}

bool ParseConv(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in < 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "no weights");
  if (!ConvShapeOf(n, g.dims(n.in[0]), g.dims(n.in[1]), u->dims, &u->spec.emplace<ConvSpec>(),
                   why)) {
    return false;
  }
  u->in.push_back(n.in[1]);
  if (n.n_in < 3 || n.in[2] == 0) return true;
  // One that is not constant is read as it comes.
  (g.constant(n.in[2]) ? u->bias : u->in).push_back(n.in[2]);
  return true;
}

bool ParseConvTranspose(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in < 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "no weights");
  auto& c = u->spec.emplace<ConvSpec>();
  c.transposed = true;
  c.src = g.dims(n.in[0]);
  c.dst = u->dims;
  c.groups = gp::AttrInt(n, "group");
  const Dims w = g.dims(n.in[1]);
  if (c.src.size() < 3 || c.src.size() > 5) {
    return why->Say(GE_WHY_SHAPE, "rank " + std::to_string(c.src.size()) + ", only 3 to 5");
  }
  if (!g.constant(n.in[1])) return why->Say(GE_WHY_DYNAMIC, "weights are not constant");
  if (c.groups < 1 || w.size() != c.src.size() || w[0] != c.src[1] || w[0] % c.groups != 0 ||
      w[1] * c.groups != c.dst[1]) {
    return why->Say(GE_WHY_SHAPE, "weights " + ToText(w) + " do not fit the input");
  }
  c.weights = w;
  std::swap(c.weights[0], c.weights[1]);  // output channels first
  const Dims kernel(w.begin() + 2, w.end());
  if (!Window(n, c.src, c.dst, kernel, true, &c.stride, &c.dilation, &c.pad_l, &c.pad_r, why)) {
    return false;
  }
  if (c.groups > 1) {
    c.weights[1] /= c.groups;
    c.weights.insert(c.weights.begin(), c.groups);
  }
  u->in.push_back(n.in[1]);
  if (n.n_in > 2 && n.in[2] != 0) {
    if (!g.constant(n.in[2])) return why->Say(GE_WHY_DYNAMIC, "bias is not constant");
    u->bias.push_back(n.in[2]);
  }
  return true;
}

bool ParsePool(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& p = u->spec.emplace<PoolSpec>();
  p.max = gp::View(n.op) == "MaxPool";
  p.src = g.dims(n.in[0]);
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

bool ParseMatMul(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in != 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  u->spec = ProductSpec();
  u->in.push_back(n.in[1]);
  const Dims a = g.dims(n.in[0]), b = g.dims(n.in[1]);
  if (a.size() < 2 || b.size() < 2) return why->Say(GE_WHY_SHAPE, "a vector operand");
  if (b.size() == 2) return true;
  // Batches must agree, or one operand must have none.
  const auto batch = [](const Dims& d) {  // 1s in front say nothing
    const auto first = std::find_if(d.begin(), d.end() - 2, [](int64_t n) { return n != 1; });
    return Dims(first, d.end() - 2);
  };
  const Dims batch_a = batch(a), batch_b = batch(b);
  if (Product(batch_a) != 1 && Product(batch_b) != 1 && batch_a != batch_b) {
    return why->Say(GE_WHY_SHAPE, "batches " + ToText(batch_a) + " and " + ToText(batch_b) +
                                      " need broadcasting");
  }
  return true;
}

bool ParseTurn(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const auto perm = gp::AttrInts(g.node(i), "perm");
  const bool turns = perm.size() == 0 || (perm.size() == 2 && perm[0] == 1 && perm[1] == 0);
  if (u->dims.size() != 2 || !turns) return why->Say(GE_WHY_SHAPE, "not the transpose of a matrix");
  u->spec = TransposeSpec{{1, 0}};
  return true;
}

bool ParseGemm(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in < 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "needs two inputs");
  for (const Dims& d : {u->dims, g.dims(n.in[0]), g.dims(n.in[1])}) {
    if (d.size() != 2) return why->Say(GE_WHY_SHAPE, "matrices are wanted");
  }
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
  if (s.alpha == 1 && g.constant(c) &&
      (g.dims(c) == Dims{u->dims[1]} || g.dims(c) == Dims{1, u->dims[1]})) {
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

}  // namespace ge_engines::cpu
