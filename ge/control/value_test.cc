// What the values of a run may take together.
#include "ge/control/value.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace ge {
namespace {

TEST(FlowPool, RefusesWhatIsBeyondItsLimit) {
  FlowPool pool;
  pool.SetLimit(4096);
  FlowValue a, b;
  std::byte* to = nullptr;
  ASSERT_TRUE(pool.NewTensor(DType::kFloat, {768}, &a, &to).ok());  // 3,072 bytes
  const Status status = pool.NewTensor(DType::kFloat, {512}, &b, &to);
  EXPECT_EQ(status.code(), Code::kLimitExceeded);
  EXPECT_NE(status.message().find("2048 more"), std::string::npos) << status.message();
  a = FlowValue();  // what nobody holds makes room
  EXPECT_TRUE(pool.NewTensor(DType::kFloat, {512}, &b, &to).ok());
}

// A block of twice the size and a line is taken for a tensor, a larger one is not.
TEST(FlowPool, TakesABlockThatIsNotMuchTooLarge) {
  for (const int64_t bytes : {63, 64}) {
    FlowPool pool;
    FlowValue large, small;
    std::byte *first = nullptr, *second = nullptr;
    ASSERT_TRUE(pool.NewTensor(DType::kUint8, {256}, &large, &first).ok());
    large = FlowValue();
    ASSERT_TRUE(pool.NewTensor(DType::kUint8, {bytes}, &small, &second).ok());
    EXPECT_EQ(first == second, bytes == 64) << bytes;
  }
}

// More than it takes is made for a tensor that has outgrown its block, and for no other.
TEST(FlowPool, NoHeadroomBesideABlockThatNeverHeldTheTensor) {
  FlowPool pool;
  FlowValue small, large, larger;
  std::byte *to = nullptr, *first = nullptr, *second = nullptr;
  ASSERT_TRUE(pool.NewTensor(DType::kUint8, {64}, &small, &to).ok());
  small = FlowValue();
  ASSERT_TRUE(pool.NewTensor(DType::kUint8, {2 << 20}, &large, &first).ok());
  large = FlowValue();
  ASSERT_TRUE(pool.NewTensor(DType::kUint8, {3 << 20}, &larger, &second).ok());
  EXPECT_NE(first, second);
}

// As a loop does that appends to its own result: the last one is read while the next is written.
std::set<const std::byte*> PlacesOfGrowing(FlowPool* pool, int64_t trips) {
  std::set<const std::byte*> places;
  FlowValue now, next;
  std::byte* to = nullptr;
  for (int64_t k = 1; k <= trips; ++k) {
    EXPECT_TRUE(pool->NewTensor(DType::kFloat, {k, 1 << 18}, &next, &to).ok()) << k;
    places.insert(to);
    now = std::exchange(next, FlowValue());
  }
  return places;
}

TEST(FlowPool, ATensorThatGrowsTakesFewBlocks) {
  FlowPool pool;
  EXPECT_LE(PlacesOfGrowing(&pool, 64).size(), 24u);  // of 1 to 64 MiB; else one for each trip
  FlowPool tight;  // no headroom where it would be beyond the limit
  tight.SetLimit(uint64_t{20} << 20);
  PlacesOfGrowing(&tight, 10);
}

TEST(FlowPool, CountsTextsAndSequencesWhileTheyAreHeld) {
  FlowPool pool;
  pool.SetLimit(100'000);
  FlowValue texts, more, sequence;
  ASSERT_TRUE(
      pool.NewStrings({1000}, std::vector<std::string>(1000, std::string(30, 'a')), &texts).ok());
  EXPECT_EQ(
      pool.NewStrings({1000}, std::vector<std::string>(1000, std::string(50, 'b')), &more).code(),
      Code::kLimitExceeded);
  EXPECT_EQ(pool.NewSequence(DType::kString, std::vector<FlowValue>(1000, texts), &sequence).code(),
            Code::kLimitExceeded);
  texts = FlowValue();
  EXPECT_TRUE(
      pool.NewStrings({1000}, std::vector<std::string>(1000, std::string(50, 'b')), &more).ok());
}

TEST(FlowPool, HasNoRoomForMoreThanIsLeft) {
  FlowPool pool;
  EXPECT_TRUE(pool.Room(UINT64_MAX).ok());
  pool.SetLimit(10);
  EXPECT_TRUE(pool.Room(10).ok());
  EXPECT_EQ(pool.Room(11).code(), Code::kLimitExceeded);
}

}  // namespace
}  // namespace ge
