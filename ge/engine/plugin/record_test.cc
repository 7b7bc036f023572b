#include "ge/engine/plugin/record.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ge {
namespace {

// A table of the three functions that were published first, with rubbish behind.
struct Tail {
  ge_engine_api api;
  Tail() {
    std::memset(static_cast<void*>(this), 0xab, sizeof *this);
    api.h = {kFirstSize<ge_engine_api>, GE_TAG_ENGINE_API, 0, nullptr};
  }
};

TEST(Record, FieldsThatItLacksAreZero) {
  const Tail tail;
  const auto read = ReadRecord(&tail.api, "a table");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->h.size, 40u);
  EXPECT_NE(read->enqueue, nullptr);
  EXPECT_EQ(read->exec_destroy, nullptr);
  EXPECT_EQ(read->frame_destroy, nullptr);
}

TEST(Record, AShorterOneThanWasEverPublishedIsRefused) {
  Tail tail;
  tail.api.h.size = 39;
  const auto read = ReadRecord(&tail.api, "a table");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(
      read.status().message(),
      "a table says that it is 39 bytes, wanted at least 40; initialise its header with GE_HDR");
}

TEST(Record, AnExtensionThatMustBeUnderstoodIsNamed) {
  Tail tail;
  const ge_hdr must = {sizeof(ge_hdr), 0x8001, GE_HDR_MUST_UNDERSTAND, nullptr};
  const ge_hdr may = {sizeof(ge_hdr), 0x8002, 0, &must};
  tail.api.h.next = &may;
  const auto read = ReadRecord(&tail.api, "a table");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), Code::kPluginError);
  EXPECT_NE(read.status().message().find("extension 0x8001"), std::string::npos);
  const uint16_t known[] = {0x8001};
  EXPECT_EQ(ge_not_understood(&tail.api.h, known, 1), nullptr);
}

TEST(Record, AChainWithoutAnEndEnds) {
  Tail tail;
  ge_hdr loop = {sizeof(ge_hdr), 0x8003, 0, nullptr};
  loop.next = &loop;
  tail.api.h.next = &loop;
  EXPECT_FALSE(ReadRecord(&tail.api, "a table").ok());
}

}  // namespace
}  // namespace ge
