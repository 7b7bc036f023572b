// Random placement problems for the oracle tests, and a boundary with domains, links and layouts.
// It shares no code with the solver. Header only; each test owns its problems.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "ge/place/place.h"

namespace ge::placetest {

// Links between domains (latency + bytes / bandwidth) and a price for each change of layout.
struct TestBoundary : PlaceBoundary {
  std::vector<uint32_t> domain;               // of each device
  std::vector<std::vector<double>> latency;   // [from domain][to domain]
  std::vector<std::vector<double>> per_byte;  // [from domain][to domain]
  double relayout = 0, relayout_per_byte = 0;
  double Cost(double bytes, uint32_t left, uint32_t l, uint32_t right, uint32_t m) const override {
    double cost = 0;
    if (domain[left] != domain[right]) {
      cost += latency[domain[left]][domain[right]] + bytes * per_byte[domain[left]][domain[right]];
    }
    if (l != m) cost += relayout + bytes * relayout_per_byte;
    return cost;
  }
};

struct TestProblem {
  PlaceProblem problem;
  TestBoundary boundary;
  // The problem points at the boundary beside it, so copies would point at the original's.
  TestProblem() { problem.boundary = &boundary; }
  TestProblem(const TestProblem&) = delete;
  TestProblem& operator=(const TestProblem&) = delete;
};

struct Recipe {
  uint32_t nodes = 8, devices = 3, domains = 3, layouts = 2;
  double fan_in = 1.6;  // mean number of values a node reads
  uint32_t window = 4;  // how far back it reads
  bool chain = false;
  double offered = 0.7;         // chance that a device beyond 0 offers a node
  double alternative = 0.3;     // chance of a second offer with other layouts
  double growable = 0.5;        // chance that an offer grows
  double patterns = 0.6;        // patterns tried per node
  double second_output = 0.15;  // chance that a node gives two values
  uint32_t price_levels = 3;    // distinct setups and launches per device
};

class Maker {
 public:
  Maker(uint64_t seed, const Recipe& recipe) : rng_(seed), r_(recipe) {}

  void Make(TestProblem* out) {
    p_ = &out->problem;
    p_->n_node = r_.nodes;
    p_->n_device = r_.devices;
    MakeBoundary(&out->boundary);
    MakeValues();
    for (uint32_t n = 0; n < r_.nodes; ++n) {
      for (uint32_t d = 0; d < r_.devices; ++d) {
        if (d > 0 && Unit() > r_.offered) continue;
        AddOffer(d, {n}, 1.0);
        if (Unit() < r_.alternative) AddOffer(d, {n}, 0.9);
      }
      if (Unit() < r_.patterns) AddPattern(n);
    }
  }

 private:
  double Unit() { return std::uniform_real_distribution<double>(0, 1)(rng_); }
  uint32_t Below(uint32_t n) { return std::uniform_int_distribution<uint32_t>(0, n - 1)(rng_); }

  void MakeBoundary(TestBoundary* boundary) {
    for (uint32_t d = 0; d < r_.devices; ++d)
      boundary->domain.push_back(d == 0 ? 0 : Below(r_.domains));
    for (uint32_t d = 0; d < r_.domains; ++d) {
      boundary->latency.emplace_back();
      boundary->per_byte.emplace_back();
      for (uint32_t e = 0; e < r_.domains; ++e) {
        boundary->latency.back().push_back(5 + 60 * Unit());
        boundary->per_byte.back().push_back(0.3 * Unit());
      }
    }
    boundary->relayout = 2 + 15 * Unit();
    boundary->relayout_per_byte = 0.1 * Unit();
  }

