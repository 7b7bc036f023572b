// What FoldMemo answers: the same node of the same payloads, while somebody holds what it gave.
#include "ge/compile/fold/fold_memo.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace ge::test {
namespace {

Const FromHere(int64_t n, float from) {
  std::vector<float> x(static_cast<size_t>(n));
  std::iota(x.begin(), x.end(), from);
  return MakeConst(TensorType(DType::kFloat, std::vector<int64_t>{n}), x.data(),
                   x.size() * sizeof(float));
}

Node Sliced() {
  Node n;
  n.op = "Slice";
  n.inputs = {1, 2};
  n.outputs = {3};
  n.attrs = {{"axis", int64_t{0}}};
  return n;
}

const std::vector<Type> kSliceGives = {TensorType(DType::kFloat, std::vector<int64_t>{100})};

TEST(FoldMemo, KnowsANodeByItsPayloadsAndByTheContentOfSmallOnes) {
  FoldMemo memo;
  const Const weight = FromHere(1000, 0), copy = FromHere(1000, 0);
  const Const at = FromHere(3, 5), same = FromHere(3, 5), other = FromHere(3, 6);
  const Node n = Sliced();
  const std::vector<Const> made = {FromHere(100, 7)};
  const std::vector<const Const*> asked = {&weight, &at}, again = {&weight, &same},
                                  elsewhere = {&copy, &at}, moved = {&weight, &other},
                                  less = {&weight, nullptr}, fewer = {&weight};
  memo.Keep({n, asked, kSliceGives}, made);
  const auto found = memo.Find({n, again, kSliceGives});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at(0).data, made[0].data);
  EXPECT_EQ(found->at(0).owner, made[0].owner);
  EXPECT_EQ(found->at(0).type, made[0].type);
  for (const auto* inputs : {&elsewhere, &moved, &less, &fewer}) {
    EXPECT_FALSE(memo.Find({n, *inputs, kSliceGives}));
  }
  EXPECT_FALSE(memo.Find({n, again, {TensorType(DType::kInt64, std::vector<int64_t>{100})}}));
  Node turned = Sliced();
  turned.attrs[0].value = int64_t{1};
  EXPECT_FALSE(memo.Find({turned, again, kSliceGives}));
  turned = Sliced();
  turned.op = "Gather";
  EXPECT_FALSE(memo.Find({turned, again, kSliceGives}));
}

TEST(FoldMemo, KeepsNoPayloadAliveAndMistakesNoneForAnother) {
  FoldMemo memo;
  const Node n = Sliced();
  auto weight = std::make_unique<Const>(FromHere(1000, 0));
  const Const at = FromHere(3, 5);
  std::vector<Const> made = {FromHere(100, 7)};
  const std::weak_ptr<const void> payload = made[0].owner;
  const std::vector<const Const*> asked = {weight.get(), &at};
  memo.Keep({n, asked, kSliceGives}, made);
  // Another payload at the same place is another one.
  Const impostor = FromHere(1000, 1);
  impostor.data = weight->data;
  const std::vector<const Const*> by_impostor = {&impostor, &at};
  EXPECT_FALSE(memo.Find({n, by_impostor, kSliceGives}));
  made.clear();
  EXPECT_TRUE(payload.expired());
  EXPECT_FALSE(memo.Find({n, asked, kSliceGives}));
  made = {FromHere(100, 7)};
  memo.Keep({n, asked, kSliceGives}, made);  // made once more
  EXPECT_TRUE(memo.Find({n, asked, kSliceGives}));
}

TEST(FoldMemo, KeepsNothingThatSizesDecideAndNotMoreThanAFew) {
  FoldMemo memo;
  Node n = Sliced();
  const Const weight = FromHere(1000, 0), at = FromHere(3, 5);
  const std::vector<Const> made = {FromHere(100, 7)};
  const std::vector<const Const*> small = {&at, &at}, asked = {&weight, &at};
  memo.Keep({n, small, kSliceGives}, made);
  EXPECT_FALSE(memo.Find({n, small, kSliceGives}));
  for (int64_t axis = 0; axis < 100; ++axis) {
    n.attrs[0].value = axis;
    memo.Keep({n, asked, kSliceGives}, made);
  }
  n.attrs[0].value = int64_t{99};
  EXPECT_TRUE(memo.Find({n, asked, kSliceGives}));
  n.attrs[0].value = int64_t{0};
  EXPECT_FALSE(memo.Find({n, asked, kSliceGives}));
}

}  // namespace
}  // namespace ge::test
