#include "ge/tune/rehearse.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <set>

namespace ge {
namespace {

using std::chrono::microseconds;

// Plans whose only segment is on one device; a run takes the device's time, on a clock of the
// test's: on a busy machine sleeps last as long as they like.
std::shared_ptr<Compiled> PlanOn(DeviceId device, double predicted_ns) {
  auto c = std::make_shared<Compiled>();
  c->plan.predicted_ns = predicted_ns;
  c->plan.devices.resize(4);
  for (DeviceId d = 0; d < 4; ++d) c->plan.devices[d].name = std::to_string(d);
  c->plan.functions.resize(1);
  PlanSegment s;
  s.device = device;
  s.offers.resize(1);
  s.offers[0].nodes = {1};
  c->plan.functions[0].segments = {s};
  return c;
}

// The same of two nodes alike, which both engines bid for and device 1 has.
std::shared_ptr<Compiled> PlanOfTwo(DeviceId device) {
  auto c = PlanOn(device, 1000);
  Plan& plan = c->plan;
  plan.engines.resize(2);
  auto& offers = plan.functions[0].segments[0].offers;
  offers.resize(2);
  offers[1].nodes = {2};
  plan.engines[0].name = "a";
  plan.engines[1].name = "b";
  plan.devices[2].engine = 1;
  for (NodeId n : {1, 2}) {
    NodeReport r;
    r.node = n;
    r.op = "Conv";
    r.chosen = 0;
    r.bids.resize(2);
    r.bids[0].device = 1;
    r.bids[1].device = 2;
    r.bids[0].price_ns = r.bids[1].price_ns = 500;
    plan.report.push_back(r);
  }
  return c;
}

struct Stage {
  std::map<DeviceId, microseconds> takes;
  std::map<std::string, DeviceId> device_of = {{"a", 1}, {"b", 2}};
  DeviceId solved = 1;         // what the solver says
  double predicted_ns = 1000;  // of plans by priority
  std::map<DeviceId, int> remembered = {};
  int made = 0;
  double now_ms = 0;
  Status Take(microseconds time) {
    now_ms += 1e-3 * static_cast<double>(time.count());
    return {};
  }
  RehearsalHooks Hooks() {
    RehearsalHooks h;
    h.make = [this](const PlaceOptions& place, StageId stop) -> Result<std::shared_ptr<Compiled>> {
      made += stop == StageId::kCheck;
      if (!place.cover.empty()) {
        return PlanOn(static_cast<DeviceId>(std::stoul(place.cover[0].device)), predicted_ns);
      }
      return place.policy == PlacePolicy::kPriority
                 ? PlanOn(device_of.at(place.order.at(0)), predicted_ns)
                 : PlanOn(solved, 1000);
    };
    h.run = [this](Compiled* c) { return Take(takes.at(c->plan.functions[0].segments[0].device)); };
    h.now_ms = [this] { return now_ms; };
    h.remember = [this](Compiled* c) { ++remembered[c->plan.functions[0].segments[0].device]; };
    return h;
  }
};

DeviceId Winner(Stage* stage, double budget_ms, RehearsalReport* report) {
  const auto held =
      Rehearse(PlanOn(1, 1000), PlaceOptions(), {"a", "b"}, stage->Hooks(), budget_ms, report);
  return held->plan.functions[0].segments[0].device;
}

TEST(Rehearse, TakesThePlanThatIsFasterInEarnest) {
  Stage stage{{{1, microseconds(8000)}, {2, microseconds(100)}}};
  RehearsalReport report;
  EXPECT_EQ(Winner(&stage, 1e5, &report), 2u);
  EXPECT_EQ(report.plans, 1u) << "a's own order is the plan held, and the solver has nothing new";
  EXPECT_EQ(report.won, 1u);
  EXPECT_GT(stage.remembered[1], 0) << "the loser's times are worth as much";
  EXPECT_GT(stage.remembered[2], 0);
}

TEST(Rehearse, KeepsAPlanThatIsNotBeaten) {
  Stage stage{{{1, microseconds(100)}, {2, microseconds(8000)}}};
  RehearsalReport report;
  EXPECT_EQ(Winner(&stage, 1e5, &report), 1u);
  EXPECT_EQ(report.plans, 1u);
  EXPECT_EQ(report.won, 0u);
}

TEST(Rehearse, RunsWhatTheSolverSaysOfTheNewPrices) {
  Stage stage{{{1, microseconds(8000)}, {2, microseconds(8000)}, {3, microseconds(100)}}};
  stage.solved = 3;
  RehearsalReport report;
  EXPECT_EQ(Winner(&stage, 1e5, &report), 3u);
}

TEST(Rehearse, MovesAllNodesOfAKindAtOnceAndThenEachAlone) {
  Stage stage{{{1, microseconds(8000)}, {2, microseconds(8000)}, {3, microseconds(100)}}};
  RehearsalHooks hooks = stage.Hooks();
  std::vector<std::string> moves;  // the nodes that go to b
  hooks.make = [&](const PlaceOptions& place, StageId) -> Result<std::shared_ptr<Compiled>> {
    if (!place.pins.empty()) moves.emplace_back();
    for (const PlacePin& pin : place.pins) moves.back() += pin.target == "b" ? pin.node : "";
    return PlanOfTwo(place.pins.empty() && place.cover.empty() ? 1 : 3);
  };
  RehearsalReport report;
  const auto held = Rehearse(PlanOfTwo(1), PlaceOptions(), {"a", "b"}, hooks, 1e5, &report);
  EXPECT_EQ(held->plan.functions[0].segments[0].device, 3u);
  ASSERT_GE(moves.size(), 3u);
  EXPECT_EQ(moves.front(), "#1#2");
  EXPECT_EQ(moves[moves.size() - 2] + moves.back(), "#1#2");
}

TEST(Rehearse, AsksWinnersToWinAgainWhenMadeAnew) {
  Stage stage{{{1, microseconds(4000)}, {2, microseconds(100)}}};
  RehearsalHooks hooks = stage.Hooks();
  std::set<Compiled*> lucky;
  std::vector<std::shared_ptr<Compiled>> all;  // so that no two have one address
  hooks.make = [&, make = hooks.make](const PlaceOptions& place, StageId stop) {
    auto made = make(place, stop);
    all.push_back(*made);
    if (stop == StageId::kCheck && lucky.empty()) lucky.insert(made->get());
    return made;
  };
  hooks.run = [&](Compiled* c) {
    return stage.Take(microseconds(lucky.count(c) != 0 ? 100 : 4000));
  };
  RehearsalReport report;
  const auto held = Rehearse(PlanOn(1, 1000), PlaceOptions(), {"a", "b"}, hooks, 1e5, &report);
  EXPECT_EQ(held->plan.functions[0].segments[0].device, 1u);
  EXPECT_EQ(report.plans, 1u);
  EXPECT_EQ(report.won, 0u);
}

TEST(Rehearse, APlanThatOnlyLayWellLosesInTheEnd) {
  // Device 1's plan is slower wherever else it lies than where it came from.
  Stage stage{{{1, microseconds(6000)}, {2, microseconds(3030)}}};
  RehearsalHooks hooks = stage.Hooks();
  const auto first = PlanOn(1, 1000);
  hooks.run = [&, run = hooks.run](Compiled* c) {
    if (c != first.get()) return run(c);
    return stage.Take(microseconds(3000));
  };
  RehearsalReport report;
  const auto held = Rehearse(first, PlaceOptions(), {"a", "b"}, hooks, 1e5, &report);
  EXPECT_EQ(held->plan.functions[0].segments[0].device, 2u);
  EXPECT_EQ(report.won, 1u);
}

TEST(Rehearse, MakesNoPlanThatIsPredictedToBeFarWorseAndNoneWithoutTime) {
  Stage stage{{{1, microseconds(100)}, {2, microseconds(100)}}};
  stage.predicted_ns = 2000;
  RehearsalReport report;
  EXPECT_EQ(Winner(&stage, 1e5, &report), 1u);
  EXPECT_EQ(report.plans, 0u);
  stage.predicted_ns = 1000;
  stage.made = 0;
  EXPECT_EQ(Winner(&stage, 0, &report), 1u);
  EXPECT_EQ(stage.made, 0);
}

}  // namespace
}  // namespace ge
