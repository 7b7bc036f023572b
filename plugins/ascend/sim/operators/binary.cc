// Functions of two tensors of one dtype, repeated to each other's dims: arithmetic, comparisons,
// logic. In plain formats; arithmetic also in NC1HWC0.
#include <algorithm>
#include <cmath>

#include "plugins/ascend/sim/operators/checker.h"

namespace ge_engines::ascend::sim {
namespace {

struct Multiply {
  float operator()(float x, float y) const { return x * y; }
  int64_t operator()(int64_t x, int64_t y) const {
    return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  }
};
struct Divide {
  float operator()(float x, float y) const { return x / y; }
};
struct Fmod {
  float operator()(float x, float y) const { return std::fmod(x, y); }
  int64_t operator()(int64_t x, int64_t y) const {
    if (y == 0) throw Failure("FmodTensor: an integer by zero");
    return y == -1 ? 0 : x % y;
  }
};
// A NaN of either is the result.
struct Greater {
  float operator()(float x, float y) const { return std::isnan(x) || x > y ? x : y; }
  int64_t operator()(int64_t x, int64_t y) const { return std::max(x, y); }
};
struct Smaller {
  float operator()(float x, float y) const { return std::isnan(x) || x < y ? x : y; }
  int64_t operator()(int64_t x, int64_t y) const { return std::min(x, y); }
};
struct Power {
  float operator()(float x, float y) const { return std::pow(x, y); }
};
struct Equal {
  bool operator()(auto x, auto y) const { return x == y; }
};
struct AtLeast {
  bool operator()(auto x, auto y) const { return x >= y; }
};
struct Above {
  bool operator()(auto x, auto y) const { return x > y; }
};
struct AtMost {
  bool operator()(auto x, auto y) const { return x <= y; }
};
struct Below {
  bool operator()(auto x, auto y) const { return x < y; }
};
struct And {
  bool operator()(auto x, auto y) const { return x != 0 && y != 0; }
};
struct Or {
  bool operator()(auto x, auto y) const { return x != 0 || y != 0; }
};
struct Xor {
  bool operator()(auto x, auto y) const { return (x != 0) != (y != 0); }
};

// Two operands and what is made of them, at `out`.
Checker CheckTwo(const Arguments& given, size_t out, uint32_t types, uint32_t out_types,
                 uint32_t formats) {
  Checker c(given);
  c.Tensor(0, "self", types, formats).Tensor(1, "other", types, formats);
  c.Tensor(out, "out", out_types, formats).SameType(1, 0).SameFormat(1, 0).SameFormat(out, 0);
  if (!c.ok()) return c;
  Dims both;
  c.That(Meet(c.dims(0), c.dims(1), &both), "self and other: dims " + TextOf(c.dims(0)) + " and " +
                                                TextOf(c.dims(1)) + " do not meet");
  return c.HasDims(out, both);
}

// Also in NC1HWC0, whose channels are never repeated.
Checker CheckBlockedTwo(const Arguments& given, size_t out, uint32_t types) {
  Checker c = CheckTwo(given, out, types, types, kPlain | kBlocked);
  c.SameType(out, 0);
  if (!c.ok() || given[0].tensor.format != acl::kNc1hwc0) return c;
  return c.That(c.dims(0)[1] == c.dims(1)[1], "self and other: other channels in NC1HWC0");
}

// The first operand's values, changed into those of use(x, y).
template <class V, class Use>
std::vector<V> Both(const Arguments& given, const Dims& dims, const Use& use) {
  const acl::Tensor &self = given[0].tensor, &other = given[1].tensor;
  std::vector<V> x = Load<V>(self, Repeated(ViewOf(self), dims));
  const std::vector<V> y = Load<V>(other, Repeated(ViewOf(other), dims));
  for (size_t i = 0; i < x.size(); ++i) x[i] = use(x[i], y[i]);
  return x;
}

template <class Function, uint32_t types>
constexpr Operation Arithmetic(const char* name) {
  return {name, [](const Arguments& given) { return CheckBlockedTwo(given, 2, types).fault(); },
          nullptr,
          [](const Arguments& given, void*) {
            const acl::Tensor& out = given[2].tensor;
            WithValues(out.type, [&]<class V>(V) {
              if constexpr (std::is_invocable_r_v<V, Function, V, V> &&
                            ((types & kWholes) != 0 || std::is_same_v<V, float>)) {
                Store(out, Both<V>(given, out.dims, Function()));
              }
            });
          }};
}

template <class Function>
constexpr Operation Comparison(const char* name) {
  return {
      name,
      [](const Arguments& given) { return CheckTwo(given, 2, kAllTypes, kBools, kPlain).fault(); },
      nullptr,
      [](const Arguments& given, void*) {
        const acl::Tensor& out = given[2].tensor;
        WithValues(given[0].tensor.type, [&]<class V>(V) {
          Store(out, Both<V>(given, out.dims, [](V x, V y) { return V(Function()(x, y)); }));
        });
      }};
}

// ---- with a factor of the second ---------------------------------------------------------------

std::string CheckSum(const Arguments& given) {
  Checker c = CheckBlockedTwo(given, 3, kNumbers);
  c.Scalar(2, "alpha");
  if (c.ok() && !IsReal(given[0].tensor.type)) {
    c.That(!IsReal(given[2].scalar.type), "alpha: a real factor of integers");
  }
  return c.fault();
}

template <int sign>
void RunSum(const Arguments& given, void*) {
  const acl::Tensor& out = given[3].tensor;
  WithValues(out.type, [&]<class V>(V) {
    const V alpha = ScalarOf<V>(given, 2);
    Store(out, Both<V>(given, out.dims, [alpha](V x, V y) {
            if constexpr (std::is_same_v<V, float>) return x + V(sign) * (alpha * y);
            const uint64_t more = static_cast<uint64_t>(alpha) * static_cast<uint64_t>(y);
            return static_cast<V>(static_cast<uint64_t>(x) + (sign > 0 ? more : 0 - more));
          }));
  });
}

constexpr Operation kBinary[] = {
    {"Add", CheckSum, nullptr, RunSum<1>},
    {"Sub", CheckSum, nullptr, RunSum<-1>},
    Arithmetic<Divide, kReals>("Div"),
    Arithmetic<Fmod, kNumbers>("FmodTensor"),
    Arithmetic<Greater, kNumbers>("Maximum"),
    Arithmetic<Smaller, kNumbers>("Minimum"),
    Arithmetic<Multiply, kAllTypes>("Mul"),
    Arithmetic<Power, kReals>("PowTensorTensor"),
    Comparison<Equal>("EqTensor"),
    Comparison<AtLeast>("GeTensor"),
    Comparison<Above>("GtTensor"),
    Comparison<AtMost>("LeTensor"),
    Comparison<Below>("LtTensor"),
    Comparison<And>("LogicalAnd"),
    Comparison<Or>("LogicalOr"),
    Comparison<Xor>("LogicalXor"),
};

}  // namespace

std::span<const Operation> BinaryOperations() { return kBinary; }

}  // namespace ge_engines::ascend::sim
