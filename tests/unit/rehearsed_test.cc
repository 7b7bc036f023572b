// What a rehearsal found is the plan of later sessions of the same model, shapes and engines, and
// of no others; a file that is damaged or does not fit is no obstacle.
#include "ge/tune/rehearsed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ge/host/cache_folder.h"
#include "ge/host/temporary_cache_folder_testing.h"
#include "ge/place/placed.h"
#include "ge/session/session.h"

namespace ge::test {
namespace {

constexpr const char* kChain = R"(ge 1
opset "" 28
fn main(x: f32[n]) -> (y) {
  a: f32[n] = Sin(x) "first"
  y: f32[n] = Neg(a) "second"
}
entry infer "main" = main
)";

class Rehearsed : public ::testing::Test {
 protected:
  // Where nothing was ever kept nothing is asked: something was.
  Rehearsed() {
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "plans.json") << "{}";
  }
  // The plan of a new session; the session outlives it.
  std::shared_ptr<Compiled> Plan(int64_t n, const std::string& engines = "native,ref",
                                 const PlaceOptions& place = {}) {
    SessionOptions options;
    options.engines = *ParseEngineList(engines);
    options.build.prices.mode = PriceMode::kCached;
    options.build.place = place;
    sessions_.push_back(*Session::Create(std::move(options)));
    Session& session = *sessions_.back();
    EXPECT_TRUE(session.LoadBytes(kChain, Format::kText).ok());
    const TensorView in[] = {{DType::kFloat, {n}, nullptr, 0}};
    auto made = session.Compile("", in);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    return made.ok() ? *made : nullptr;
  }
  static std::string EngineOf(const Compiled& c, size_t node) {
    const NodeReport& r = c.plan.report.at(node);
    return c.plan.engines[c.plan.devices[r.bids.at(static_cast<size_t>(r.chosen)).device].engine]
        .name;
  }
  // native Sin, ref Neg: what no price would say.
  static PlaceOptions Odd() {
    PlaceOptions odd;
    odd.pins = {{"first", "native"}, {"second", "ref"}};
    return odd;
  }

  const TemporaryCacheFolder cache_;
  const std::filesystem::path& folder_ = cache_.path();
  std::vector<std::unique_ptr<Session>> sessions_;
};

TEST_F(Rehearsed, IsThePlanOfTheNextSessionAndOfNoOther) {
  const auto first = Plan(8);
  ASSERT_FALSE(first->question.empty());
  EXPECT_FALSE(first->recalled);
  const auto odd = Plan(8, "native,ref", Odd());
  EXPECT_TRUE(odd->question.empty()) << "what the caller pins is no question";
  KeepRehearsed(first->question, odd->plan, odd->expanded);

  const auto again = Plan(8);
  EXPECT_TRUE(again->recalled);
  EXPECT_EQ(again->plan.place_method, kRehearsedMethod);
  EXPECT_EQ(EngineOf(*again, 0), "native");
  EXPECT_EQ(EngineOf(*again, 1), "ref");
  EXPECT_FALSE(Plan(9)->recalled) << "another shape";
  EXPECT_FALSE(Plan(8, "native,onednn,ref")->recalled) << "another engine";
  EXPECT_FALSE(Plan(8, "native,ref", Odd())->recalled);
}

// A plan that takes an offer which nobody makes.
ge::Plan Unknown(ge::Plan plan) {
  plan.functions[0].segments[0].offers[0].offer_index = 999;
  return plan;
}

TEST_F(Rehearsed, WhatDoesNotFitIsForgotten) {
  const auto first = Plan(8);
  KeepRehearsed(first->question, Unknown(first->plan), {});
  EXPECT_FALSE(Plan(8)->recalled);
  for (const char* text :
       {"", "{", "[]", R"({"format": 3, "plans": 3})", R"({"format": 1, "plans": {}})"}) {
    std::ofstream(folder_ / "plans.json") << text;
    EXPECT_FALSE(Plan(8)->recalled) << text;
  }
  std::ofstream(folder_ / "plans.json")
      << R"({"format": 3, "plans": {")" << first->question << R"(": {"at": 1}}})";
  EXPECT_FALSE(Plan(8)->recalled) << "fields are missing";
  std::ofstream(folder_ / "plans.json") << "{}";
  KeepRehearsed(first->question, first->plan, {});
  std::string text = *ReadCacheFile("plans.json");
  const size_t list = text.find(R"("expanded":[)");
  ASSERT_NE(list, std::string::npos) << text;
  std::ofstream(folder_ / "plans.json") << text;
  EXPECT_TRUE(Plan(8)->recalled);
  std::ofstream(folder_ / "plans.json") << text.insert(list + 12, "1e-300");
  EXPECT_FALSE(Plan(8)->recalled) << "no number of a node";
}

TEST_F(Rehearsed, IsBoundedAndDamagedEntriesGoFirst) {
  const auto first = Plan(8);
  std::string text = R"({"format": 3, "plans": {)";
  for (int i = 0; i < 200; ++i) text += std::to_string(i).insert(0, "\"") + "\": 8, ";
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "plans.json") << text << R"("x": {"at": "late"}}})";
  KeepRehearsed(first->question, first->plan, first->expanded);
  EXPECT_TRUE(Plan(8)->recalled);
  std::ifstream file(folder_ / "plans.json");
  const std::string kept((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  size_t damaged = 0;
  for (size_t at = kept.find(":8"); at != std::string::npos; at = kept.find(":8", at + 1))
    ++damaged;
  EXPECT_EQ(damaged, 62u) << "of 64 plans one is new and one is x";
}

TEST(PinsOfMove, LeavesAllInPlaceButWhatMovesAndWhatSharedItsOffer) {
  ge::Plan plan;
  plan.devices.resize(2);
  plan.devices[1].name = "a/cpu";
  plan.functions.resize(1);
  plan.functions[0].segments.resize(1);
  plan.functions[0].segments[0].device = 1;
  plan.functions[0].segments[0].offers.resize(2);
  plan.functions[0].segments[0].offers[0].nodes = {1, 2};
  plan.functions[0].segments[0].offers[1].nodes = {3};
  const NodeId moved[] = {1};
  const auto pins = PinsOfMove(plan, moved, "b");
  ASSERT_EQ(pins.size(), 2u);
  EXPECT_EQ(pins[0].node + "=" + pins[0].target, "#1=b");
  EXPECT_EQ(pins[1].node + "=" + pins[1].target, "#3=a/cpu");
  EXPECT_EQ(PinsOfMove(plan, {}, "").size(), 3u);
}

}  // namespace
}  // namespace ge::test
