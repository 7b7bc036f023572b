#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

// Now and then by more places than a type has.
void BitShiftCase(CaseMaker& m) {
  const auto [a, b] = BroadcastPair(m);
  const bool byte = DTypeBits(m.dtype()) == 8, negative = (Bit(m.dtype()) & kSignedInts) != 0;
  const double most = negative ? (byte ? 127 : 32767) : byte ? 255 : 65535;
  m.Add(m.Numbers(m.dtype(), a, negative ? -most : 0, most));
  m.Add(m.Numbers(m.dtype(), b, negative && m.r.Chance(0.2) ? -3 : 0, m.r.Chance(0.2) ? 70 : 7));
  m.Set("direction", std::string(m.r.Chance(0.5) ? "LEFT" : "RIGHT"));
  m.c.typed = false;  // a type's width decides
}

// One place at a time. By a negative number: as by more places than there are.
bool PlainBitShift(const RandomCase& c, HostTensor* out) {
  const bool left = std::get<std::string>(FindAttr(c, "direction")->value) == "LEFT";
  return Elementwise(
      c, out, [](double, double) { return 0.0; },
      [&](int64_t x, int64_t y) {
        if (left) {
          auto bits = static_cast<uint64_t>(x);
          for (int64_t i = 0; i < (y < 0 ? 64 : y); ++i) bits *= 2;
          return static_cast<int64_t>(bits);
        }
        const bool wide = (Bit(out->dtype) & kUnsignedInts) != 0;
        for (int64_t i = 0; i < (y < 0 ? 64 : y); ++i) {
          x = wide ? static_cast<int64_t>(static_cast<uint64_t>(x) / 2) : (x - (x & 1)) / 2;
        }
        return x;
      });
}

}  // namespace

GE_RANDOM_OP(bit_shift) = {"BitShift", BitShiftCase, 0, Error::kOfElement, PlainBitShift};

}  // namespace ge::test
