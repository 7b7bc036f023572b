// Vector loops for the work that vendors' libraries lack or do slowly. They are row kernels:
// callers cut tensors into rows and own the memory. Pure functions, any thread. Pointers need only
// the alignment of their elements; counts may be 0 unless a comment says otherwise.
#pragma once

#include <cstdint>
#include <limits>

#include "plugins/units/functions.h"

namespace ge_engines::cpu {

enum class Compare : int { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

// What of float64 numbers is brought together: a sum of them, of their magnitudes, of their
// squares, or of e^(x - shift); their product; the greatest or least, NaN where one is.
enum class DoubleFold : int { kSum, kAbsSum, kSquareSum, kExpSum, kProduct, kMax, kMin };
// That of no numbers.
constexpr double StartOfFold(DoubleFold fold) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return fold == DoubleFold::kProduct ? 1
         : fold == DoubleFold::kMax   ? -kInfinity
         : fold == DoubleFold::kMin   ? kInfinity
                                      : 0;
}

// Evaluation points of Winograd's transforms for four pixels: 0, +-A, +-B and infinity.
inline constexpr float kWinogradA = 0.625f, kWinogradB = 1.5f;
// Tiles are multiplied in even groups of at most 6: their sums fit into the registers. Group g
// starts with tile WinogradGroup(tiles, g).
constexpr int64_t WinogradGroups(int64_t tiles) { return (tiles + 5) / 6; }
constexpr int64_t WinogradGroup(int64_t tiles, int64_t g) {
  const int64_t n = WinogradGroups(tiles), more = tiles % n;
  return g * (tiles / n) + (g < more ? g : more);
}

// Rows of a block of integer products.
inline constexpr int64_t kIntegerRows = 6;

// The windows of a pooled row: n windows, the first at `start` (may be negative) of a row of dim
// elements. (taps - 1) * dilation is below kPoolRoom.
struct PoolSpan {
  int64_t dim = 0, start = 0, taps = 1, dilation = 1, stride = 1, n = 0;
};

// Sums over windows of pixels for n columns, at most group_columns(). A window has `taps` pixels of
// `depth` channels; tap t of pixel p is read at from[p * taps + t] + at. With `own`, column c sums
// only channels [c / depth * depth, + depth): depth is 2, 4 or 8, less than the lanes, and n, a
// multiple of it, at most the lanes.
struct GroupSums {
  const float* const* from = nullptr;
  int64_t taps = 1, at = 0, depth = 1;
  bool own = false;
  const float* w = nullptr;     // [tap][channel][column], columns in whole vectors
  const float* bias = nullptr;  // of each column; whole vectors are read
  float* const* to = nullptr;   // of each pixel; columns go to to[p] + out on
  int64_t out = 0, pixels = 0, n = 0;
};

// How rows of columns are brought together, and in what: in the elements' own type, modulo 2^n of
// integers, of float32 in double; in int64; or in double.
enum class ColumnFold : int {
  kMax,
  kMin,
  kSum,
  kProduct,
  kAbsSum,
  kSquareSum,
  kWideSum,        // int64, of integers of 32 bits
  kDoubleSum,      // double, of integers
  kDoubleSquares,  // the same of their squares
};

// A question about the bits of floats of 2, 4 or 8 bytes: are they NaN, or equal to `low` or
// `high`.
struct FloatBits {
  int size;
  bool nan;
  uint64_t infinity, low, high;
};

// A row of 8-bit integers with scale and zero point.
struct QuantizedRow {
  uint8_t* at;
  float scale;
  int32_t zero;
  bool is_signed;
};

// Factors of an optimizer's step: see the operators ge.AdamStep, ge.MomentumStep and so
// on.
struct StepFactors {
  float keep1 = 0, add1 = 0;  // the first slot becomes keep1 * slot + add1 * g
  float keep2 = 0, add2 = 0;  // the second keep2 * slot + add2 * g * g
  float decay = 0, gain = 1;  // g is gain * (gradient + decay * weight); gain: of momentum's alone
  float keep = 1, rate = 0;   // the weight becomes keep * weight - rate * step
  float eps = 0, second = 1;  // Adam's step: first slot / (root of the second * second + eps)
  float slope = 0, slot = 1;  // momentum's: slope * g + slot * first slot
};

struct Simd {
  // y[i] = fn(x[i]); x may equal y.
  void (*unary)(Fn fn, float a, float b, const float* x, float* y, int64_t n);
  // y[i] = x[i] fn z[i]; y may equal x or z.
  void (*binary)(Fn fn, const float* x, const float* z, float* y, int64_t n);
  void (*binary_scalar)(Fn fn, const float* x, float z, float* y, int64_t n);
  // The same of float64: all unary functions but the kinds of Gelu, Swish and HardSwish.
  void (*unary_double)(Fn fn, double a, double b, const double* x, double* y, int64_t n);
  // The fold of `start` and n numbers.
  double (*fold_doubles)(DoubleFold fold, const double* x, double shift, double start, int64_t n);
  // acc[i] = the fold of acc[i] and x[r * stride + i] for rows r in [0, rows), i in [0, n); a shift
  // for each i, of kExpSum alone, else nullptr.
  void (*fold_double_rows)(DoubleFold fold, const double* x, int64_t rows, int64_t stride,
                           const double* shift, double* acc, int64_t n);
  // As `compare`, below.
  void (*compare_doubles)(Compare op, const double* x, const double* z, int64_t step, uint8_t* out,
                          int64_t n);
  // Softmax or its logarithm; y may be x. Of n columns: along rows `stride` apart, in x and y.
  void (*softmax_double)(bool log, const double* x, double* y, int64_t n);
  void (*softmax_double_columns)(bool log, const double* x, double* y, int64_t rows, int64_t stride,
                                 int64_t n);
  // Sum (kSum, kMean) or extreme of n >= 1 elements.
  float (*reduce)(Reduce op, const float* x, int64_t n);
  // The sum of n elements, formed in double.
  double (*sum_double)(const float* x, int64_t n);
  // acc[i] = acc[i] op x[r * stride + i] for rows r in [0, rows), i in [0, n).
  void (*reduce_rows)(Reduce op, const float* x, int64_t rows, int64_t stride, float* acc,
                      int64_t n);
  void (*softmax)(const float* x, float* y, int64_t n);
  // The next n > 0 numbers of a row; *top and *sum are its greatest and its sum of exponentials so
  // far, at first -infinity and 0. x[i] becomes e^(x[i] - *top) by the new *top. Returns the factor
  // for earlier numbers of the row. While all are -infinity they count as nothing.
  float (*softmax_more)(float* x, int64_t n, float* top, float* sum);
  // y[i] = x[i] / sqrt(mean of squares + eps) * gamma[i]; gamma may be nullptr.
  void (*rms_norm)(const float* x, const float* gamma, float eps, float* y, int64_t n);
  // gamma and beta may be nullptr.
  void (*layer_norm)(const float* x, const float* gamma, const float* beta, float eps, float* y,
                     int64_t n);

