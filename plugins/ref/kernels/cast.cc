#include "plugins/ref/kernels/cast.h"

namespace ref {
namespace {

// ---- types of C++ ----------------------------------------------------------------------------

template <class T>
void Decode(const void* from, int64_t first, int64_t n, CastBlock* out) {
  const T* p = static_cast<const T*>(from) + first;
  for (int64_t i = 0; i < n; ++i) {
    const auto v = Widen(Load(p, i));
    if constexpr (kIsFloat<T>) {
      out->d[i] = v;
    } else if constexpr (std::is_same_v<T, uint64_t>) {
      out->u[i] = v;
    } else {
      out->i[i] = v;
    }
  }
}

template <class T>
void Encode(const CastBlock& in, Mid mid, void* to, int64_t first, int64_t n, const CastOptions&) {
  T* p = static_cast<T*>(to) + first;
  if (mid == Mid::kInt) {
    for (int64_t i = 0; i < n; ++i) p[i] = Narrow<T>(in.i[i]);
  } else if (mid == Mid::kUnsigned) {
    for (int64_t i = 0; i < n; ++i) p[i] = Narrow<T>(in.u[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) p[i] = Narrow<T>(in.d[i]);
  }
}

// A bool may be any byte that is not zero.
void DecodeBool(const void* from, int64_t first, int64_t n, CastBlock* out) {
  const uint8_t* p = static_cast<const uint8_t*>(from) + first;
  for (int64_t i = 0; i < n; ++i) out->i[i] = p[i] != 0;
}

// ---- packed integers -------------------------------------------------------------------------

template <uint32_t kBits, bool kSigned>
void DecodePacked(const void* from, int64_t first, int64_t n, CastBlock* out) {
  for (int64_t i = 0; i < n; ++i) {
    int64_t v = GetBits(from, first + i, kBits);
    if (kSigned && (v >> (kBits - 1)) != 0) v -= int64_t{1} << kBits;
    out->i[i] = v;
  }
}

// The low bits are kept, as for every other integer; spare bits of the last byte are zero.
template <uint32_t kBits>
void EncodePacked(const CastBlock& in, Mid mid, void* to, int64_t first, int64_t n,
                  const CastOptions&) {
  std::memset(static_cast<char*>(to) + first * kBits / 8, 0,
              static_cast<size_t>((n * kBits + 7) / 8));
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t v = mid == Mid::kReal ? static_cast<uint64_t>(IntOf<int64_t>(in.d[i])) : in.u[i];
    SetBits(to, first + i, kBits, static_cast<uint32_t>(v) & ((1u << kBits) - 1));
  }
}

// ---- small floats ----------------------------------------------------------------------------

struct MiniFormat {
  int bits, man_bits, bias;
  uint32_t most;      // code of the greatest finite magnitude
  uint32_t overflow;  // magnitude code of infinity without saturation
  uint32_t nan;       // whole code, or kNoNan: NaN becomes -0, as in the peers
  bool negative_zero;
};
constexpr uint32_t kNoNan = ~0u;
// The values are those of ONNX's float8 page and of OCP MX (float4, float6).
constexpr MiniFormat kE4M3Fn = {8, 3, 7, 0x7e, 0x7f, 0x7f, true};
constexpr MiniFormat kE4M3FnUz = {8, 3, 8, 0x7f, 0x80, 0x80, false};
constexpr MiniFormat kE5M2 = {8, 2, 15, 0x7b, 0x7c, 0x7f, true};
constexpr MiniFormat kE5M2FnUz = {8, 2, 16, 0x7f, 0x80, 0x80, false};
constexpr MiniFormat kE2M1 = {4, 1, 1, 0x7, 0x7, kNoNan, true};
constexpr MiniFormat kE2M3 = {6, 3, 1, 0x1f, 0x1f, kNoNan, true};
constexpr MiniFormat kE3M2 = {6, 2, 3, 0x1f, 0x1f, kNoNan, true};

uint32_t EncodeMini(const MiniFormat& f, double v, bool saturate) {
  const uint32_t sign_bit = 1u << (f.bits - 1);
  const uint32_t sign = std::signbit(v) ? sign_bit : 0;
  if (std::isnan(v)) {
    if (f.nan == kNoNan) return sign_bit;
    return f.nan == sign_bit ? f.nan : f.nan | sign;
  }
  uint32_t code = f.most + 1;
  if (!std::isinf(v)) code = EncodeMagnitude(std::fabs(v), f.man_bits, f.bias);
  if (code > f.most) code = saturate ? f.most : f.overflow;
  if (code == sign_bit || (code == 0 && !f.negative_zero)) return code;  // no sign: NaN or zero
  return code | sign;
}

double DecodeMini(const MiniFormat& f, uint32_t code) {
  const uint32_t sign_bit = 1u << (f.bits - 1);
  const uint32_t mag = code & (sign_bit - 1);
  const double sign = (code & sign_bit) != 0 ? -1 : 1;
  const bool one_nan = f.nan == sign_bit;
  if (one_nan ? code == f.nan : f.nan != kNoNan && mag > f.overflow - (f.nan == f.overflow)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (!one_nan && f.nan != kNoNan && mag == f.overflow) {
    return sign * std::numeric_limits<double>::infinity();
  }
  return sign * DecodeMagnitude(mag, f.man_bits, f.bias);
}

template <const MiniFormat& kFormat>
void DecodeMinis(const void* from, int64_t first, int64_t n, CastBlock* out) {
  for (int64_t i = 0; i < n; ++i) {
    out->d[i] = DecodeMini(kFormat, GetBits(from, first + i, kFormat.bits));
  }
}
template <const MiniFormat& kFormat>
void EncodeMinis(const CastBlock& in, Mid mid, void* to, int64_t first, int64_t n,
                 const CastOptions& options) {
  std::memset(static_cast<char*>(to) + first * kFormat.bits / 8, 0,
              static_cast<size_t>((n * kFormat.bits + 7) / 8));
  const bool saturate = options.saturate || kFormat.nan == kNoNan;
  for (int64_t i = 0; i < n; ++i) {
    SetBits(to, first + i, kFormat.bits, EncodeMini(kFormat, MidReal(in, mid, i), saturate));
  }
}

// float8e8m0: an exponent alone, 2^(code - 127); 255 is NaN. The sign is lost, as ONNX says.
void DecodeE8M0(const void* from, int64_t first, int64_t n, CastBlock* out) {
  const uint8_t* p = static_cast<const uint8_t*>(from) + first;
  for (int64_t i = 0; i < n; ++i) {
    out->d[i] = p[i] == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1, p[i] - 127);
  }
}
// ONNX's table: what lies outside goes to the nearest end or, unsaturated, becomes NaN; so does
// zero.
uint8_t E8M0Of(double v, const CastOptions& options) {
  constexpr uint8_t kMost = 0xfe, kNan = 0xff;
  if (std::isnan(v)) return kNan;
  if (std::isinf(v)) return options.saturate ? kMost : kNan;
  int e = 0;
  const double unit = 2 * std::frexp(std::fabs(v), &e);  // [1, 2), or 0
  int code = e - 1 + 127;
  if (options.round == RoundMode::kUp && unit > 1) ++code;
  if (options.round == RoundMode::kNearest && unit >= 1.5) ++code;
  if (unit == 0 || code < 0) return options.saturate ? 0 : kNan;
  if (code > kMost) return options.saturate ? kMost : kNan;
  return static_cast<uint8_t>(code);
}
void EncodeE8M0(const CastBlock& in, Mid mid, void* to, int64_t first, int64_t n,
                const CastOptions& options) {
  uint8_t* p = static_cast<uint8_t*>(to) + first;
  for (int64_t i = 0; i < n; ++i) p[i] = E8M0Of(MidReal(in, mid, i), options);
}

// ---- the operator ------------------------------------------------------------------------------

struct CastPlan {
  CastCodec from, to;
  CastOptions options;
};

ge_rc RunCast(const CastPlan& p, const Call& c) {
  const Tensor x = c.in(0), y = c.out(0);
  if (x.dtype == y.dtype) {
    CopyAll(x, y);
    return GE_OK;
  }
  CastBlock block;
  for (int64_t at = 0; at < y.count; at += kCastBlock) {
    const int64_t n = y.count - at < kCastBlock ? y.count - at : kCastBlock;
    p.from.decode(x.data, at, n, &block);
    p.to.encode(block, p.from.mid, y.data, at, n, p.options);
  }
  return GE_OK;
}

}  // namespace

std::unique_ptr<Prepared> PrepareCast(const NodeView& n, uint32_t n_in, Why* why) {
  if (!NeedPorts(n, n_in, n_in, why) || !NeedSameDims(n.in(0), n.out(0), why)) return nullptr;
  if (n.Int("to", n.out(0).dtype) != n.out(0).dtype) {
    return why->Say(GE_WHY_ATTRIBUTE, "to is not the output's dtype"), nullptr;
  }
  if (n_in == 2 && !NeedSameDType(n.in(1), n.out(0), why)) return nullptr;
  CastPlan p{};
  p.from = FindCastCodec(n.in(0).dtype);
  p.to = FindCastCodec(n.out(0).dtype);
  const bool same = n.in(0).dtype == n.out(0).dtype;
  if (p.from.decode == nullptr && !same) return NoDType(n.in(0), why), nullptr;
  if (p.to.encode == nullptr && !same) return NoDType(n.out(0), why), nullptr;
  p.options.saturate = n.Int("saturate") != 0;
  const std::string_view mode = n.Text("round_mode");
  if (mode != "up" && mode != "down" && mode != "nearest") {
    return why->Say(GE_WHY_ATTRIBUTE, "round_mode is not known"), nullptr;
  }
  p.options.round = mode == "up"     ? RoundMode::kUp
                    : mode == "down" ? RoundMode::kDown
                                     : RoundMode::kNearest;
  auto made = Make([p](const Call& c) { return RunCast(p, c); });
  made->in_place = same ? 1 : 0;
  made->const_align = 1;
  return made;
}

CastCodec FindCastCodec(int32_t dtype) {
  CastCodec codec;
  if (VisitNumber(dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        codec = {kIsFloat<T>                   ? Mid::kReal
                 : std::is_same_v<T, uint64_t> ? Mid::kUnsigned
                                               : Mid::kInt,
                 Decode<T>, Encode<T>};
      })) {
    return codec;
  }
  switch (dtype) {
    case GE_BOOL:
      return {Mid::kInt, DecodeBool, Encode<bool>};
    case GE_U4:
      return {Mid::kInt, DecodePacked<4, false>, EncodePacked<4>};
    case GE_I4:
      return {Mid::kInt, DecodePacked<4, true>, EncodePacked<4>};
    case GE_U2:
      return {Mid::kInt, DecodePacked<2, false>, EncodePacked<2>};
    case GE_I2:
      return {Mid::kInt, DecodePacked<2, true>, EncodePacked<2>};
    case GE_F8E4M3FN:
      return {Mid::kReal, DecodeMinis<kE4M3Fn>, EncodeMinis<kE4M3Fn>};
    case GE_F8E4M3FNUZ:
      return {Mid::kReal, DecodeMinis<kE4M3FnUz>, EncodeMinis<kE4M3FnUz>};
    case GE_F8E5M2:
      return {Mid::kReal, DecodeMinis<kE5M2>, EncodeMinis<kE5M2>};
    case GE_F8E5M2FNUZ:
      return {Mid::kReal, DecodeMinis<kE5M2FnUz>, EncodeMinis<kE5M2FnUz>};
    case GE_F4E2M1:
      return {Mid::kReal, DecodeMinis<kE2M1>, EncodeMinis<kE2M1>};
    case GE_F6E2M3:
      return {Mid::kReal, DecodeMinis<kE2M3>, EncodeMinis<kE2M3>};
    case GE_F6E3M2:
      return {Mid::kReal, DecodeMinis<kE3M2>, EncodeMinis<kE3M2>};
    case GE_F8E8M0:
      return {Mid::kReal, DecodeE8M0, EncodeE8M0};
    default:
      return codec;
  }
}

}  // namespace ref
GE_REF_KERNEL(cast, "Cast", [](const NodeView& n, Why* why) { return PrepareCast(n, 1, why); })
