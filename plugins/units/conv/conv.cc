#include "plugins/units/conv/conv.h"

#include "plugins/units/window.h"

namespace ge_engines {

bool ConvShapeOf(const ge_node& n, const Dims& x, const Dims& dims, const Dims& y, ConvSpec* spec,
                 Why* why) {
  ConvSpec& c = *spec;
  c.src = x;
  c.weights = dims;
  c.dst = y;
  c.groups = gp::AttrInt(n, "group");
  if (c.src.size() < 3 || c.src.size() > 5) {
    return why->Say(GE_WHY_SHAPE, "rank " + std::to_string(c.src.size()) + ", only 3 to 5");
  }
  if (c.weights.size() != c.src.size() || c.groups < 1 || c.weights[0] % c.groups != 0 ||
      c.weights[1] * c.groups != c.src[1] || c.weights[0] != c.dst[1]) {
    return why->Say(GE_WHY_SHAPE, "weights " + ToText(c.weights) + " do not fit the input");
  }
  const Dims kernel(c.weights.begin() + 2, c.weights.end());
  if (!WindowOf(n, c.src, c.dst, kernel, &c.stride, &c.dilation, &c.pad_l, &c.pad_r, why)) {
    return false;
  }
  if (c.groups > 1) {
    c.weights[0] /= c.groups;
    c.weights.insert(c.weights.begin(), c.groups);
  }
  return true;
}

bool ParseConvShape(const Parser& parser, uint32_t i, uint32_t x, uint32_t w, ConvSpec* spec,
                    Why* why) {
  const ge_node& n = parser.node(i);
  if (n.n_in <= w || n.in[w] == 0) return why->Say(GE_WHY_SHAPE, "no weights");
  if (!parser.constant(n.in[w])) return why->Say(GE_WHY_DYNAMIC, "weights are not constant");
  return ConvShapeOf(n, parser.dims(n.in[x]), parser.dims(n.in[w]), parser.dims(n.out[0]), spec,
                     why);
}

Dims OutputPadding(const ConvSpec& spec) {
  const size_t axes = spec.stride.size();
  Dims more(axes, 0);
  for (size_t k = 0; spec.transposed && k < axes; ++k) {
    const int64_t kernel = spec.weights[spec.weights.size() - axes + k];
    more[k] = spec.dst[k + 2] - (spec.src[k + 2] - 1) * spec.stride[k] + spec.pad_l[k] +
              spec.pad_r[k] - spec.dilation[k] * (kernel - 1) - 1;
  }
  return more;
}

bool HasEvenPads(const ConvSpec& spec) {
  if (spec.transposed) return spec.pad_l == spec.pad_r;
  Dims reach = spec.dilation;
  for (size_t k = 0; k < reach.size(); ++k) {
    reach[k] = reach[k] * (spec.weights[spec.weights.size() - reach.size() + k] - 1) + 1;
  }
  return HasEvenPads(spec.src, spec.dst, reach, spec.stride, spec.pad_l);
}

bool HasConstantWeights(const Unit& unit, const Parser& parser, Why* why) {
  if (!parser.constant(unit.in[1])) return why->Say(GE_WHY_DYNAMIC, "weights are not constant");
  return unit.in.size() < 3 || why->Say(GE_WHY_DYNAMIC, "bias is not constant");
}

namespace {

void TakeWeights(const Parser& g, const ge_node& n, Unit* u) {
  u->in.push_back(n.in[1]);
  if (n.n_in < 3 || n.in[2] == 0) return;
  // A bias that is not constant is read as it comes.
  (g.constant(n.in[2]) ? u->bias : u->in).push_back(n.in[2]);
}

bool ParseConv(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  if (n.n_in < 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "no weights");
  if (!ConvShapeOf(n, g.dims(n.in[0]), g.dims(n.in[1]), u->dims, &u->spec.emplace<ConvSpec>(),
                   why)) {
    return false;
  }
  TakeWeights(g, n, u);
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
  if (c.groups < 1 || w.size() != c.src.size() || w[0] != c.src[1] || w[0] % c.groups != 0 ||
      w[1] * c.groups != c.dst[1]) {
    return why->Say(GE_WHY_SHAPE, "weights " + ToText(w) + " do not fit the input");
  }
  c.weights = w;
  std::swap(c.weights[0], c.weights[1]);  // output channels first
  const Dims kernel(w.begin() + 2, w.end());
  if (!TransposedWindowOf(n, c.src, c.dst, kernel, &c.stride, &c.dilation, &c.pad_l, &c.pad_r,
                          why)) {
    return false;
  }
  if (c.groups > 1) {
    c.weights[1] /= c.groups;
    c.weights.insert(c.weights.begin(), c.groups);
  }
  TakeWeights(g, n, u);
  return true;
}

// in[1], but where it is the image, too.
size_t FilterOf(const Unit& u) { return u.in[1] != u.in[0] ? 1 : 0; }

constexpr Operator kConvOperators[] = {
    {"Conv", ParseConv},
    {"ConvTranspose", ParseConvTranspose},
};
}  // namespace

const UnitKind ConvSpec::kKind = {.name = "conv",
                                  .operators = kConvOperators,
                                  .post_ops = PostOps::kChannels,
                                  .filter = FilterOf};

}  // namespace ge_engines
