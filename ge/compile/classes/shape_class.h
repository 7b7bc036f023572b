// ShapeClasses: graphs of a session that differ in their dims alone share a class. A class keeps
// the covers that PLACE found for some of them, so most new shapes are planned without a search. A
// cover is a proposal: its user prices it by the offers of the new dims and checks whether engines
// make them all again. Thread-safe; covers handed out stay valid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "ge/compile/decompose/market_cover.h"
#include "ge/engine/offers.h"
#include "ge/ir/graph.h"

namespace ge {

class Compiled;

struct ClassCover {
  std::vector<int64_t> dims;     // of the parameters, one after the other
  std::vector<NodeId> expanded;  // nodes that became their parts
  MarketCover cover;
  std::weak_ptr<const Compiled> plan;  // that has it
  // Cost of the search's plan, which this cover goes back to, divided by the floor of its offers.
  double over_floor = 1;
};

class ShapeClasses {
 public:
  using Covers = std::vector<std::shared_ptr<const ClassCover>>;
  // Equal for functions with the same nodes, attributes, wiring and ranks whose dims are 0, 1 or
  // more at the same places. Contents of constants play no part, since shapes are folded into them.
  static uint64_t KeyOf(const Graph& bound, FunctionId fn);
  // Equal also for functions whose dims are 0, 1 or more at other places: a looser class. Its
  // covers are tried where the class has none.
  static uint64_t LooserKeyOf(const Graph& bound, FunctionId fn);
  static std::vector<int64_t> DimsOf(const Graph& bound, FunctionId fn);

  // All covers of the class, those found for the nearest dims first. Empty = a search is due.
  Covers Near(uint64_t key, const std::vector<int64_t>& dims);
  // Whether each dim is within `most` times the other's, 0 counting as 1: then the cover is taken
  // without asking engines. Measured in docs/decisions/0034-new-shapes.md and 0026-pieces.md.
  static constexpr double kClose = 32, kCloseLooser = 32, kCloseOfData = 128;
  static bool IsClose(const std::vector<int64_t>& left, const std::vector<int64_t>& right,
                      double most);
  // Whether each dim is at least the cover's.
  static bool IsMore(const std::vector<int64_t>& dims, const ClassCover& cover) {
    return std::equal(dims.begin(), dims.end(), cover.dims.begin(), cover.dims.end(),
                      std::greater_equal<>());
  }
  // The greatest factor from a dim of `left` to that of `right`, at least 1.
  static double Growth(const std::vector<int64_t>& left, const std::vector<int64_t>& right);
  // Keeps at most kMostCovers a class, and kMostClasses; the covers unused for longest go first.
  // `looser`: the key is of LooserKeyOf; these are not counted.
  void Add(uint64_t key, ClassCover cover, bool looser = false);
  // Keeps a cover's plan alive although nobody may run it any more, since plans shaped like it need
  // it: the kMostKept plans kept or used last.
  void Keep(std::shared_ptr<const Compiled> plan);

  void Clear();  // forgets all of them

  size_t classes() const;
  size_t covers() const;

  static constexpr size_t kMostCovers = 8, kMostClasses = 4096, kMostKept = 256;

 private:
  struct Class {
    Covers covers;  // most recently found or asked for first
    std::list<uint64_t>::iterator place;
    bool looser = false;
  };
  mutable std::mutex mutex_;
  std::list<uint64_t> recent_;  // keys, most recent first
  std::unordered_map<uint64_t, Class> classes_;
  std::list<std::shared_ptr<const Compiled>> kept_;  // most recent first
};

}  // namespace ge
