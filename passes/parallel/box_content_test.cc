// Boxes of random sizes have their elements, one by one.
#include "passes/parallel/box_content.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>

namespace ge::parallel {
namespace {

// Every element of the box by its index, one after the other.
std::vector<char> OneByOne(const std::vector<char>& data, uint64_t bytes,
                           const std::vector<int64_t>& dims, const std::vector<Part>& box) {
  std::vector<char> out;
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  for (int64_t i = 0; i < count; ++i) {
    bool inside = true;
    int64_t rest = i;
    for (size_t d = dims.size(); d-- > 0; rest /= dims[d]) {
      const int64_t at = rest % dims[d];
      inside = inside && at >= box[d].first && at < box[d].first + box[d].size;
    }
    const auto from = data.begin() + i * static_cast<int64_t>(bytes);
    if (inside) out.insert(out.end(), from, from + static_cast<int64_t>(bytes));
  }
  return out;
}

TEST(BoxContent, BoxesHaveTheirElements) {
  std::mt19937 random(3);
  const auto upto = [&](int64_t n) { return static_cast<int64_t>(random() % (n + 1)); };
  for (int round = 0; round < 3000; ++round) {
    std::vector<int64_t> dims(static_cast<size_t>(upto(4)));
    std::vector<Part> box;
    const uint64_t bytes = uint64_t{1} << upto(3);
    uint64_t count = bytes;
    for (int64_t& d : dims) {
      d = upto(5);
      const int64_t first = upto(d);
      box.push_back(random() % 3 == 0 ? Part{0, d} : Part{first, upto(d - first)});
      count *= static_cast<uint64_t>(d);
    }
    std::vector<char> data(count);
    for (char& c : data) c = static_cast<char>(random());
    const BoxContent content(data.data(), bytes, dims, box);
    EXPECT_EQ(std::vector<char>(content.data, content.data + content.size),
              OneByOne(data, bytes, dims, box))
        << round;
  }
}

TEST(BoxContent, RowsAreNotCopied) {
  const std::vector<char> data(60);
  const BoxContent rows(data.data(), 1, {5, 4, 3}, {{2, 2}, {0, 4}, {0, 3}});
  EXPECT_EQ(rows.data, data.data() + 24);
  EXPECT_EQ(rows.size, 24u);
  const BoxContent inner(data.data(), 1, {5, 4, 3}, {{3, 1}, {1, 2}, {0, 3}});
  EXPECT_EQ(inner.data, data.data() + 39);
  const BoxContent columns(data.data(), 1, {5, 4, 3}, {{0, 5}, {0, 2}, {0, 3}});
  EXPECT_TRUE(columns.data < data.data() || columns.data >= data.data() + data.size());
  EXPECT_EQ(columns.size, 30u);
}

}  // namespace
}  // namespace ge::parallel
