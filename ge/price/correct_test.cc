// What corrected offers cost: exact rows, families, savings inside a segment.
#include "ge/price/correct.h"

#include <gtest/gtest.h>

#include <cmath>

#include "frontend/text/text.h"
#include "ge/infer/infer.h"
#include "ge/ops/defaults.h"
#include "ge/ops/edit.h"

namespace ge {
namespace {

// Two additions in a row on one made-up engine; prices are corrected without one by Correct below.
struct CorrectionCase {
  Graph graph;
  OfferSet offers;
  std::vector<PlanLayout> layouts{1};

  CorrectionCase() {
    graph.opsets[""] = kCanonicalOpset;
    Function& f = graph.AddFunction("main");
    const Type type = TensorType(DType::kFloat, std::vector<int64_t>{64});
    const ValueId x = AddValue(&f, type, "x"), y = AddValue(&f, type, "y"),
                  z = AddValue(&f, type, "z");
    f.params = {x};
    f.results = {z};
    for (auto [in, out] : {std::pair{x, y}, {y, z}}) {
      Node n;
      n.id = static_cast<NodeId>(f.nodes.size() + 1);
      n.op = "Add";
      n.inputs = {in, in};
      n.outputs = {out};
      f.nodes.push_back(std::move(n));
    }
    for (uint32_t n = 0; n < 2; ++n) offers.offers.push_back(OfferOf(n));
  }

