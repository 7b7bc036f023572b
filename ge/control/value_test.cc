// What the values of a run may take together.
#include "ge/control/value.h"

#include <gtest/gtest.h>

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
