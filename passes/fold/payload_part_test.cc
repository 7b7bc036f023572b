#include "passes/fold/payload_part.h"

#include <gtest/gtest.h>

#include <random>

#include "ge/infer/infer.h"
#include "passes/pass_graph_testing.h"

namespace ge {
namespace {

using Dims = std::vector<int64_t>;

ValueId Integers(PassGraph* p, const Dims& list, bool narrow) {
  const std::vector<int32_t> words(list.begin(), list.end());
  const auto n = static_cast<int64_t>(list.size());
  Const c = narrow ? MakeConst(TensorType(DType::kInt32, Dims{n}), words.data(), words.size() * 4)
                   : MakeConst(TensorType(DType::kInt64, Dims{n}), list.data(), list.size() * 8);
  return AddConstValue(&p->g, &p->F(), std::move(c));
}

// Element k of the constant is k, so that a result tells which were taken.
struct Cut {
  Cut(const Dims& dims, const Dims& starts, const Dims& ends, const Dims& axes, const Dims& steps,
      bool narrow = false) {
    std::vector<float> data(static_cast<size_t>(*ElementCount(PassGraph::F32(dims))));
    for (size_t k = 0; k < data.size(); ++k) data[k] = static_cast<float>(k);
    table = p.Floats("table", dims, data);
    std::vector<ValueId> in = {table, Integers(&p, starts, narrow), Integers(&p, ends, narrow)};
    if (!axes.empty() || !steps.empty())
      in.push_back(axes.empty() ? 0 : Integers(&p, axes, narrow));
    if (!steps.empty()) in.push_back(Integers(&p, steps, narrow));
    p.Result(p.Add("Slice", in, {}, UnrankedTensor(DType::kFloat)), "y");
    EXPECT_TRUE(Infer(&p.g).ok());
  }
  std::optional<Const> Part() { return PayloadPart(p.g, p.F(), p.F().nodes[0]); }
  PassGraph p;
  ValueId table = 0;
};

TEST(PayloadPart, RowsShareThePayload) {
  Cut cut({6, 2}, {1}, {4}, {0}, {1});
  const auto part = cut.Part();
  ASSERT_TRUE(part.has_value());
  const Const& whole = cut.p.g.consts[cut.p.F().value(cut.table).constant];
  EXPECT_EQ(part->data, whole.data + 8);
  EXPECT_EQ(part->owner, whole.owner);
  EXPECT_EQ(part->bytes, 24u);
  EXPECT_EQ(part->type.static_dims(), (Dims{3, 2}));
}

TEST(PayloadPart, NarrowIndicesAreReadAsWell) {
  const auto part = Cut({6, 2}, {2}, {5}, {0}, {1}, true).Part();
  ASSERT_TRUE(part.has_value());
  EXPECT_EQ(part->type.static_dims(), (Dims{3, 2}));
  EXPECT_FALSE(Cut({6, 2}, {0}, {6}, {0}, {2}, true).Part());  // every other row
}

TEST(PayloadPart, WhatIsNotOnePieceStays) {
  EXPECT_FALSE(Cut({6, 2}, {0}, {1}, {1}, {1}).Part());  // a column
  EXPECT_FALSE(Cut({6, 2}, {0}, {6}, {0}, {2}).Part());  // every other row
  EXPECT_FALSE(Cut({6, 2}, {5}, {0}, {0}, {-1}).Part());
  EXPECT_FALSE(Cut({6, 2}, {2}, {2}, {0}, {1}).Part());  // nothing
}

// Against taking one element after the other.
TEST(PayloadPart, EveryPartIsTheSliceOfRandomCuts) {
  std::mt19937 random(20261125);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  int parts = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Dims dims, starts, ends, axes, begin, size;
    for (int64_t axis = 0, rank = pick(1, 4); axis < rank; ++axis) {
      const int64_t d = pick(1, 5);
      dims.push_back(d);
      begin.push_back(0);
      size.push_back(d);
      if (pick(0, 2) == 0) continue;
      const int64_t b = pick(0, d - 1), e = pick(b + 1, d);
      axes.push_back(pick(0, 1) ? axis : axis - rank);
      starts.push_back(pick(0, 1) ? b : b - d);
      ends.push_back(e < d ? e : pick(0, 1) ? d : INT32_MAX);
      begin.back() = b;
      size.back() = e - b;
    }
    if (axes.empty()) continue;
    Cut cut(dims, starts, ends, axes, pick(0, 1) ? Dims(axes.size(), 1) : Dims(), pick(0, 1) != 0);
    const auto part = cut.Part();
    if (!part) continue;
    ++parts;
    ASSERT_EQ(part->type.static_dims(), size);
    const auto* got = reinterpret_cast<const float*>(part->data);
    for (int64_t k = 0, n = *ElementCount(part->type); k < n; ++k) {
      int64_t rest = k, at = 0, stride = 1;
      for (size_t axis = dims.size(); axis-- > 0;) {
        at += (begin[axis] + rest % size[axis]) * stride;
        rest /= size[axis];
        stride *= dims[axis];
      }
      ASSERT_EQ(got[k], static_cast<float>(at)) << "trial " << trial << " element " << k;
    }
  }
  EXPECT_GT(parts, 500);
}

}  // namespace
}  // namespace ge
