// Convolutions as products of tiles of gathered columns, by kit/.
#include <algorithm>

#include "plugins/cpu/kit/conv_loop.h"
#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/conv/algorithm.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/conv/conv.h"

namespace ge_engines::cpu::native {

namespace {

// A convolution by products of tiles of gathered columns.
struct TiledConv {
  TiledConv(const ConvSpec& c, int threads);
  ConvShape shape;
  Im2colTiles pieces;
};

// Every convolution that is none by transposition gathers: channels a page apart would miss in the
// translation cache at each row.
ConvShape GatheredShape(const ConvSpec& c) {
  ConvShape s(c);
  if (s.how == ConvShape::kPlain) s.how = ConvShape::kGather;
  return s;
}

// A tile stays in the second cache beside 8 rows of weights, all of which read it.
TiledConv::TiledConv(const ConvSpec& c, int threads)
    : shape(GatheredShape(c)), pieces(shape, threads, kGatheredFloats, kGatheredColumns) {}

// A tile's product reads its columns from the second cache for every 8 channels.
double ConvNs(const TiledConv& c, const Machine& m) {
  const ConvShape& s = c.shape;
  const auto jobs = static_cast<double>(s.images * s.groups);
  const auto out = static_cast<double>(s.out), in = static_cast<double>(s.in * s.taps());
  const auto pixels =
      static_cast<double>(s.how == ConvShape::kGather ? s.dst_pixels() : s.src_pixels());
  const double rows = s.how == ConvShape::kGather ? out : out * static_cast<double>(s.taps());
  const double depth = s.how == ConvShape::kGather ? in : static_cast<double>(s.in);
  const double rate = ByIsa(m, 105, 50, 15) * std::min(1.0, (rows + 2) / 8) * m.compute;
  const bool copied = s.how == ConvShape::kGather && s.stride[2] == 1;
  const double width = static_cast<double>(c.pieces.width);
  const double moved = s.how == ConvShape::kGather ? in * pixels : rows * pixels;
  return jobs * (2 * rows * depth * pixels / rate + moved * (copied ? 0.15 + 5 / width : 1));
}

class Im2col final : public ConvAlgorithm {
 public:
  bool Takes(const ConvSpec&, bool, const Machine&) const override { return true; }
  bool Fits(const Unit& u, const ConvSpec& c, const Parser& p, const Machine& m,
            Why* why) const override {
    return HasConstantWeights(u, p, why) &&
           BuffersFit(TiledConv(c, m.threads).pieces.bytes(), m.threads, why);
  }
  Price PriceOf(const Unit& unit, const ConvSpec& spec, const Parser& parser,
                const Machine& machine) const override {
    const TiledConv tiles(spec, machine.threads);
    return SumsPrice(unit, parser, machine, ConvNs(tiles, machine),
                     spec.transposed ? Finish::kPasses : Finish::kInPieces, tiles.pieces.bytes());
  }
  void Emit(const Unit& unit, const ConvSpec& spec, NativeBuilder* builder) const override {
    const TiledConv pieced(spec, builder->machine().threads);
    const ConvShape& s = pieced.shape;
    const bool rows = spec.transposed;
    const BufferRef w = rows ? builder->Transposed(unit.in[1], s.groups, s.in, s.out * s.taps())
                             : builder->GetDense(unit.in[1]).place;
    auto multiply = [simd = &builder->simd()](const TileProduct& p, const float* a,
                                              const float* builder, float* to) {
      simd->thin_product(a, p.lda, builder, p.ldb, to, p.ldc, p.m, p.n, p.k);
    };
    builder->EmitIm2col(unit, "conv ", multiply, s, pieced.pieces, builder->machine().threads, w,
                        rows);
  }
};

}  // namespace

const ConvAlgorithm& conv_im2col() {
  static const Im2col kAlgorithm;
  return kAlgorithm;
}

}  // namespace ge_engines::cpu::native