  // One row of a recurrent cell with its usual functions; n a gate, gates behind each other; x and
  // z are added up. LSTM (gates i, o, f, c): updates the memory and writes the state. GRU (update,
  // reset, hidden) whose reset gate scales z's last gate: updates the state.
  void (*lstm_cell)(const float* x, const float* z, float* c, float* h, int64_t n);
  void (*gru_cell)(const float* x, const float* z, float* h, int64_t n);

  // y[i][j] = sum over k of a[i * lda + k] * b[k * ldb + j] for i < m, j < n; b is read once where
  // m <= 8. y overlaps nothing. This is BLAS's gemv (transposed) for m = 1.
  void (*thin_product)(const float* a, int64_t lda, const float* b, int64_t ldb, float* y,
                       int64_t ldy, int64_t m, int64_t n, int64_t k);
  // The same with b in panels of panel_columns() columns, `panel` floats apart; a panel's rows lie
  // one behind the other, the last panel is filled up. Adds bias[j] unless bias is nullptr. Any m:
  // b is read once if m <= 6, else from a cache for every few rows.
  void (*panel_product)(const float* a, int64_t lda, const float* b, int64_t panel,
                        const float* bias, float* y, int64_t ldy, int64_t m, int64_t n, int64_t k);
  // The same, added to y.
  void (*panel_product_add)(const float* a, int64_t lda, const float* b, int64_t panel, float* y,
                            int64_t ldy, int64_t m, int64_t n, int64_t k);
  int64_t (*panel_columns)();
  // panel_product for n-bit weights, panels `panel` bytes apart; m <= nbits_rows(). Weights behind
  // row k in the last word may have any value.
  void (*nbits_product)(const NBitsForm& form, const float* a, int64_t lda, const uint8_t* b,
                        int64_t panel, const float* bias, float* y, int64_t ldy, int64_t m,
                        int64_t n, int64_t k);
  int64_t (*nbits_rows)();
  // Unpacks the first k rows of a panel of n-bit weights as floats, from the start of a block on.
  void (*nbits_unpack)(const NBitsForm& form, const uint8_t* b, int64_t k, float* to);
  // y[i * ldy + j] = bias[i] + sum over k < taps of w[i * ldw + k] * x[at[k] + j] for i < m, j < n.
  // Reads and writes whole vectors: up to 15 floats behind the end of x and of each row of y, so
  // ldy is at least n rounded up to 16. y overlaps nothing.
  void (*shifted_product)(const float* w, int64_t ldw, const float* x, const int64_t* at,
                          const float* bias, float* y, int64_t ldy, int64_t m, int64_t n,
                          int64_t taps);
  // Windows of n pixels with `channels` floats each, dense in y; tap t of pixel i reads from[t] +
  // i * step. Sums by a weight for each channel: y[i][c] = bias[c] + sum over t of w[t][c] * x.
  void (*channel_sums)(const float* const* from, const float* const* w, int64_t taps, int64_t step,
                       const float* bias, float* y, int64_t n, int64_t channels);
  // The greatest (kMax; -infinity without taps), or the sum times `scale`.
  void (*channel_pool)(Reduce op, const float* const* from, int64_t taps, int64_t step, float scale,
                       float* y, int64_t n, int64_t channels);
  void (*channel_groups)(const GroupSums& q);
  int64_t (*group_columns)();
  // y[i * ldy + r] = dot of x[i * ldx ...] and w[r * ldw ...], k elements each, for i < m,
  // r < rows; w is read once where m <= 8. y overlaps nothing.
  void (*dot_rows)(const float* x, int64_t ldx, const float* w, int64_t ldw, float* y, int64_t ldy,
                   int64_t m, int64_t rows, int64_t k);
  // y[c * ldy + r] = x[r * ldx + c] for r < rows, c < cols, of any 4-byte type. No overlap.
  void (*transpose)(const float* x, int64_t ldx, float* y, int64_t ldy, int64_t rows, int64_t cols);
  // The same of any type of 1, 2 or 8 bytes.
  void (*transpose_words)(int64_t bytes, const void* x, int64_t ldx, void* y, int64_t ldy,
                          int64_t rows, int64_t cols);
  // y[i] = (1 - t) * a[i] + t * b[i]: this form keeps an infinity; y may equal a or b.
  void (*lerp_rows)(const float* a, const float* b, float t, float* y, int64_t n);
  // y[i] = sum over r < rows of w[r] * x[r][i]; no overlap.
  void (*weigh_rows)(const float* const* x, const float* w, int64_t rows, float* y, int64_t n);
  // y[i] = (1 - t[i]) * x[i0[i]] + t[i] * x[i1[i]], indices within the `width` elements of x; no
  // overlap.
  void (*gather_lerp)(const float* x, int64_t width, const int32_t* i0, const int32_t* i1,
                      const float* t, float* y, int64_t n);
  // Pooled rows l < lines of span.n each, y dense. Row l pools the rows of x at x[row[k]], k from
  // first[l] to before first[l + 1]. Outside of x stands -infinity (kMax) or 0 (a sum).
  void (*pool_plane)(Reduce op, const float* x, const int64_t* row, const int64_t* first,
                     int64_t lines, const PoolSpan& span, float* y);
  // The gradient of the greatest of n windows of two elements in each of two rows: dy[i] goes to
  // the first greatest of x0[2 i], x0[2 i + 1], x1[2 i], x1[2 i + 1], 0 to the others.
  void (*pool_grad_pairs)(const float* x0, const float* x1, const float* dy, float* dx0, float* dx1,
                          int64_t n);
  // *sum += sum of x[i] - shift, *square += sum of its squares.
  void (*moment_sums)(const float* x, float shift, int64_t n, float* sum, float* square);
  // The same by column, for rows `stride` apart.
  void (*moment_rows)(const float* x, int64_t rows, int64_t stride, const float* shift, float* sum,
                      float* square, int64_t n);
  // *sum += sum of dy[i], *product += sum of dy[i] * (x[i] - mean).
  void (*slope_sums)(const float* dy, const float* x, float mean, int64_t n, float* sum,
                     float* product);
  void (*slope_rows)(const float* dy, const float* x, int64_t rows, int64_t stride,
                     const float* mean, float* sum, float* product, int64_t n);
  // y[i] = a p[i] + b q[i] + c; y may equal p or q.
  void (*blend_row)(const float* p, const float* q, float a, float b, float c, float* y, int64_t n);
  void (*blend_rows)(const float* p, const float* q, int64_t rows, int64_t stride, const float* a,
                     const float* b, const float* c, float* y, int64_t n);
  // One step: from `in` (weight, slots, gradient) to `out` (weight, slots); both may be the same.
  void (*adam_step)(const StepFactors& f, const float* const* in, float* const* out, int64_t n);
  void (*momentum_step)(const StepFactors& f, const float* const* in, float* const* out, int64_t n);
  // The slot is as Adam's second; the step is g / (its root + eps).
  void (*square_step)(const StepFactors& f, const float* const* in, float* const* out, int64_t n);
  // The step is the sign of keep1 * slot + add1 * g; the slot becomes keep2 * slot + add2 * g.
  void (*lion_step)(const StepFactors& f, const float* const* in, float* const* out, int64_t n);
  // *weight += sum of weight^2, *step += sum of the squares of Adam's step times `rate` + slot *
  // weight; nothing is written.
  void (*adam_squares)(const StepFactors& f, const float* const* in, int64_t n, float* weight,
                       float* step);
  // out[i] = x[i] op z[i * step] as 0 or 1; step is 0 or 1.
  void (*compare)(Compare op, const float* x, const float* z, int64_t step, uint8_t* out,
                  int64_t n);
  // y[i] = x[i] fn z[i] of integers of this dtype (GE_I8 ...), modulo 2^n; y may equal x or z. fn:
  // kAdd, kSub, kRSub, kMul, kDiv, kMax, kMin, kFmod, kMod, kAnd, kOr, kXor, kShiftLeft,
  // kShiftRight; of x alone kAbs and kSign of signed ones. No divisor is 0.
  void (*wholes)(Fn fn, int32_t dtype, const void* x, const void* z, void* y, int64_t n);
  void (*compare_wholes)(Compare op, int32_t dtype, const void* x, const void* z, uint8_t* out,
                         int64_t n);
  // y[2 i], y[2 i + 1] = the two numbers of block `block` + i of plugins/units/philox.h with the
  // key {low, high}, for i < blocks, a multiple of 8.
  void (*philox_pairs)(uint32_t low, uint32_t high, uint64_t block, double* y, int64_t blocks);
  // These made normal by the transform of Box and Muller, within 1e-15 of their size; pairs is a
  // multiple of 8.
  void (*normal_pairs)(double* y, int64_t pairs);
  // acc[j] = acc[j] and x[r * stride + j] by `fold`, for r < rows, j < n. dtype: GE_BOOL, GE_I8 and
  // GE_U8 (extremes alone), GE_I32, GE_U32, GE_I64, GE_U64; GE_F32 and GE_F64 but for extremes.
  void (*fold_columns)(ColumnFold fold, int32_t dtype, const void* x, int64_t rows, int64_t stride,
                       void* acc, int64_t n);
  // y[i] = x[i], float32 or (wide) float64, truncated to an integer other than uint64: the low
  // bits of an int64, whose least value is that of NaN and of what it cannot hold; or whether it is
  // not 0 (GE_BOOL).
  void (*truncate_floats)(bool wide, int32_t dtype, const void* x, void* y, int64_t n);
  // y[i] = x[i], integers or bools, as integers (their low bits), bools, float32 or float64.
  void (*cast_wholes)(int32_t from, int32_t to, const void* x, void* y, int64_t n);
  void (*ask_floats)(const FloatBits& question, const void* x, uint8_t* out, int64_t n);
  // The next function for elements of 1, 2 or 8 bytes.
  void (*select_other)(int size, const uint8_t* c, const void* x, int64_t sx, const void* z,
                       int64_t sz, void* out, int64_t n);
  // out[i] = c[i] != 0 ? x[i * sx] : z[i * sz], of any 4-byte type; steps are 0 or 1. out may equal
  // x or z where its step is 1.
  void (*select)(const uint8_t* c, const float* x, int64_t sx, const float* z, int64_t sz,
                 float* out, int64_t n);
  // y[r * ldy + i] = x[r * ldx + i] for r < rows, i < n. No overlap.
  void (*copy_rows)(const float* x, int64_t ldx, float* y, int64_t ldy, int64_t rows, int64_t n);