  void MakeValues() {
    std::vector<std::vector<uint32_t>> gives(r_.nodes);
    auto fresh = [&](int32_t producer) {
      PlaceValue v;
      v.producer = producer;
      v.bytes = 10 + 300 * Unit();
      p_->values.push_back(v);
      return static_cast<uint32_t>(p_->values.size() - 1);
    };
    const uint32_t input = fresh(-1), other_input = fresh(-1);
    for (uint32_t n = 0; n < r_.nodes; ++n) {
      std::vector<uint32_t> reads;
      if (n == 0) {
        reads.push_back(input);
      } else if (r_.chain) {
        reads.push_back(gives[n - 1][0]);
      } else {
        const uint32_t count = 1 + static_cast<uint32_t>(Unit() * (r_.fan_in * 2 - 1));
        for (uint32_t i = 0; i < count; ++i) {
          if (Unit() < 0.06) {
            reads.push_back(other_input);
            continue;
          }
          const uint32_t from = n - 1 - Below(std::min(n, r_.window));
          reads.push_back(gives[from][Below(static_cast<uint32_t>(gives[from].size()))]);
        }
      }
      std::sort(reads.begin(), reads.end());
      reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
      for (uint32_t v : reads) p_->values[v].users.push_back(n);
      gives[n].push_back(fresh(static_cast<int32_t>(n)));
      if (!r_.chain && Unit() < r_.second_output) {
        gives[n].push_back(fresh(static_cast<int32_t>(n)));
      }
    }
    for (PlaceValue& v : p_->values) {
      if (v.producer >= 0) v.is_output = v.users.empty() || (!r_.chain && Unit() < 0.08);
    }
  }

  void AddOffer(uint32_t device, std::vector<uint32_t> nodes, double factor) {
    PlaceOffer o;
    o.nodes = std::move(nodes);
    o.device = device;
    o.growable = Unit() < r_.growable;
    const double speed = device == 0 ? 1.0 : 0.35;
    for (size_t i = 0; i < o.nodes.size(); ++i) o.marginal += factor * speed * (5 + 150 * Unit());
    o.setup = device == 0 ? 0 : 10.0 * (1 + Below(r_.price_levels)) * (1 + device);
    o.launch = 3.0 * (1 + Below(r_.price_levels)) * (1 + device);
    o.edge_saving = o.growable ? std::floor(8 * Unit()) : 0;
    for (uint32_t v = 0; v < p_->values.size(); ++v) {
      if (r_.layouts < 2 || device == 0 || !Touches(o, v)) continue;
      const uint32_t layout = Below(r_.layouts);
      if (layout != 0) o.layout.emplace_back(v, layout);
    }
    p_->offers.push_back(std::move(o));
  }

  bool Touches(const PlaceOffer& offer, uint32_t given) const {
    for (uint32_t n : offer.nodes) {
      const PlaceValue& value = p_->values[given];
      if (value.producer == static_cast<int32_t>(n)) return true;
      if (std::find(value.users.begin(), value.users.end(), n) != value.users.end()) return true;
    }
    return false;
  }

  // Adds a connected pattern of two to four nodes from `node` on; not necessarily convex.
  void AddPattern(uint32_t node) {
    std::vector<uint32_t> nodes{node};
    const uint32_t want = 2 + Below(3);
    while (nodes.size() < want) {
      std::vector<uint32_t> next;
      for (const PlaceValue& v : p_->values) {
        for (uint32_t user : v.users) {
          if (v.producer >= 0 && Has(nodes, static_cast<uint32_t>(v.producer)) &&
              !Has(nodes, user)) {
            next.push_back(user);
          }
        }
      }
      if (next.empty()) break;
      nodes.push_back(next[Below(static_cast<uint32_t>(next.size()))]);
    }
    if (nodes.size() < 2) return;
    std::sort(nodes.begin(), nodes.end());
    AddOffer(Below(r_.devices), nodes, 0.6);
  }

  static bool Has(const std::vector<uint32_t>& values, uint32_t x) {
    return std::find(values.begin(), values.end(), x) != values.end();
  }

  std::mt19937_64 rng_;
  const Recipe r_;
  PlaceProblem* p_ = nullptr;
};

}  // namespace ge::placetest
