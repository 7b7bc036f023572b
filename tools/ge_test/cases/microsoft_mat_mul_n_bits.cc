#include <cmath>

#include "tools/ge_test/random/microsoft.h"

namespace ge::test {
namespace {

// Blocks of whole steps of which the greatest is 127, so that nothing is lost where an engine takes
// as few as accuracy_level permits.
std::shared_ptr<HostTensor> Steps(CaseMaker& m, const Dims& dims, int64_t block) {
  auto t = m.Numbers(m.dtype(), dims, -1, 1);
  const int64_t k = dims.back();
  double step = 1;
  for (int64_t i = 0, all = t->count(); i < all; ++i) {
    const bool first = i % k % block == 0;
    if (first) step = std::ldexp(1.0, static_cast<int>(m.r.Int(-9, -5)));
    const int64_t code = first ? 127 : m.r.Int(-127, 127);
    SetElement(t.get(), i, static_cast<double>(m.r.Chance(0.5) ? code : -code) * step);
  }
  return t;
}

void NBitsCase(CaseMaker& m) {
  const int64_t bits = m.r.Pick(std::vector<int64_t>{4, 4, 8, 2}),
                block = m.large           ? int64_t{16} << m.r.Int(0, 6)
                        : m.r.Chance(0.7) ? 16
                                          : 32;
  const int64_t k = m.Size(70, 1300), n = m.Size(8, 300), blocks = (k + block - 1) / block;
  const int64_t zero_bytes = (blocks * bits + 7) / 8;
  // An engine that multiplies codes wants all weights at hand.
  const bool constant = m.r.Chance(0.7);
  const auto add = [&](std::shared_ptr<const HostTensor> t) {
    constant ? m.AddConstant(t) : m.Add(t);
  };
  const Dims rows = Cat(m.large ? Dims{} : m.Shape(0, 2, false), {m.r.Int(1, m.large ? 40 : 4), k});
  const bool steps = m.r.Chance(0.4);
  m.Add(steps ? Steps(m, rows, block) : Signal(m, rows));
  add(Codes(m, DType::kUint8, {n, blocks, block * bits / 8}));
  const bool flat = m.r.Chance(0.5);
  add(m.Numbers(m.dtype(), flat ? Dims{n * blocks} : Dims{n, blocks}, 0.01, 0.1));
  const int64_t kind = m.r.Int(0, 2);
  if (kind == 0) {
    m.AddAbsent();
  } else if (kind == 1) {
    add(Codes(m, DType::kUint8, flat ? Dims{n * zero_bytes} : Dims{n, zero_bytes}));
  } else {
    add(m.Numbers(DType::kFloat, {n, blocks}, -4, 4));
  }
  if (m.r.Chance(0.4)) {
    m.AddAbsent();
    add(Signal(m, {n}));
  }
  m.Set("K", k);
  m.Set("N", n);
  m.Set("block_size", block);
  if (bits != 4 || m.r.Chance(0.5)) m.Set("bits", bits);
  if (steps) m.Set("accuracy_level", int64_t{4});
}

// Codes of row r of a packed tensor whose rows have so many bytes.
int64_t NBitsCode(const HostTensor& t, int64_t bytes, int64_t r, int64_t i, int64_t bits) {
  const int64_t byte = ElementAsInt(t, r * bytes + i * bits / 8);
  return byte >> (i * bits % 8) & ((1 << bits) - 1);
}

bool PlainNBits(const RandomCase& c, HostTensor* out) {
  const HostTensor &a = *Maybe(c, 0), &b = *Maybe(c, 1), &scales = *Maybe(c, 2);
  const HostTensor *zeros = Maybe(c, 3), *bias = Maybe(c, 5);
  const int64_t k = IntOr(c, "K", 0), n = IntOr(c, "N", 0), bits = IntOr(c, "bits", 4),
                block = IntOr(c, "block_size", 0), blocks = b.dims[1];
  Dims wanted = a.dims;
  wanted.back() = n;
  if (out->dims != wanted) return false;
  for (int64_t i = 0, all = out->count(); i < all; ++i) {
    const int64_t row = i / n, col = i % n;
    double sum = bias != nullptr ? ElementAsDouble(*bias, col) : 0;
    for (int64_t j = 0; j < k; ++j) {
      double zero = static_cast<double>(int64_t{1} << (bits - 1));
      if (zeros != nullptr && zeros->dtype == DType::kUint8) {
        zero =
            static_cast<double>(NBitsCode(*zeros, (blocks * bits + 7) / 8, col, j / block, bits));
      } else if (zeros != nullptr) {
        zero = ElementAsDouble(*zeros, col * blocks + j / block);
      }
      const auto code = static_cast<double>(NBitsCode(b, blocks * block * bits / 8, col, j, bits));
      sum += ElementAsDouble(a, row * k + j) * (code - zero) *
             ElementAsDouble(scales, col * blocks + j / block);
    }
    SetElement(out, i, sum);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(microsoft_mat_mul_n_bits) = {"com.microsoft.MatMulNBits", NBitsCase, 2e-5,
                                          Error::kOfTerms, PlainNBits};

}  // namespace ge::test