  // c[i][j] = (add ? c[i][j] : 0) + sum over p < pairs, e < 2 of a[p][i][e] * b[p][j][e], modulo
  // 2^32, for i < rows <= kIntegerRows, j < 2 * lanes. a is [pairs][kIntegerRows][2], b
  // [pairs][2 * lanes][2]; all are in [-32767, 32767].
  void (*integer_product)(const int16_t* a, const int16_t* b, int64_t pairs, bool add, int32_t* c,
                          int64_t ldc, int64_t rows);
  // The same with b of 8 bits.
  void (*int8_product)(const int16_t* a, const uint8_t* b, int64_t pairs, bool add, int32_t* c,
                       int64_t ldc, int64_t rows);
  // y[2 * i] = x[i], y[2 * i + 1] = z[i].
  void (*pair_rows)(const int16_t* x, const int16_t* z, int16_t* y, int64_t n);
  // y[i] = x[i] - zero; x are int8 or uint8.
  void (*widen_row)(const uint8_t* x, bool is_signed, int32_t zero, int16_t* y, int64_t n);
  // y[i] = x[i], between float32 and the bits of float16 or bfloat16; to the nearest, ties to
  // even.
  void (*widen_half)(const uint16_t* x, float* y, int64_t n);
  void (*narrow_half)(const float* x, uint16_t* y, int64_t n);
  void (*widen_brain)(const uint16_t* x, float* y, int64_t n);
  void (*narrow_brain)(const float* x, uint16_t* y, int64_t n);
  // *least and *most take in n elements, NaN left out.
  void (*extremes)(const float* x, int64_t n, float* least, float* most);
  // y[i] = x[i] / scale, rounded to even, + zero, clamped to int8 or uint8; NaN is the least.
  void (*quantize_row)(const float* x, float scale, int32_t zero, bool is_signed, uint8_t* y,
                       int64_t n);
  // y[i] = (x[i] - zero) * scale.
  void (*dequantize_row)(const uint8_t* x, bool is_signed, int32_t zero, float scale, float* y,
                         int64_t n);
  // The same of int16 and uint16.
  void (*quantize_wide)(const float* x, float scale, int32_t zero, bool is_signed, uint16_t* y,
                        int64_t n);
  void (*dequantize_wide)(const uint16_t* x, bool is_signed, int32_t zero, float scale, float* y,
                          int64_t n);
  // y[i] = (x[i] - zero) * scale, rounded once.
  void (*dequantize_words)(const int32_t* x, int32_t zero, float scale, float* y, int64_t n);
  // The sum of n quantized values, n at most 2^23.
  int32_t (*sum_codes)(const uint8_t* x, bool is_signed, int64_t n);
  // y[i] = (sum[i] + bias[i * bias_step]) * scale[i * step], rounded to even, + zero, clamped to
  // [least, most]; NaN is the least.
  void (*requantize_row)(const int32_t* sum, const double* bias, int64_t bias_step,
                         const double* scale, int64_t step, double zero, double least, double most,
                         uint8_t* y, int64_t n);
  // y[i] = fn(a[i], b[i]): dequantizes, computes, quantizes and clamps. Each step rounds to float32
  // as DequantizeLinear, fn and QuantizeLinear do. fn: kAdd, kSub or kMul.
  void (*quantized_pairs)(Fn fn, const QuantizedRow& a, const QuantizedRow& b,
                          const QuantizedRow& y, int32_t least, int32_t most, int64_t n);
  // The same for quantized a and float b; fn: kAdd, kSub, kRSub, kMul or kDiv.
  void (*code_floats)(Fn fn, const QuantizedRow& a, const float* b, const QuantizedRow& y,
                      int32_t least, int32_t most, int64_t n);
  // y[i] = the greater of y[i] and x[i], quantized values.
  void (*greater_codes)(const uint8_t* x, bool is_signed, uint8_t* y, int64_t n);
  // sum[i] += x[i].
  void (*add_codes)(const uint8_t* x, bool is_signed, int32_t* sum, int64_t n);
  // y[r * columns + c] = x[c * rows + r], bytes.
  void (*transpose_bytes)(const uint8_t* x, int64_t columns, int64_t rows, uint8_t* y);

