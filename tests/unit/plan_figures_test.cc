// What STREAMS and MEMORY make of random plans, in figures: the same on every machine, so that a
// change of them is seen, be it for the better or the worse. Whoever changes them on purpose looks
// at the new figures, which a failure prints, and writes them here.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "ge/memory/memory.h"
#include "ge/plan/check/check.h"
#include "streams/streams.h"
#include "tests/unit/plan_generator.h"

namespace ge {
namespace {

struct Digest {
  uint64_t sum = 0;
  void Add(uint64_t x) { sum = (sum ^ x) * 0x100000001b3ull % 1000003; }
};

// "12 1 2 0 1: 123456 bytes of 100000 live, code 700, places 4711, order 815": of 20 plans with so
// many segments, devices, streams, percent of order alone and a kind of packing.
std::string Line(uint32_t segments, uint32_t devices, uint32_t streams, uint32_t after, int pack) {
  int64_t bytes = 0, live = 0;
  size_t code = 0;
  Digest places, order;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    test::GeneratorOptions options;
    options.segments = segments;
    options.async_devices = devices;
    options.streams_per_device = streams;
    options.after_percent = after;
    options.chain_percent = 20 + 20 * (seed % 4);
    options.host_percent = 10 + 30 * (seed % 3);
    Plan plan = test::RandomPlan(seed, options);
    EXPECT_TRUE(AssignStreams(&plan, {streams}).ok());
    EXPECT_TRUE(AssignMemory(&plan, {pack == 1 ? 64 : 0, pack != 2, pack == 3}).ok());
    const auto report = Check(plan);
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    if (!report.ok()) continue;
    for (const int64_t b : report->arena_bytes) bytes += b;
    for (const int64_t b : report->max_live_bytes) live += b;
    const PlanFunction& f = plan.functions[0];
    code += f.code.size();
    for (const Instruction& i : f.code) {
      order.Add(static_cast<uint64_t>(i.op));
      order.Add(i.stream);
      order.Add(i.segment);
    }
    for (const PlanValue& v : f.values) {
      places.Add(static_cast<uint64_t>(v.offset));
      places.Add(v.alias_of);
    }
  }
  char text[200];
  std::snprintf(text, sizeof text,
                "%u %u %u %u %d: %lld bytes of %lld live, code %zu, places %llu, order %llu",
                segments, devices, streams, after, pack, static_cast<long long>(bytes),
                static_cast<long long>(live), code, static_cast<unsigned long long>(places.sum),
                static_cast<unsigned long long>(order.sum));
  return text;
}

TEST(PlanFigures, AreWhatTheyWere) {
  const char* known[] = {
      "6 0 1 0 0: 306440 bytes of 305160 live, code 120, places 58673, order 684317",
      "6 1 2 20 1: 551216 bytes of 536792 live, code 404, places 856915, order 672865",
      "12 0 1 30 3: 443776 bytes of 440880 live, code 240, places 235355, order 325235",
      "12 1 1 0 0: 689384 bytes of 685436 live, code 508, places 154162, order 453414",
      "12 1 2 0 2: 1701904 bytes of 799500 live, code 708, places 909525, order 280023",
      "12 2 2 10 0: 999520 bytes of 992248 live, code 1053, places 869454, order 527149",
      "40 0 1 0 0: 738412 bytes of 732916 live, code 800, places 801316, order 112213",
      "40 1 3 10 1: 1448820 bytes of 1411976 live, code 2270, places 155886, order 105904",
      "40 2 2 0 3: 1646048 bytes of 1634408 live, code 3399, places 502070, order 552385",
      "150 1 2 5 0: 2285440 bytes of 2261272 live, code 7886, places 951065, order 407981",
      "150 0 1 0 3: 1245556 bytes of 1227208 live, code 3000, places 518615, order 824694",
      "400 2 2 2 0: 4736744 bytes of 4653820 live, code 30901, places 796633, order 537246",
  };
  for (const std::string line : known) {
    uint32_t segments = 0, devices = 0, streams = 0, after = 0;
    int pack = 0;
    ASSERT_EQ(
        std::sscanf(line.c_str(), "%u %u %u %u %d:", &segments, &devices, &streams, &after, &pack),
        5);
    EXPECT_EQ(Line(segments, devices, streams, after, pack), line);
  }
}

}  // namespace
}  // namespace ge
