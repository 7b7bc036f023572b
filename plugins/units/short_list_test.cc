// ShortList: against std::vector, within the object and beyond it.
#include "plugins/units/short_list.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace ge_engines {
namespace {

using List = ShortList<int64_t, 3>;
using Vector = std::vector<int64_t>;

Vector Of(const List& list) { return Vector(list.begin(), list.end()); }

TEST(ShortList, DoesWhatAVectorDoes) {
  std::mt19937 rng(1);
  for (int round = 0; round < 300; ++round) {
    List list;
    Vector vector;
    for (int step = 0; step < 20; ++step) {
      const auto value = static_cast<int64_t>(rng() % 100);
      const size_t at = rng() % (vector.size() + 1);
      const size_t n = rng() % 4;
      const auto offset = static_cast<ptrdiff_t>(at);
      switch (rng() % 7) {
        case 0:
          list.push_back(value);
          vector.push_back(value);
          break;
        case 1:
          list.insert(list.begin() + offset, n, value);
          vector.insert(vector.begin() + offset, n, value);
          break;
        case 2: {
          const Vector more(n, value);
          list.insert(list.begin() + offset, more.begin(), more.end());
          vector.insert(vector.begin() + offset, more.begin(), more.end());
          break;
        }
        case 3:
          if (at == vector.size()) break;
          list.erase(list.begin() + offset);
          vector.erase(vector.begin() + offset);
          break;
        case 4:
          list.resize(n);
          vector.resize(n);
          break;
        case 5:
          list.assign(n, value);
          vector.assign(n, value);
          break;
        default:
          if (vector.empty()) break;
          list.pop_back();
          vector.pop_back();
      }
      ASSERT_EQ(Of(list), vector) << round << " " << step;
    }
  }
}

TEST(ShortList, IsCopiedMovedAndCompared) {
  for (const Vector& content : {Vector{}, Vector{1, 2}, Vector{1, 2, 3}, Vector{1, 2, 3, 4, 5}}) {
    const List list(content.begin(), content.end());
    List copy = list, other = {9, 9, 9, 9, 9, 9};
    other = copy;
    EXPECT_EQ(Of(other), content);
    const List moved = std::move(copy);
    EXPECT_EQ(moved, list);
    EXPECT_TRUE(copy.empty());  // NOLINT: what is left is a list like any other
    copy.push_back(7);
    EXPECT_EQ(Of(copy), Vector{7});
    other = std::move(copy);
    EXPECT_EQ(Of(other), Vector{7});
    List& same = other;
    other = same;
    EXPECT_EQ(Of(other), Vector{7});
  }
  EXPECT_LT((List{1, 2}), (List{1, 2, 0}));
  EXPECT_LT((List{1, 2, 3, 4}), (List{2}));
  EXPECT_NE((List{1}), (List{1, 1}));
  EXPECT_EQ(Of(List(4, 5)), (Vector{5, 5, 5, 5}));
}

}  // namespace
}  // namespace ge_engines
