// The kernels of the engine `openblas`: matrix products, convolutions as products, inverses.
// Everything is in plain row-major order; the base's loops add bias and pointwise functions to what
// is float32. Used once, by one thread; throws.
#pragma once

#include <memory>
#include <vector>

#include "plugins/cpu/kit/builder.h"
#include "plugins/cpu/kit/im2col_tiles.h"
#include "plugins/cpu/openblas/vendor.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/matmul/double_product.h"
#include "plugins/units/matmul/elimination.h"
#include "plugins/units/matmul/matmul.h"

namespace ge_engines::cpu::openblas {

class OpenblasBuilder final : public Builder {
 public:
  OpenblasBuilder(const Vendor& vendor, int threads, const Simd& simd, const ge_host_api* host,
                  const Parser& parser, const ge_segment& segment, Program* program)
      : Builder(simd, host, parser, segment, program), vendor_(vendor), threads_(threads) {}

 private:
  // One operand of a product inside its tensor: strides of the matrix's rows and columns.
  struct Side {
    Rep rep;
    int64_t row = 0, column = 0;
  };

  void EmitMain(const Unit& unit) override;
  void EmitMatMul(const Unit& unit, const ProductSpec& product);
  void EmitDoubles(const Unit& unit, const DoubleProductSpec& product);
  void EmitElimination(const Unit& unit, const EliminationSpec& spec);
  void EmitConv(const Unit& unit, const ConvSpec& conv_spec);

  // value as `rows` x `columns`: in place if sgemm can read it, else copied into plain order. With
  // `fold` all leading axes become one.
  Side Operand2(uint32_t value, bool transposed, bool fold, int64_t rows, int64_t columns,
                int rank);
  // Whether sgemm can read it: sets the flag and the leading dimension.
  static bool Fits(const Side& side, int64_t rows, int64_t columns, bool* trans, int* ld);

  const Vendor& vendor_;
  int threads_;
};

Im2colTiles Im2colTilesOf(const ConvShape& shape, int threads);
// False with the reason if products cannot compute the convolution.
bool CanConvolve(const ConvSpec& spec, int threads, Why* why);

}  // namespace ge_engines::cpu::openblas
