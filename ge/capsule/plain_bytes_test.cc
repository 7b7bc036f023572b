// Tensors in layouts of engines, brought into plain order.
#include "ge/capsule/plain_bytes.h"

#include <gtest/gtest.h>

#include <numeric>

namespace ge {
namespace {

std::vector<float> Floats(std::span<const std::byte> bytes) {
  const auto* at = reinterpret_cast<const float*>(bytes.data());
  return {at, at + bytes.size() / sizeof(float)};
}

Result<std::span<const std::byte>> Plain(const PlanLayout& layout, std::vector<int64_t> dims,
                                         const std::vector<float>& from, AlignedBytes* memory) {
  return PlainBytes(&layout, DType::kFloat, dims, std::as_bytes(std::span(from)), memory);
}

TEST(PlainBytes, ChannelsLast) {
  const PlanLayout layout = {PlanLayout::Kind::kStrided, {0, 2, 3, 1}, {}, {}, "", 0};
  // [1,2,1,3] with channels innermost: pixel by pixel.
  AlignedBytes memory;
  const auto plain = Plain(layout, {1, 2, 1, 3}, {0, 10, 1, 11, 2, 12}, &memory);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(Floats(*plain), (std::vector<float>{0, 1, 2, 10, 11, 12}));
}

TEST(PlainBytes, BlocksWithPadding) {
  // [1,3,2] with blocks of 2 channels: the last block has one channel of padding.
  const PlanLayout layout = {PlanLayout::Kind::kBlocked, {0, 1, 2}, {1}, {2}, "", 0};
  AlignedBytes memory;
  const auto plain = Plain(layout, {1, 3, 2}, {0, 10, 1, 11, 20, -1, 21, -1}, &memory);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(Floats(*plain), (std::vector<float>{0, 1, 10, 11, 20, 21}));
}

TEST(PlainBytes, TwoBlocksOfOneAxis) {
  // [8] as 1 x (2 of 4): blocks of 4 in blocks of 2 keep the order of one axis.
  const PlanLayout layout = {PlanLayout::Kind::kBlocked, {0}, {0, 0}, {2, 4}, "", 0};
  std::vector<float> from(8);
  std::iota(from.begin(), from.end(), 0.0f);
  AlignedBytes memory;
  const auto plain = Plain(layout, {8}, from, &memory);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(Floats(*plain), from);
}

TEST(PlainBytes, RefusesWhatDoesNotFit) {
  AlignedBytes memory;
  const PlanLayout last = {PlanLayout::Kind::kStrided, {0, 2, 3, 1}, {}, {}, "", 0};
  const auto small = Plain(last, {1, 2, 1, 3}, {0, 10, 1, 11, 2}, &memory);
  EXPECT_EQ(small.status().code(), Code::kDataCorrupt);
  EXPECT_NE(small.status().message().find("24 bytes lies in a place of 20 bytes"),
            std::string::npos);
  const PlanLayout twice = {PlanLayout::Kind::kStrided, {0, 0, 3, 1}, {}, {}, "", 0};
  EXPECT_EQ(Plain(twice, {1, 2, 1, 3}, {0}, &memory).status().code(), Code::kDataCorrupt);
  const PlanLayout axis = {PlanLayout::Kind::kBlocked, {0}, {7}, {8}, "", 0};
  EXPECT_EQ(Plain(axis, {8}, {0}, &memory).status().code(), Code::kDataCorrupt);
  const PlanLayout opaque = {PlanLayout::Kind::kOpaque, {}, {}, {}, "tiles", 64};
  EXPECT_FALSE(IsKnownLayout(&opaque, DType::kFloat, 1));
  EXPECT_TRUE(IsKnownLayout(nullptr, DType::kFloat, 1));
}

}  // namespace
}  // namespace ge