  static Offer OfferOf(uint32_t node) {
    Offer o;
    o.nodes = {node};
    o.growable = true;
    o.source = "analytic";
    o.setup_ns = 10;
    o.launch_ns = 10;
    o.edge_saving_ns = o.asked_saving_ns = 30;
    o.asked_overhead_ns = 20;
    OfferChoice choice;
    choice.marginal_ns = 80;
    choice.asked_ns = 100;
    o.choices = {choice};
    return o;
  }
  const Function& f() const { return graph.fn(1); }
  OfferName Name(uint32_t i) const {
    return NameOffer(graph, f(), offers.offers[i].nodes, {}, layouts);
  }
  double Alone(uint32_t i) const {
    const Offer& o = offers.offers[i];
    return o.setup_ns + o.launch_ns + o.choices[0].marginal_ns;
  }
};

const PriceBook kSeller{"hash", "cpu"};

MachineRecord ThisMachine() {
  MachineRecord m;
  m.cpu = "test";
  m.isa = 2;
  return m;
}

void Correct(const PriceCache& cache, CorrectionCase* c) {
  const auto seller = [](const Offer&) -> const PriceBook& { return kSeller; };
  CorrectPrices(seller, cache, c->graph, c->f(), c->layouts, &c->offers);
}

TEST(CorrectTest, NamesTellWhatMattersAndNothingElse) {
  CorrectionCase c;
  EXPECT_EQ(c.Name(0).signature, c.Name(1).signature);  // x + x here and there
  EXPECT_EQ(c.Name(0).family, "Add");
  EXPECT_EQ(NameOffer(c.graph, c.f(), {0, 1}, {}, c.layouts).family, "Add+Add");
  c.graph.functions[1].nodes[1].attrs.push_back({"axis", int64_t{1}});
  EXPECT_NE(c.Name(0).signature, c.Name(1).signature);
  EXPECT_EQ(c.Name(0).shape, c.Name(1).shape);
}

TEST(CorrectTest, AnExactRowSetsThePriceAlone) {
  CorrectionCase c;
  PriceCache cache(ThisMachine());
  cache.Add(kSeller, c.Name(0), PriceCache::Kind::kAlone, 100, {1000, 5});
  Correct(cache, &c);
  EXPECT_NEAR(c.Alone(0), 1000, 1e-6);
  EXPECT_EQ(c.offers.offers[0].source, "measured");
  EXPECT_NEAR(c.offers.offers[0].factor, 10, 1e-6);
  EXPECT_NEAR(c.offers.offers[0].choices[0].measured_ns, 1000, 1e-6);
  // A second time changes nothing: the start is what the engine asked.
  Correct(cache, &c);
  EXPECT_NEAR(c.Alone(0), 1000, 1e-6);
}

TEST(CorrectTest, ConfidenceHoldsTheFirstSampleBack) {
  CorrectionCase c;
  c.offers.offers[0].confidence = 1;
  PriceCache cache(ThisMachine());
  cache.Add(kSeller, c.Name(0), PriceCache::Kind::kAlone, 100, {1000, 1});
  Correct(cache, &c);
  EXPECT_GT(c.Alone(0), 500);
  EXPECT_LT(c.Alone(0), 1000);
}

TEST(CorrectTest, ATimeOfABusyMachineMovesAPriceLittle) {
  CorrectionCase c;
  PriceCache cache(ThisMachine());
  cache.Add(kSeller, c.Name(0), PriceCache::Kind::kAlone, 100, {3300, 28, true});
  Correct(cache, &c);
  const double raise = std::exp(0.33 * std::sqrt(4 * 0.3 * 0.3 / 5));
  EXPECT_NEAR(c.Alone(0), 100 * std::pow(33.0, 0.25) * raise, 1e-6);
  EXPECT_EQ(c.offers.offers[0].source, "doubtful");
  // Where its like were measured on a quiet machine, these say it.
  OfferName like = c.Name(0);
  like.shape = "another";
  cache.Add(kSeller, like, PriceCache::Kind::kAlone, 100, {110, 7});
  Correct(cache, &c);
  EXPECT_NEAR(c.Alone(0), 110 * raise, 1e-6);
  EXPECT_EQ(c.offers.offers[0].source, "doubtful");
}

TEST(CorrectTest, TheDifferenceToASegmentIsWhatAnEdgeSaves) {
  CorrectionCase c;
  PriceCache cache(ThisMachine());
  cache.Add(kSeller, c.Name(0), PriceCache::Kind::kAlone, 100, {200, 5});
  cache.Add(kSeller, c.Name(0), PriceCache::Kind::kInside, 50, {60, 5});
  Correct(cache, &c);
  const Offer& o = c.offers.offers[0];
  EXPECT_NEAR(o.choices[0].marginal_ns - o.edge_saving_ns, 60, 1e-6);
  EXPECT_NEAR(c.Alone(0), 200, 1e-6);
  // Slower inside than alone: nothing is saved, and no price goes below zero.
  CorrectionCase other;
  PriceCache slow(ThisMachine());
  slow.Add(kSeller, other.Name(0), PriceCache::Kind::kAlone, 100, {100, 5});
  slow.Add(kSeller, other.Name(0), PriceCache::Kind::kInside, 50, {500, 5});
  Correct(slow, &other);
  EXPECT_EQ(other.offers.offers[0].edge_saving_ns, 0);
}

// By the ratio it would be 16,000 times as dear alone.
TEST(CorrectTest, WhatIsFreeInsideSaysNothingOfItsTimeAlone) {
  CorrectionCase c;
  for (Offer& o : c.offers.offers) o.edge_saving_ns = o.asked_saving_ns = 79;
  PriceCache cache(ThisMachine());
  cache.Add(kSeller, c.Name(0), PriceCache::Kind::kInside, 1, {16'000, 5});
  Correct(cache, &c);
  EXPECT_NEAR(c.Alone(0), 100, 1e-6);
  EXPECT_EQ(c.offers.offers[0].source, "measured");
  OfferName like = c.Name(0);
  like.shape = "another";
  cache.Add(kSeller, like, PriceCache::Kind::kAlone, 100, {300, 5});
  Correct(cache, &c);
  EXPECT_NEAR(c.Alone(0), 300 * std::exp(0.33 * std::sqrt(4 * 0.3 * 0.3 / 5)), 1e-6);
  EXPECT_EQ(c.offers.offers[0].source, "table");
}

TEST(CorrectTest, WhatWasNotMeasuredFollowsItsFamily) {
  CorrectionCase c;
  PriceCache cache(ThisMachine());
  OfferName like = c.Name(0);
  like.shape = "another";
  cache.Add(kSeller, like, PriceCache::Kind::kAlone, 100, {300, 5});
  Correct(cache, &c);
  EXPECT_EQ(c.offers.offers[0].source, "table");
  // Raised by a third of the usual spread; see kCurse.
  EXPECT_NEAR(c.Alone(0), 300 * std::exp(0.33 * std::sqrt(4 * 0.3 * 0.3 / 5)), 1e-6);
  EXPECT_EQ(c.offers.offers[0].choices[0].measured_ns, -1);
}

// An engine nobody measured is taken to be off as the others are, but not in what it has measured.
TEST(CorrectTest, WhatAnEngineMeasuredIsNotCorrectedByOthers) {
  CorrectionCase c;
  c.offers.offers[0].engine_measured = true;
  PriceCache cache(ThisMachine());
  for (int i = 0; i < 20; ++i) {
    OfferName other = c.Name(0);
    other.signature += std::to_string(i);
    cache.Add({"others", "cpu"}, other, PriceCache::Kind::kAlone, 100, {60, 5});
    cache.Add({"others", "cpu"}, other, PriceCache::Kind::kInside, 100, {60, 5});
  }
  Correct(cache, &c);
  EXPECT_NEAR(c.Alone(0), 100, 1e-6);
  EXPECT_EQ(c.offers.offers[0].source, "analytic");
  EXPECT_LT(c.Alone(1), 75);
  // Its own rows count.
  cache.Add(kSeller, c.Name(0), PriceCache::Kind::kAlone, 100, {1000, 5});
  Correct(cache, &c);
  EXPECT_NEAR(c.Alone(0), 1000, 1e-6);
}

TEST(CorrectTest, ConvolutionsOfGroupsAreAFamilyOfTheirOwn) {
  CorrectionCase c;
  Attr group;
  group.name = "group";
  group.value = int64_t{1};
  c.graph.fn(1).nodes[0].attrs.push_back(group);
  EXPECT_EQ(c.Name(0).family, "Add");
  c.graph.fn(1).nodes[0].attrs[0].value = int64_t{4};
  EXPECT_EQ(c.Name(0).family, "Add/grouped");
  EXPECT_EQ(NameOffer(c.graph, c.f(), {0, 1}, {}, c.layouts).family, "Add/grouped+Add");
}

// By operator, kernel and channels, however the exporter states it.
TEST(CorrectTest, ConvolutionsAreToldApartByTheirKernels) {
  const auto made = ParseText(R"(ge 1
opset "" 28
opset "ge" 1
const few : f32[8,3,3,3] = splat 1
const k1 : f32[8,16,1,1] = splat 1
const k3 : f32[8,16,3,3] = splat 1
const k14 : f32[8,16,14,14] = splat 1
const shape : i64[4] = [8, 16, 3, 3]
fn main(rgb: f32[1,3,28,28], x: f32[1,16,28,28], dy: f32[1,8,28,28]) -> (a, b, c, d, e, g) {
  a = Conv(rgb, few) {pads=[1, 1, 1, 1]}
  b = Conv(x, k1)
  c = Conv(x, k3) {pads=[1, 1, 1, 1]}
  d = Conv(x, k3) {kernel_shape=[3, 3], pads=[1, 1, 1, 1]}
  e = Conv(x, k14)
  g = ge.ConvGradWeight(x, dy, shape) {kernel_shape=[3, 3], pads=[1, 1, 1, 1]}
}
entry infer "main" = main
)",
                              "kernels");
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  Graph graph = *made;
  FillDefaults(&graph);
  const Status inferred = Infer(&graph);
  ASSERT_TRUE(inferred.ok()) << inferred.ToString();
  const Function& f = graph.fn(graph.entries[0].fn);
  std::vector<OfferName> names;
  for (uint32_t i = 0; i < f.nodes.size(); ++i) names.push_back(NameOffer(graph, f, {i}, {}, {}));
  EXPECT_EQ(names[0].family, "Conv/few");
  EXPECT_EQ(names[1].signature, "Conv[kernel_shape=1,1,](f32,c:f32)f32");
  EXPECT_EQ(names[2].signature, "Conv[kernel_shape=3,3,][pads=1,1,1,1,](f32,c:f32)f32");
  EXPECT_EQ(names[2].signature, names[3].signature);
  EXPECT_EQ(names[2].family, "Conv");
  EXPECT_EQ(names[4].family, "Conv/whole");
  EXPECT_EQ(names[4].signature, "Conv/whole(f32,c:f32)f32");
  EXPECT_EQ(names[5].signature,
            "ge.ConvGradWeight[kernel_shape=3,3,][pads=1,1,1,1,](f32,f32,c:i64)f32");
}

TEST(CorrectTest, TransposesOfRowsAreAFamilyOfTheirOwn) {
  CorrectionCase c;
  Node& node = c.graph.fn(1).nodes[0];
  node.op = "Transpose";
  Attr perm;
  perm.name = "perm";
  perm.value = std::vector<int64_t>{1, 0, 2};
  node.attrs.push_back(perm);
  EXPECT_EQ(c.Name(0).family, "Transpose/rows");
  node.attrs[0].value = std::vector<int64_t>{0, 2, 1};
  EXPECT_EQ(c.Name(0).family, "Transpose");
}

// What rounds its inputs takes another time than what does not, in every scope that is asked.
TEST(CorrectTest, OffersThatRoundAreAFamilyOfTheirOwn) {
  CorrectionCase c;
  const OfferName plain = c.Name(0);
  const OfferName rounded =
      NameOffer(c.graph, c.f(), c.offers.offers[0].nodes, {}, c.layouts, true);
  EXPECT_EQ(rounded.family, "rounded Add");
  EXPECT_NE(rounded.signature, plain.signature);
  EXPECT_EQ(rounded.shape, plain.shape);
  PriceCache cache(ThisMachine());
  cache.Add(kSeller, plain, PriceCache::Kind::kAlone, 100, {300, 5});
  c.offers.offers[1].rounds = true;
  c.offers.offers[1].nodes = c.offers.offers[0].nodes;
  Correct(cache, &c);
  EXPECT_EQ(c.offers.offers[0].source, "measured");
  EXPECT_EQ(c.offers.offers[1].source, "table");
}

TEST(CorrectTest, WithoutAnyRowPricesStayAsAsked) {
  CorrectionCase c;
  PriceCache cache(ThisMachine());
  Correct(cache, &c);
  EXPECT_EQ(c.Alone(0), 100);
  EXPECT_EQ(c.offers.offers[0].source, "analytic");
  EXPECT_EQ(c.offers.offers[0].factor, 1);
}

}  // namespace
}  // namespace ge
