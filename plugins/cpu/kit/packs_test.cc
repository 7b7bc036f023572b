// SmallPacks: programs of one segment share them, but not where they must not.
#include "plugins/cpu/kit/packs.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ge_engines::cpu {
namespace {

std::string_view Bytes(const std::vector<float>& data) {
  return {reinterpret_cast<const char*>(data.data()), data.size() * sizeof(float)};
}

TEST(SmallPacks, AreWrittenOnceForEqualPayloadsWhereverTheseLie) {
  SmallPacks packs;
  int written = 0;
  const Fill twice = [&written](const void* const* from, void* to) {
    ++written;
    for (int i = 0; i < 3; ++i) {
      static_cast<float*>(to)[i] = 2 * static_cast<const float*>(from[0])[i];
    }
  };
  const std::vector<float> a = {1, 2, 3};
  // The copy lies at an odd address.
  std::string moved(1 + Bytes(a).size(), '\0');
  std::memcpy(moved.data() + 1, a.data(), Bytes(a).size());
  const PackName name = {"twice", {4}};
  const AlignedBlock first = packs.Take(name, {Bytes(a)}, 12, twice);
  EXPECT_EQ(packs.Take(name, {std::string_view(moved).substr(1)}, 12, twice).data(), first.data());
  EXPECT_EQ(written, 1);
  EXPECT_EQ(static_cast<const float*>(first.data())[2], 6);

  const std::vector<float> other = {1, 2, 4}, longer = {1, 2, 3, 4};
  const AlignedBlock second = packs.Take(name, {Bytes(other)}, 12, twice);
  EXPECT_EQ(static_cast<const float*>(second.data())[2], 8);
  EXPECT_EQ(static_cast<const float*>(first.data())[2], 6) << "whoever has it keeps it as it is";
  packs.Take(name, {Bytes(longer)}, 12, twice);
  packs.Take({"twice", {5}}, {Bytes(longer)}, 12, twice);
  EXPECT_EQ(written, 4);
}

TEST(SmallPacks, AFillThatFailedLeavesNothingBehind) {
  SmallPacks packs;
  const Fill fails = [](const void* const*, void*) { throw std::runtime_error("no"); };
  EXPECT_THROW(packs.Take({"nothing", {}}, {}, 4, fails), std::runtime_error);
  const Fill zero = [](const void* const*, void* to) { *static_cast<float*>(to) = 0; };
  EXPECT_NE(packs.Take({"nothing", {}}, {}, 4, zero).data(), nullptr);
}

}  // namespace
}  // namespace ge_engines::cpu
