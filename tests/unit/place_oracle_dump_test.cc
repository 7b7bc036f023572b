// Writes 100 non-series-parallel placement problems and our costs as JSON for
// tests/e2e/all/plans/place_integer_programme.py, which solves them with an integer programme.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/unit/place_oracle.h"

namespace ge {
namespace {

using nlohmann::json;
using placetest::Maker;
using placetest::Recipe;
using placetest::TestProblem;

// Two-terminal reduction: a source before all, a sink after all, then series and parallel edges
// are contracted until nothing changes. One edge left means series-parallel.
bool IsSeriesParallel(const PlaceProblem& p) {
  const uint32_t source = p.n_node, sink = p.n_node + 1;
  std::set<std::pair<uint32_t, uint32_t>> edges;  // a set: parallel edges are one
  std::vector<bool> has_in(p.n_node, false), has_out(p.n_node, false);
  for (const PlaceValue& v : p.values) {
    for (uint32_t u : v.users) {
      if (v.producer < 0) continue;
      edges.insert({static_cast<uint32_t>(v.producer), u});
      has_in[u] = has_out[v.producer] = true;
    }
  }
  for (uint32_t n = 0; n < p.n_node; ++n) {
    if (!has_in[n]) edges.insert({source, n});
    if (!has_out[n]) edges.insert({n, sink});
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t n = 0; n < p.n_node && !changed; ++n) {
      std::vector<uint32_t> in, out;
      for (const auto& [a, b] : edges) {
        if (b == n) in.push_back(a);
        if (a == n) out.push_back(b);
      }
      if (in.size() != 1 || out.size() != 1) continue;
      edges.erase({in[0], n});
      edges.erase({n, out[0]});
      edges.insert({in[0], out[0]});
      changed = true;
    }
  }
  return edges.size() == 1;
}

json ToJson(const TestProblem& t) {
  json j;
  j["n_node"] = t.problem.n_node;
  for (const PlaceValue& v : t.problem.values) {
    j["values"].push_back({{"producer", v.producer},
                           {"users", v.users},
                           {"bytes", v.bytes},
                           {"is_output", v.is_output}});
  }
  for (const PlaceOffer& o : t.problem.offers) {
    j["offers"].push_back({{"nodes", o.nodes},
                           {"device", o.device},
                           {"growable", o.growable},
                           {"setup", o.setup},
                           {"marginal", o.marginal},
                           {"launch", o.launch},
                           {"edge_saving", o.edge_saving},
                           {"layout", o.layout}});
  }
  j["domain"] = t.boundary.domain;
  j["latency"] = t.boundary.latency;
  j["per_byte"] = t.boundary.per_byte;
  j["relayout"] = t.boundary.relayout;
  j["relayout_per_byte"] = t.boundary.relayout_per_byte;
  return j;
}

TEST(PlaceOracle, DumpForIntegerProgramme) {
  const char* path = std::getenv("GE_PLACE_DUMP");
  if (path == nullptr) {
    GTEST_SKIP()
        << "writes problems for tests/e2e/all/plans/place_integer_programme.py, which sets "
           "GE_PLACE_DUMP to a file name";
  }
  constexpr uint64_t kSeed = 27182;
  json all;
  all["seed"] = kSeed;
  for (uint64_t i = 0; all["problems"].size() < 100; ++i) {
    Recipe r;
    r.nodes = 12 + static_cast<uint32_t>(i % 5);
    r.devices = 3;
    r.fan_in = 1.8;
    r.window = 4 + static_cast<uint32_t>(i % 3);
    r.growable = 0.45;
    r.alternative = 0.2;
    TestProblem t;
    Maker(kSeed + i, r).Make(&t);
    if (IsSeriesParallel(t.problem)) continue;
    auto solved = SolvePlacement(t.problem);
    ASSERT_TRUE(solved.ok()) << solved.status().ToString();
    json j = ToJson(t);
    j["cost"] = solved->cost;
    j["method"] = solved->method;
    all["problems"].push_back(std::move(j));
  }
  std::ofstream out(path);
  out << all;
  ASSERT_TRUE(out.good()) << "cannot write " << path;
}

}  // namespace
}  // namespace ge
