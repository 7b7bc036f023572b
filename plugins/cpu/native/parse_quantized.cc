// Parsing of operators on 8-bit codes: integer products and the steps between floats and codes.
#include "plugins/cpu/kit/parse.h"
#include "plugins/cpu/native/parse.h"

namespace ge_engines::cpu::native {
namespace {

bool QuantInputs(const Parser& g, const ge_node& n, Unit* u, Why* why) {
  const bool scaled = gp::View(n.op).substr(0, 2) == "QL";
  // Positions in the node of what QuantIn lists; 99: none.
  static constexpr uint32_t kPlain[] = {0, 1, 2, 3, 99, 99, 99, 99, 99};
  static constexpr uint32_t kScaled[] = {0, 3, 2, 5, 1, 4, 6, 7, 8};
  u->in.clear();
  for (size_t k = 0; k < QuantIn::kCount; ++k) {
    const uint32_t at = scaled ? kScaled[k] : kPlain[k];
    u->in.push_back(at < n.n_in ? n.in[at] : 0);
  }
  const auto has = [&](size_t k) { return u->in[k] != 0; };
  const auto one = [&](size_t k) { return !has(k) || Product(g.dims(u->in[k])) == 1; };
  const auto is = [&](size_t k, int32_t dtype) { return !has(k) || g.dtype(u->in[k]) == dtype; };
  for (size_t k = 0; scaled && k < QuantIn::kBias; ++k) {
    if (!has(k)) return why->Say(GE_WHY_SHAPE, "a scale or zero point is missing");
  }
  if (!has(QuantIn::kW)) return why->Say(GE_WHY_SHAPE, "no weights");
  const int32_t x = g.dtype(u->in[0]), w = g.dtype(u->in[1]), y = g.dtype(n.out[0]);
  if (!IsCode(x) || !IsCode(w) || (scaled ? !IsCode(y) : y != GE_I32) || !is(QuantIn::kXZero, x) ||
      !is(QuantIn::kWZero, w) || !is(QuantIn::kYZero, y) || !is(QuantIn::kXScale, GE_F32) ||
      !is(QuantIn::kWScale, GE_F32) || !is(QuantIn::kYScale, GE_F32) ||
      !is(QuantIn::kBias, GE_I32)) {
    return why->Say(GE_WHY_DTYPE, "only 8-bit codes with scales of float32");
  }
  if (!g.constant(u->in[1]) || (has(QuantIn::kWZero) && !g.constant(u->in[QuantIn::kWZero]))) {
    return why->Say(GE_WHY_DYNAMIC, "weights or their zero point are not constant");
  }
  if (!one(QuantIn::kXZero) || !one(QuantIn::kXScale) || !one(QuantIn::kYScale) ||
      !one(QuantIn::kYZero)) {
    return why->Say(GE_WHY_SHAPE, "a scale or zero point of the input or output is not one");
  }
  return true;
}

bool Grid(const Parser& g, const ge_node& n, Unit* u, QuantGrid* grid, Why* why) {
  if (n.n_in < 2 || n.in[1] == 0) return why->Say(GE_WHY_SHAPE, "no scale");
  const uint32_t zero = n.n_in > 2 ? n.in[2] : 0;
  const int64_t scales = Product(g.dims(n.in[1]));
  if (g.dtype(n.in[1]) != GE_F32 || (zero != 0 && Product(g.dims(zero)) != scales)) {
    return why->Say(GE_WHY_DTYPE,
                    "the scale is not float32, or has another count than zero points");
  }
  u->in = {n.in[0], n.in[1], zero};
  const Dims d = g.dims(n.in[0]);
  if (scales == 1) {
    grid->inner = Product(d);
    return true;
  }
  const int64_t rank = static_cast<int64_t>(d.size());
  int64_t axis = rank == 1 ? 0 : gp::AttrInt(n, "axis");
  if (axis < 0) axis += rank;
  if (gp::AttrInt(n, "block_size") != 0 || axis < 0 || axis >= rank ||
      g.dims(n.in[1]) != Dims{d[static_cast<size_t>(axis)]}) {
    return why->Say(GE_WHY_ATTRIBUTE, "only one scale, or one for each index of an axis");
  }
  grid->outer = Product(Dims(d.begin(), d.begin() + axis));
  grid->dim = scales;
  grid->inner = Product(Dims(d.begin() + axis + 1, d.end()));
  return true;
}

}  // namespace

bool ParseConvInteger(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& c = u->spec.emplace<IntegerConvSpec>().conv;
  if (!QuantInputs(g, n, u, why)) return false;
  if (!ParseConvShape(g, i, 0, gp::View(n.op) == "QLinearConv" ? 3 : 1, &c, why)) return false;
  if (c.src.size() > 4) return why->Say(GE_WHY_SHAPE, "rank 5, only 3 and 4");
  const int64_t out = c.dst[1];
  for (size_t k : {QuantIn::kWZero, QuantIn::kWScale, QuantIn::kBias}) {
    const int64_t count = u->in[k] == 0 ? 1 : Product(g.dims(u->in[k]));
    if (count != out && (count != 1 || k == QuantIn::kBias) && u->in[k] != 0) {
      return why->Say(GE_WHY_SHAPE, "a scale, zero point or bias is not one a filter");
    }
  }
  if (Product(c.weights) / out > kMaxCodeDepth) return why->Say(GE_WHY_SHAPE, "sums may overflow");
  return true;
}

bool ParseMatMulInteger(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  u->spec = IntegerProductSpec();
  if (!QuantInputs(g, n, u, why)) return false;
  const Dims a = g.dims(u->in[0]), b = g.dims(u->in[1]);
  if (a.size() < 2 || b.size() != 2 || a.back() != b[0]) {
    return why->Say(GE_WHY_SHAPE, "only products of rows with one matrix");
  }
  for (size_t k : {QuantIn::kWZero, QuantIn::kWScale}) {
    if (u->in[k] == 0) continue;
    const Dims d = g.dims(u->in[k]);
    if (Product(d) != 1 && (d.size() != 1 || d[0] != b[1])) {
      return why->Say(GE_WHY_SHAPE, "a scale or zero point is not one a column");
    }
  }
  if (a.back() > kMaxCodeDepth) return why->Say(GE_WHY_SHAPE, "sums may overflow");
  return true;
}

// accuracy_level of MatMulNBits: x may be taken in steps of 8 bits, one scale a block.
constexpr int64_t kByteAccuracy = 4;

bool ParseNBits(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<NBitsSpec>();
  const auto in = [&](uint32_t at) { return at < n.n_in ? n.in[at] : 0; };
  u->in = {n.in[0], in(1), in(2), in(3)};
  s.n = gp::AttrInt(n, "N"), s.k = gp::AttrInt(n, "K");
  s.form.bits = static_cast<int>(gp::AttrInt(n, "bits"));
  s.form.block = gp::AttrInt(n, "block_size");
  s.narrow = gp::AttrInt(n, "accuracy_level") == kByteAccuracy;
  if (in(4) != 0) return why->Say(GE_WHY_ATTRIBUTE, "g_idx is not computed");
  if (s.form.bits != 2 && s.form.bits != 4 && s.form.bits != 8) {
    return why->Say(GE_WHY_ATTRIBUTE, "only codes of 2, 4 and 8 bits");
  }
  if (s.n < 1 || s.k < 1 || s.form.block < 16 || s.form.block % 16 != 0) {
    return why->Say(GE_WHY_ATTRIBUTE, "blocks of no whole words");
  }
  const int64_t blocks = CeilDiv(s.k, s.form.block);
  const bool here = in(1) != 0 && g.dtype(in(1)) == GE_U8 && in(2) != 0 &&
                    g.dtype(in(2)) == GE_F32 && g.dtype(n.in[0]) == GE_F32;
  if (!here) return why->Say(GE_WHY_DTYPE, "only codes of uint8 with scales of float32");
  for (uint32_t at : {1u, 2u, 3u, 5u}) {
    if (in(at) != 0 && !g.constant(in(at))) {
      return why->Say(GE_WHY_DYNAMIC, "weights, scales, zero points or bias are not constant");
    }
  }
  int64_t zeros = s.n * blocks;
  if (in(3) != 0) {
    s.form.zero_bytes = g.dtype(in(3)) == GE_U8 ? 1 : 4;
    if (s.form.zero_bytes == 1) zeros = s.n * CeilDiv(blocks * s.form.bits, 8);
    if (s.form.zero_bytes == 4 && g.dtype(in(3)) != GE_F32) {
      return why->Say(GE_WHY_DTYPE, "zero points are neither uint8 nor float32");
    }
  }
  const bool fits = !u->dims.empty() && u->dims.back() == s.n && g.dims(n.in[0]).back() == s.k &&
                    Product(g.dims(in(1))) == s.n * blocks * (s.form.block * s.form.bits / 8) &&
                    Product(g.dims(in(2))) == s.n * blocks &&
                    (in(3) == 0 || Product(g.dims(in(3))) == zeros);
  if (!fits) return why->Say(GE_WHY_SHAPE, "weights do not fit the input");
  if (in(5) != 0) u->bias.push_back(in(5));
  return true;
}

bool ParseQuantize(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& grid = u->spec.emplace<QuantizeSpec>().grid;
  if (g.dtype(n.in[0]) != GE_F32 || !IsCode(g.dtype(n.out[0])) || g.dims(n.in[0]) != u->dims) {
    return why->Say(GE_WHY_DTYPE, "only float32 to 8-bit codes");
  }
  if (gp::View(n.op) == "DynamicQuantizeLinear") {
    grid.inner = Product(u->dims);
    for (uint32_t k : {1u, 2u}) u->out.push_back(k < n.n_out ? n.out[k] : 0);
    return true;
  }
  const int64_t precision = gp::AttrInt(n, "precision");
  if (precision != 0 && precision != GE_F32) {
    return why->Say(GE_WHY_ATTRIBUTE, "precision is not float32");
  }
  if (!Grid(g, n, u, &grid, why)) return false;
  const uint32_t zero = u->in[2];
  return zero == 0 || g.dtype(zero) == g.dtype(n.out[0]) ||
         why->Say(GE_WHY_DTYPE, "the zero point has another dtype than the output");
}

bool ParseDequantize(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& grid = u->spec.emplace<DequantizeSpec>().grid;
  // Of int32 only as the bias of a group.
  const bool known = IsCode(g.dtype(n.in[0])) || g.dtype(n.in[0]) == GE_I32;
  if (!known || g.dtype(n.out[0]) != GE_F32 || g.dims(n.in[0]) != u->dims) {
    return why->Say(GE_WHY_DTYPE, "only 8-bit codes to float32");
  }
  if (!Grid(g, n, u, &grid, why)) return false;
  return u->in[2] == 0 || g.dtype(u->in[2]) == g.dtype(n.in[0]) ||
         why->Say(GE_WHY_DTYPE, "the zero point has another dtype than the input");
}

}  // namespace ge_engines::cpu::native
