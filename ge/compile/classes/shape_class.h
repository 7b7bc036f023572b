// ShapeClasses: graphs of a session that are alike but for their dims share a class, which keeps
// the covers that PLACE found for some of them, so that most shapes not seen before are planned
// without a search. A cover is a proposal: whoever takes it prices it by the offers of the new dims
// and finds out whether they are all made again. Thread-safe; what it hands out stays valid.
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
  // What the search's plan, which it goes back to, cost beside the floor of its offers.
  double over_floor = 1;
};

class ShapeClasses {
 public:
  using Covers = std::vector<std::shared_ptr<const ClassCover>>;
  // Equal for functions with the same nodes, attributes, wiring and ranks whose dims are 0, 1 or
  // more at the same places. What constants hold plays no part, since shapes are folded into them.
  static uint64_t KeyOf(const Graph& bound, FunctionId fn);
  // Equal for those whose dims are 0, 1 or more at other places, too: a looser class, whose covers
  // are worth asking about where there are none of the class.
  static uint64_t LooserKeyOf(const Graph& bound, FunctionId fn);
  static std::vector<int64_t> DimsOf(const Graph& bound, FunctionId fn);

  // All covers of the class, those found for the nearest dims first. Empty = it is time to search.
  Covers Near(uint64_t key, const std::vector<int64_t>& dims);
  // Whether each dim is within `most` times the other's, 0 counting as 1: then the cover may be
  // taken unseen. docs/decisions/0034-new-shapes.md and 0026-pieces.md have measured it.
  static constexpr double kClose = 32, kCloseLooser = 32, kCloseOfData = 128;
  static bool IsClose(const std::vector<int64_t>& left, const std::vector<int64_t>& right,
                      double most);
  // Whether no dim is less than the cover's.
  static bool IsMore(const std::vector<int64_t>& dims, const ClassCover& cover) {
    return std::equal(dims.begin(), dims.end(), cover.dims.begin(), cover.dims.end(),
                      std::greater_equal<>());
  }
  // The greatest factor from a dim of `left` to that of `right`, at least 1.
  static double Growth(const std::vector<int64_t>& left, const std::vector<int64_t>& right);
  // Keeps at most kMostCovers a class, and kMostClasses; those that were not taken for longest go
  // first. `looser`: the key is of LooserKeyOf; such are not counted.
  void Add(uint64_t key, ClassCover cover, bool looser = false);
  // Keeps a cover's plan alive though nobody may run it any more, since what is shaped like it
  // needs it: the kMostKept that were kept or used last.
  void Keep(std::shared_ptr<const Compiled> plan);

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
