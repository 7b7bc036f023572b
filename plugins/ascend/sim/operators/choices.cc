// Elements taken as they are, or as another dtype: choices, casts, copies, fills. Plain formats.
#include "plugins/ascend/sim/operators/checker.h"

namespace ge_engines::ascend::sim {
namespace {

std::string CheckWhere(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "condition", kBools).Tensor(1, "self", kAllTypes).Tensor(2, "other", kAllTypes);
  c.Tensor(3, "out", kAllTypes).SameType(2, 1).SameType(3, 1);
  if (!c.ok()) return c.fault();
  Dims two, all;
  const bool meet = Meet(c.dims(1), c.dims(2), &two) && Meet(c.dims(0), two, &all);
  c.That(meet, "condition, self and other: dims " + TextOf(c.dims(0)) + ", " + TextOf(c.dims(1)) +
                   " and " + TextOf(c.dims(2)) + " do not meet");
  return c.HasDims(3, all).fault();
}

void RunWhere(const Arguments& given, void*) {
  const acl::Tensor& out = given[3].tensor;
  const auto view = [&](size_t i) { return Repeated(ViewOf(given[i].tensor), out.dims); };
  const auto condition = Load<int64_t>(given[0].tensor, view(0));
  WithValues(out.type, [&]<class V>(V) {
    std::vector<V> x = Load<V>(given[1].tensor, view(1));
    const std::vector<V> y = Load<V>(given[2].tensor, view(2));
    for (size_t i = 0; i < x.size(); ++i) x[i] = condition[i] != 0 ? x[i] : y[i];
    Store(out, x);
  });
}

std::string CheckCast(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "self", kAllTypes, kPlain | kBlocked).Tensor(2, "out", kAllTypes, kPlain | kBlocked);
  c.SameFormat(2, 0).HasDims(2, given[0].tensor.dims);
  const auto wanted = static_cast<acl::DataType>(IntegerOf(given, 1));
  return c
      .That(given[2].tensor.type == wanted,
            "out: " + NameOf(given[2].tensor.type) + ", the cast is to " + NameOf(wanted))
      .fault();
}

void Convert(const acl::Tensor& from, const acl::Tensor& to) {
  // An integer that becomes a real is a float32 between.
  WithValues(from.type,
             [&]<class V>(V) { Store(to, Load<V>(from, Repeated(ViewOf(from), to.dims))); });
}

void RunCast(const Arguments& given, void*) { Convert(given[0].tensor, given[2].tensor); }

std::string CheckCopy(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "self", kAllTypes).Tensor(1, "from", kAllTypes);
  return c.RepeatsTo(1, given[0].tensor.dims).fault();
}

void RunCopy(const Arguments& given, void*) { Convert(given[1].tensor, given[0].tensor); }

std::string CheckFill(const Arguments& given) {
  Checker c(given);
  return c.Tensor(0, "self", kAllTypes).Scalar(1, "value").fault();
}

void RunFill(const Arguments& given, void*) {
  const acl::Tensor& self = given[0].tensor;
  WithValues(self.type, [&]<class V>(V) {
    Store(self, std::vector<V>(static_cast<size_t>(Count(self.dims)), ScalarOf<V>(given, 1)));
  });
}

std::string CheckZero(const Arguments& given) {
  return Checker(given).Tensor(0, "self", kAllTypes).fault();
}

void RunZero(const Arguments& given, void*) {
  const acl::Tensor& self = given[0].tensor;
  Store(self, std::vector<int64_t>(static_cast<size_t>(Count(self.dims)), 0));
}

constexpr Operation kChoices[] = {
    {"Cast", CheckCast, nullptr, RunCast},
    {"InplaceCopy", CheckCopy, nullptr, RunCopy},
    {"InplaceFillScalar", CheckFill, nullptr, RunFill},
    {"InplaceZero", CheckZero, nullptr, RunZero},
    {"SWhere", CheckWhere, nullptr, RunWhere},
};

}  // namespace

std::span<const Operation> ChoiceOperations() { return kChoices; }

}  // namespace ge_engines::ascend::sim
