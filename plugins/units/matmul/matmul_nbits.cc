#include "plugins/units/matmul/matmul_nbits.h"

#include "plugins/units/parser.h"

namespace ge_engines {

namespace {

// accuracy_level of MatMulNBits: x may be taken in steps of 8 bits, one scale a block.
constexpr int64_t kByteAccuracy = 4;

bool ParseNBits(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const ge_node& n = g.node(i);
  auto& s = u->spec.emplace<NBitsSpec>();
  const auto in = [&](uint32_t at) { return at < n.n_in ? n.in[at] : 0; };
  u->in = {n.in[0], in(1), in(2), in(3)};
  s.n = gp::AttrInt(n, "N");
  s.k = gp::AttrInt(n, "K");
  s.form.bits = static_cast<int>(gp::AttrInt(n, "bits"));
  s.form.block = gp::AttrInt(n, "block_size");
  s.narrow = gp::AttrInt(n, "accuracy_level") == kByteAccuracy;
  if (in(4) != 0) return why->Say(GE_WHY_ATTRIBUTE, "g_idx is not computed");
  if (s.form.bits != 2 && s.form.bits != 4 && s.form.bits != 8) {
    return why->Say(GE_WHY_ATTRIBUTE, "only weights of 2, 4 and 8 bits");
  }
  if (s.n < 1 || s.k < 1 || s.form.block < 16 || s.form.block % 16 != 0) {
    return why->Say(GE_WHY_ATTRIBUTE, "blocks of no whole words");
  }
  const int64_t blocks = CeilDiv(s.k, s.form.block);
  const bool here = in(1) != 0 && g.dtype(in(1)) == GE_U8 && in(2) != 0 &&
                    g.dtype(in(2)) == GE_F32 && g.dtype(n.in[0]) == GE_F32;
  if (!here) return why->Say(GE_WHY_DTYPE, "only weights in uint8 with scales of float32");
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

constexpr Operator kMatmulNbitsOperators[] = {
    {"com.microsoft.MatMulNBits", ParseNBits, Types::kQuantized, 0},
};
}  // namespace

const UnitKind NBitsSpec::kKind = {
    .name = "matmul_nbits", .operators = kMatmulNbitsOperators, .post_ops = PostOps::kColumns};

}  // namespace ge_engines
