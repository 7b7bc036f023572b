// ge-shardcheck --redistributions: the collectives that take tensors from one layout to another, as
// JSON, for scripts that execute them or set them beside those of others.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "passes/kit/refusal.h"
#include "passes/parallel/factors.h"
#include "passes/parallel/redistribute.h"
#include "tools/shardcheck/command.h"

namespace ge::shardcheck {
namespace {

using nlohmann::json;
using parallel::Mesh;
using parallel::Places;
using parallel::Step;
using passes::Refusal;

constexpr int64_t kMostElements = int64_t{1} << 40;  // bytes times ranks stay far from overflow
constexpr size_t kMostDims = 8, kMostAxes = 4;       // layouts: (dims + 2) ^ axes

const char* KindOf(parallel::StepKind kind) {
  switch (kind) {
    case parallel::StepKind::kSlice:
      return "slice";
    case parallel::StepKind::kReduceScatter:
      return "reduce-scatter";
    case parallel::StepKind::kAllToAll:
      return "all-to-all";
    case parallel::StepKind::kAllReduce:
      return "all-reduce";
    case parallel::StepKind::kAllGather:
      return "all-gather";
  }
  return "";
}

struct Tensor {
  Mesh mesh;
  std::vector<int64_t> dims;
  int64_t element = 0;  // bytes
  Places from, to;
};

[[noreturn]] void Refuse(const std::string& text) { throw Refusal{GE_INVALID_ARGUMENT, text}; }

int PlaceOf(const json& place, size_t rank) {
  if (place == "whole") return parallel::kWhole;
  if (place == "sum") return parallel::kTerm;
  if (place == "max") return parallel::kMaxTerm;
  if (place == "min") return parallel::kMinTerm;
  if (place.is_number_unsigned() && place.get<uint64_t>() < rank) return place.get<int>();
  Refuse(fmt::format("a place is {}, wanted one of the {} dims, or whole, sum, max or min",
                     place.dump(), rank));
}

Places PlacesOf(const json& list, const Mesh& mesh, size_t rank) {
  Places places;
  for (const json& place : list) places.push_back(PlaceOf(place, rank));
  if (places.size() != mesh.axes().size()) {
    Refuse(fmt::format("there are {} places, wanted one for each axis of the mesh '{}'",
                       places.size(), mesh.Text()));
  }
  return places;
}

Tensor Read(const json& c) {
  Tensor t;
  t.mesh = Mesh::Of(c.at("mesh").get<std::string>());
  t.dims = c.at("dims").get<std::vector<int64_t>>();
  t.element = c.at("element").get<int64_t>();
  int64_t room = kMostElements;
  for (const int64_t d : t.dims) {
    if (d < 0 || d > room) Refuse(fmt::format("a dim is {}, wanted 0 to {}", d, room));
    room /= std::max<int64_t>(d, 1);
  }
  if (t.dims.size() > kMostDims || t.mesh.axes().size() > kMostAxes) {
    Refuse(fmt::format("it has {} dims and {} axes, wanted at most {} and {}", t.dims.size(),
                       t.mesh.axes().size(), kMostDims, kMostAxes));
  }
  if (t.element < 1 || t.element > 16) {
    Refuse(fmt::format("element is {}, wanted its bytes, 1 to 16", t.element));
  }
  t.from = PlacesOf(c.at("from"), t.mesh, t.dims.size());
  t.to = PlacesOf(c.at("to"), t.mesh, t.dims.size());
  int term = parallel::kWhole;
  for (size_t axis = 0; axis < t.from.size(); ++axis) {
    const bool whole = t.from[axis] == parallel::kWhole && t.to[axis] == parallel::kWhole;
    if (t.mesh.axes()[axis].size == 1 && !whole) {
      Refuse(
          fmt::format("axis '{}' has one rank, wanted whole along it", t.mesh.axes()[axis].name));
    }
    if (!parallel::IsTerm(t.from[axis])) continue;
    if (term != parallel::kWhole && term != t.from[axis]) Refuse("its terms are of two kinds");
    term = t.from[axis];
  }
  return t;
}

json BoxesOf(const Tensor& t, const Places& places) {
  json boxes = json::array();
  for (int64_t rank = 0; rank < t.mesh.ranks(); ++rank) {
    json box = json::array();
    const parallel::Layout layout = parallel::LayoutOf(places, t.dims.size());
    for (const parallel::Part& part : parallel::BoxOf(t.mesh, layout, t.dims, rank)) {
      box.push_back({part.first, part.size});
    }
    boxes.push_back(std::move(box));
  }
  return boxes;
}

// Without "steps" where it cannot get there.
json PlanOf(const Tensor& t) {
  json plan = {{"from", BoxesOf(t, t.from)}, {"to", BoxesOf(t, t.to)}};
  const parallel::Redistribution ways(t.mesh, t.dims, t.element, {t.from});
  const parallel::Cost* cost = ways.Find(t.to);
  if (cost == nullptr) return plan;
  plan["moved"] = cost->moved;
  plan["steps"] = json::array();
  for (const Step& step : ways.StepsTo(t.to)) {
    plan["steps"].push_back({{"kind", KindOf(step.kind)},
                             {"axes", step.axes},
                             {"gather_dim", step.gather_dim},
                             {"split_dim", step.split_dim},
                             {"boxes", BoxesOf(t, step.to)}});
  }
  return plan;
}

int Refused(const std::string& file, const std::string& text) {
  fmt::print(stderr, "ge-shardcheck: '{}': {}\n", file, text);
  return 2;
}

}  // namespace

int PrintRedistributions(const std::string& file) {
  std::ifstream in(file);
  if (!in) return Refused(file, "cannot be read");
  json plans = json::array();
  try {
    const json said = json::parse(in);
    for (const json& c : said.at("cases")) plans.push_back(PlanOf(Read(c)));
  } catch (const json::exception& e) {
    return Refused(file, e.what());
  } catch (const Refusal& r) {
    return Refused(file, fmt::format("case {}: {}", plans.size(), r.text));
  }
  fmt::print("{}\n", json{{"cases", plans}}.dump());
  return 0;
}

}  // namespace ge::shardcheck
