#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

// Now and then by more places than a type has.
void BitShiftCase(CaseMaker& m) {
  const auto [a, b] = BroadcastPair(m);
  m.Add(m.Numbers(m.dtype(), a, 0, m.dtype() == DType::kUint8 ? 255 : 65535));
  m.Add(m.Numbers(m.dtype(), b, 0, m.r.Chance(0.2) ? 70 : 7));
  m.Set("direction", std::string(m.r.Chance(0.5) ? "LEFT" : "RIGHT"));
}

// One place at a time.
bool PlainBitShift(const RandomCase& c, HostTensor* out) {
  const bool left = std::get<std::string>(FindAttr(c, "direction")->value) == "LEFT";
  return Elementwise(
      c, out, [](double, double) { return 0.0; },
      [&](int64_t x, int64_t y) {
        auto bits = static_cast<uint64_t>(x);
        for (int64_t i = 0; i < y; ++i) bits = left ? bits * 2 : bits / 2;
        return static_cast<int64_t>(bits);
      });
}

}  // namespace

GE_RANDOM_OP(bit_shift) = {"BitShift", BitShiftCase, 0, Error::kOfElement, PlainBitShift};

}  // namespace ge::test
