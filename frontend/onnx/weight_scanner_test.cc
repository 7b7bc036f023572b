#include "frontend/onnx/weight_scanner.h"

#include <gtest/gtest.h>

#include "frontend/onnx/model_testing.h"

namespace ge {
namespace {

using testing::SetRaw;
using testing::SmallNet;
using testing::TestModel;

std::span<const std::byte> Span(const std::string& s) {
  return {reinterpret_cast<const std::byte*>(s.data()), s.size()};
}

// A field with a length prefix.
std::string Field(uint32_t number, const std::string& body) {
  std::string out;
  auto varint = [&](uint64_t v) {
    for (; v >= 0x80; v >>= 7) out.push_back(static_cast<char>(v | 0x80));
    out.push_back(static_cast<char>(v));
  };
  varint(uint64_t{number} << 3 | 2);
  varint(body.size());
  return out + body;
}

TEST(WeightScanner, TakesEveryRawPayloadOut) {
  TestModel m = SmallNet();
  auto* value = testing::AddAttr(testing::AddNode(m.g(), "Constant", "", "k"), "value", 4);
  SetRaw(value->mutable_t(), "", 7, {2}, std::vector<int64_t>{3, 4});
  auto* body = testing::AddAttr(testing::AddNode(m.g(), "If", "k", "z"), "then_branch", 5);
  SetRaw(body->mutable_g()->add_initializer(), "inner", 3, {3}, std::vector<int8_t>{7, 8, 9});
  auto* several = testing::AddAttr(testing::AddNode(m.g(), "Mystery", "k", "q"), "bodies", 10);
  SetRaw(several->add_graphs()->add_initializer(), "one of them", 3, {2},
         std::vector<int8_t>{5, 6});
  std::string bytes = m.Bytes();
  auto skeleton = ScanWeights(Span(bytes), {});
  ASSERT_TRUE(skeleton.ok()) << skeleton.status().ToString();
  EXPECT_LT(skeleton->bytes.size(), 1500u);
  wire::Model parsed;
  ASSERT_TRUE(parsed.ParseFromString(skeleton->bytes));
  auto payload = [&](const wire::Tensor& t) {
    EXPECT_FALSE(t.has_raw_data());
    const WeightPayload& p = skeleton->payloads.at(t.payload_index());
    return bytes.substr(p.offset, p.length);
  };
  const auto& g = parsed.graph();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(payload(g.initializer(i)), m.g()->initializer(i).raw_data());
  }
  EXPECT_EQ(payload(g.node(4).attribute(0).t()), value->t().raw_data());
  EXPECT_EQ(payload(g.node(5).attribute(0).g().initializer(0)), "\x07\x08\x09");
  EXPECT_EQ(payload(g.node(6).attribute(0).graphs(0).initializer(0)), "\x05\x06");
}

TEST(WeightScanner, TheLastOfTwoPayloadsCountsAndForeignIndicesAreDropped) {
  std::string tensor = Field(9, "old") + Field(9, "newer");
  tensor += std::string("\x80\xa8\xc3\x01\x07", 5);  // payload_index = 7 in the file
  std::string bytes = Field(7, Field(5, tensor));
  auto skeleton = ScanWeights(Span(bytes), {});
  ASSERT_TRUE(skeleton.ok()) << skeleton.status().ToString();
  wire::Model parsed;
  ASSERT_TRUE(parsed.ParseFromString(skeleton->bytes));
  ASSERT_EQ(skeleton->payloads.size(), 1u);
  EXPECT_EQ(parsed.graph().initializer(0).payload_index(), 0u);
  EXPECT_EQ(bytes.substr(skeleton->payloads[0].offset, skeleton->payloads[0].length), "newer");
}

void ExpectRefused(const std::string& bytes, Code code, const std::string& part,
                   ScanLimits limits = {}) {
  auto skeleton = ScanWeights(Span(bytes), limits);
  ASSERT_FALSE(skeleton.ok());
  EXPECT_EQ(skeleton.status().code(), code) << skeleton.status().ToString();
  EXPECT_NE(skeleton.status().message().find(part), std::string::npos)
      << skeleton.status().ToString();
}

TEST(WeightScanner, RefusesDamagedFramingWithItsOffset) {
  ExpectRefused(std::string("\x08\x80", 2), Code::kDataCorrupt, "byte 1 of 2");
  ExpectRefused("\x08" + std::string(10, '\xff') + "\x01", Code::kDataCorrupt, "64 bits");
  ExpectRefused(
      "\x3a\x05"
      "xy",
      Code::kDataCorrupt, "claims 5 bytes, but 2 are left");
  ExpectRefused(Field(7,
                      "\x2a\x05"
                      "xy"),
                Code::kDataCorrupt, "byte 2 of 6");
  ExpectRefused("\x0b", Code::kDataCorrupt, "wire type 3");
  ExpectRefused(std::string("\x00\x01", 2), Code::kDataCorrupt, "field number 0");
  ExpectRefused("\x38\x01", Code::kDataCorrupt, "wire type 0, wanted 2");
}

TEST(WeightScanner, HoldsItsLimits) {
  std::string graph;
  for (int i = 0; i < 60; ++i) graph = Field(1, Field(5, Field(6, graph)));
  ExpectRefused(Field(7, graph), Code::kLimitExceeded, "graphs are nested more than 60 deep");
  std::string type = "\x08\x01";
  for (int i = 0; i < 112; ++i) type = Field(4, Field(1, type));
  ExpectRefused(Field(7, Field(11, Field(2, type))), Code::kLimitExceeded, "more than 224 deep");
  ScanLimits few;
  few.max_empty_items = 10;
  std::string empties;
  for (int i = 0; i < 11; ++i) empties += Field(1, "");
  ExpectRefused(Field(7, empties), Code::kLimitExceeded, "more than 10 empty items", few);
  ScanLimits small;
  small.max_skeleton_bytes = 100;
  ExpectRefused(Field(2, std::string(200, 'a')), Code::kLimitExceeded, "100 bytes", small);
  // A payload is no part of the skeleton.
  EXPECT_TRUE(ScanWeights(Span(Field(7, Field(5, Field(9, std::string(200, 'a'))))), small).ok());
}

}  // namespace
}  // namespace ge
