// Cast by a middle form: it decodes every dtype to int64, uint64 or double, and encodes from them,
// in blocks on the stack. So the number of loops grows linearly with the dtypes. Nothing is lost:
// integers stay integers, and each float is rounded once, from an exact value.
#pragma once

#include "plugins/ref/kernels/copy.h"
#include "plugins/ref/scalar.h"

namespace ref {

enum class Mid : uint8_t { kInt, kUnsigned, kReal };
enum class RoundMode : uint8_t { kUp, kDown, kNearest };  // of float8e8m0

inline constexpr int64_t kCastBlock = 256;  // elements; whole bytes for packed dtypes
union CastBlock {
  int64_t i[kCastBlock];
  uint64_t u[kCastBlock];
  double d[kCastBlock];
};

struct CastOptions {
  bool saturate = true;
  RoundMode round = RoundMode::kUp;
};

// Elements [first, first + n) of a tensor; to encode, first is a multiple of kCastBlock.
using DecodeFn = void (*)(const void* from, int64_t first, int64_t n, CastBlock* out);
using EncodeFn = void (*)(const CastBlock& in, Mid mid, void* to, int64_t first, int64_t n,
                          const CastOptions& options);

struct CastCodec {
  Mid mid = Mid::kReal;  // what decode gives
  DecodeFn decode = nullptr;
  EncodeFn encode = nullptr;
};

inline double MidReal(const CastBlock& in, Mid mid, int64_t i) {
  return mid == Mid::kInt        ? static_cast<double>(in.i[i])
         : mid == Mid::kUnsigned ? static_cast<double>(in.u[i])
                                 : in.d[i];
}

// Element i of a tensor as a double, for single reads: scales and zero points.
inline double RealAt(const CastCodec& codec, const void* from, int64_t i) {
  CastBlock one;
  codec.decode(from, i, 1, &one);
  return MidReal(one, codec.mid, 0);
}

// Functions are nullptr for dtypes without casts (strings, complex).
CastCodec FindCastCodec(int32_t dtype);

// Cast, or CastLike with two inputs: the second gives the dtype alone.
std::unique_ptr<Prepared> PrepareCast(const NodeView& n, uint32_t n_in, Why* why);

}  // namespace ref
