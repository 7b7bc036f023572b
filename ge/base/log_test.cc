#include "ge/base/log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace ge {
namespace {

struct Heard {
  std::vector<std::string> lines;
  std::vector<uint32_t> levels;
  Status set_again;
  int at_once = 0, most_at_once = 0;
};

void Hear(void* context, uint32_t level, const char* text) {
  auto* heard = static_cast<Heard*>(context);
  heard->most_at_once = std::max(heard->most_at_once, ++heard->at_once);
  heard->lines.emplace_back(text);
  heard->levels.push_back(level);
  LogLine(0, "a line about a line");  // goes nowhere
  heard->set_again = SetLogSink(nullptr, nullptr, 0);
  --heard->at_once;
}

TEST(Log, GoesToTheFunction) {
  Heard heard;
  ASSERT_TRUE(SetLogSink(&Hear, &heard, 2).ok());
  LogLine(2, "one\ntwo");
  LogLine(3, "too fine");
  LogLine(0, std::string(5000, 'x'));
  EXPECT_EQ(heard.set_again.code(), Code::kFailedPrecondition);
  ASSERT_TRUE(SetLogSink(nullptr, nullptr, 0).ok());
  LogLine(4, "nobody hears this");
  ASSERT_EQ(heard.lines.size(), 2u);
  EXPECT_EQ(heard.lines[0], "one two");
  EXPECT_EQ(heard.levels[0], 2u);
  EXPECT_EQ(heard.lines[1].size(), 4096u);
}

TEST(Log, OneLineAtATime) {
  Heard heard;
  ASSERT_TRUE(SetLogSink(&Hear, &heard, 4).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) LogLine(4, "line");
    });
  }
  for (std::thread& t : threads) t.join();
  ASSERT_TRUE(SetLogSink(nullptr, nullptr, 0).ok());
  EXPECT_EQ(heard.lines.size(), 800u);
  EXPECT_EQ(heard.most_at_once, 1);
}

}  // namespace
}  // namespace ge
