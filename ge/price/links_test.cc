// What samples of copies say of a link, and what comes of them in a plan.
#include "ge/price/links.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ge/host/machine.h"

namespace ge {
namespace {

constexpr LinkCost kToldLink{2000, 20};

LinkSample LinkAt(double bytes, double ns, uint32_t count = 15, bool doubtful = false) {
  return {bytes, {ns, count, doubtful}};
}
std::vector<LinkSample> LinkSamples(const LinkCost& real, std::initializer_list<double> sizes) {
  std::vector<LinkSample> out;
  for (const double bytes : sizes) out.push_back(LinkAt(bytes, real.Ns(bytes)));
  return out;
}

TEST(LinksTest, WithoutSamplesAsTold) {
  const LinkCost fit = FitLink(kToldLink, {});
  EXPECT_EQ(fit.latency_ns, kToldLink.latency_ns);
  EXPECT_EQ(fit.bytes_per_ns, kToldLink.bytes_per_ns);
}

TEST(LinksTest, FindsLatencyAndSpeed) {
  const LinkCost real{30'000, 5};
  const LinkCost fit = FitLink(kToldLink, LinkSamples(real, {1 << 10, 1 << 14, 1 << 18, 1 << 22}));
  for (const double bytes : {1024.0, 65536.0, 1048576.0, 16777216.0}) {
    EXPECT_NEAR(fit.Ns(bytes) / real.Ns(bytes), 1, 0.05) << bytes;
  }
}

TEST(LinksTest, OneSizeTellsHowFarOffAllAre) {
  const LinkCost fit =
      FitLink(kToldLink, std::vector<LinkSample>{LinkAt(1 << 20, 2 * kToldLink.Ns(1 << 20))});
  for (const double bytes : {1.0, 4096.0, 1048576.0, 67108864.0}) {
    EXPECT_NEAR(fit.Ns(bytes) / kToldLink.Ns(bytes), 2, 0.1) << bytes;
  }
}

TEST(LinksTest, OneBadSampleMovesLittle) {
  const LinkCost real{4000, 10};
  std::vector<LinkSample> samples =
      LinkSamples(real, {1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22});
  samples[2].time.ns *= 50;
  const LinkCost fit = FitLink(kToldLink, samples);
  for (const double bytes : {1024.0, 1048576.0, 4194304.0}) {
    EXPECT_NEAR(fit.Ns(bytes) / real.Ns(bytes), 1, 0.25) << bytes;
  }
}

TEST(LinksTest, ASmallSizeDoesNotMakeLargeOnesFree) {
  // A device that takes 10 us whatever is copied, as far as it was seen.
  const LinkCost fit = FitLink(kToldLink, std::vector{LinkAt(4096, 10'000), LinkAt(32768, 10'000)});
  EXPECT_NEAR(fit.Ns(4096), 10'000, 2000);
  EXPECT_GT(fit.Ns(1 << 26), kToldLink.Ns(1 << 26) / 2);
}

TEST(LinksTest, FewAndDoubtfulSamplesCountForLess) {
  const double told = kToldLink.Ns(1 << 20);
  const auto at = [&](uint32_t count, bool doubtful) {
    return FitLink(kToldLink, std::vector{LinkAt(1 << 20, 16 * told, count, doubtful)})
               .Ns(1 << 20) /
           told;
  };
  EXPECT_GT(at(15, false), 12);
  EXPECT_LT(at(1, false), at(15, false));
  EXPECT_LT(at(15, true), at(1, false));
  EXPECT_GT(at(15, true), 1);
}

TEST(LinksTest, SpeedIsBounded) {
  const LinkCost slow = FitLink(kToldLink, LinkSamples({0, 1e-6}, {1 << 10, 1 << 20}));
  EXPECT_NEAR(slow.bytes_per_ns, kToldLink.bytes_per_ns / 100, 1e-9);
  const LinkCost fast =
      FitLink(kToldLink, LinkSamples({1, 1e9}, {1 << 10, 1 << 20, 1 << 28, 1 << 30}));
  EXPECT_LE(fast.bytes_per_ns, kToldLink.bytes_per_ns * 100);
  EXPECT_GE(fast.latency_ns, 0);
}

// An engine "dev" with one device that has memory of its own.
Plan OneLinkedDevice() {
  Plan plan;
  plan.engines = {{"host", "", ""}, {"dev", "1", "hash"}};
  plan.devices = {PlanDevice{0, 0, "host", 0, false, 1}, PlanDevice{1, 0, "dev/0", 1, true, 3}};
  plan.domains = {PlanDomain{"host"}, PlanDomain{"dev/0", 1, 0}};
  plan.links = {{0, 1, 1, 2000, 20}, {1, 0, 1, 2000, 20}};
  return plan;
}
const LinkBooks kLinkBooks = [](uint32_t, uint32_t device) {
  return PriceBook{"hash", std::to_string(device)};
};

TEST(LinksTest, CopiesAndWaitsOfRunsCorrectThePlan) {
  PriceCache cache(HostMachine());
  Plan plan = OneLinkedDevice();
  for (const LinkPrice& l : CorrectLinks(kLinkBooks, cache, &plan)) {
    EXPECT_EQ(l.source, "told");
    EXPECT_EQ(l.wait_source, "none");
  }
  EXPECT_EQ(plan.links[0].latency_ns, 2000);
  for (const double bytes : {4096.0, 65536.0, 1048576.0}) {
    AddLinkSample(kLinkBooks, plan, plan.links[0], LinkAt(bytes, 2000 + bytes / 10), &cache);
  }
  AddWaitSample(kLinkBooks, plan, 1, {100'000, 15, false}, &cache);
  const auto prices = CorrectLinks(kLinkBooks, cache, &plan);
  ASSERT_EQ(prices.size(), 2u);
  EXPECT_EQ(prices[0].source, "measured");
  EXPECT_EQ(prices[0].wait_ns, 0) << "a copy to the device is not waited for by the host";
  EXPECT_NEAR(plan.links[0].bytes_per_ns, 10, 0.5);
  EXPECT_EQ(prices[1].source, "told");
  EXPECT_EQ(prices[1].wait_source, "measured");
  EXPECT_NEAR(prices[1].wait_ns, 100'000, 3000);
  EXPECT_NEAR(plan.links[1].latency_ns, 102'000, 3000);
  EXPECT_EQ(plan.links[1].bytes_per_ns, 20);
}

TEST(LinksTest, ADoubtfulWaitGivesWayToASoundOne) {
  PriceCache cache(HostMachine());
  Plan plan = OneLinkedDevice();
  AddWaitSample(kLinkBooks, plan, 1, {9'000'000, 1, true}, &cache);
  EXPECT_EQ(CorrectLinks(kLinkBooks, cache, &plan)[1].wait_source, "doubtful");
  AddWaitSample(kLinkBooks, plan, 1, {50'000, 15, false}, &cache);
  plan = OneLinkedDevice();
  const auto prices = CorrectLinks(kLinkBooks, cache, &plan);
  EXPECT_EQ(prices[1].wait_source, "measured");
  EXPECT_NEAR(prices[1].wait_ns, 50'000, 2000);
}

TEST(LinksTest, RowsOfLinksCorrectNoPrices) {
  PriceCache cache(HostMachine());
  const Plan plan = OneLinkedDevice();
  AddLinkSample(kLinkBooks, plan, plan.links[0], LinkAt(1 << 20, 1e9), &cache);
  AddWaitSample(kLinkBooks, plan, 1, {1e9, 15, false}, &cache);
  OfferName work;
  work.family = work.signature = "Add";
  work.size = 20;
  for (const PriceBook& book :
       {kLinkBooks(1, 0), PriceBook{"hash", "0?links"}, PriceBook{"b", "cpu"}}) {
    EXPECT_EQ(cache.CorrectionFor(book, work, PriceCache::Kind::kAlone, 0).rows, 0u);
  }
}

}  // namespace
}  // namespace ge
