#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/elementwise.h"

namespace ge::test {
namespace {

void ModCase(CaseMaker& m) {
  const auto [a, b] = BroadcastPair(m);
  m.Add(m.Numbers(m.dtype(), a, Least(m), Greatest(m)));
  m.Add(AwayFromZero(m, b, true));
  if (m.r.Chance(0.6)) m.Set("fmod", m.r.Int(0, 1));
}

bool PlainMod(const RandomCase& c, HostTensor* out) {
  const bool truncated = IntOr(c, "fmod", 0) != 0;
  return Elementwise(
      c, out,
      [&](double x, double y) {
        const double rest = std::fmod(x, y);
        return truncated || rest == 0 || std::signbit(rest) == std::signbit(y) ? rest : rest + y;
      },
      [&](int64_t x, int64_t y) {
        const double quotient = static_cast<double>(x) / static_cast<double>(y);
        return x - y * static_cast<int64_t>(truncated ? quotient : std::floor(quotient));
      });
}

}  // namespace

GE_RANDOM_OP(mod) = {"Mod", ModCase, 1e-6, Error::kOfElement, PlainMod};

}  // namespace ge::test