  // Winograd's F(h x w, 3 x 3), h and w 2 or 4, for tiles of (h + 2) x (w + 2) pixels, each a
  // vector of `lanes` channels; (h + 2) * (w + 2) positions, each `position` floats from the next.
  int64_t lanes;
  // One tile: x's pixels are row and column floats apart; a vector a position goes to v.
  void (*winograd_input)(int h, int w, const float* x, int64_t row, int64_t column, float* v,
                         int64_t position);
  // One position: m[t][o] = sum over c of v[c][t] * u[c][o] for t < tiles, c < channels, o <
  // vectors * lanes, at most 4 vectors of 16 lanes or 2 of fewer. m and u have no gaps; v is [group
  // of tiles][c / lanes][t][c % lanes]. The loop prefetches the next position's u, directly behind
  // this u.
  void (*winograd_product)(const float* u, const float* v, float* m, int64_t tiles,
                           int64_t channels, int vectors);
  // One tile: m has a vector a position. Adds bias to y's h * w pixels, `pixel` floats apart. False
  // if a pixel is infinite or NaN before its bias: a transform spreads such values over the tile,
  // and large values overflow in it.
  bool (*winograd_output)(int h, int w, const float* m, int64_t position, const float* bias,
                          float* y, int64_t pixel);
};

extern const Simd kSimd_base, kSimd_avx2, kSimd_avx512;

}  // namespace ge_engines::cpu
