// UseLists: the readers of each value of a function, as lists in one block of memory, since a
// vector for each value costs more than the work of a pass over the function. A value; one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ge/ir/walk.h"

namespace ge {

class UseLists {
 public:
  UseLists() = default;
  explicit UseLists(const Function& function) {
    first_.assign(function.values.size(), kNone);
    cells_.reserve(2 * function.nodes.size());
    for (uint32_t i = 0; i < function.nodes.size(); ++i) {
      const Node& n = function.nodes[i];
      for (uint32_t s = 0; s < n.inputs.size(); ++s) {
        if (n.inputs[s] && n.inputs[s] < function.values.size()) Add(n.inputs[s], Use{i, s});
      }
    }
  }
  // New values have no reader.
  void Grow(size_t values) {
    if (first_.size() < values) first_.resize(values, kNone);
  }
  void Add(ValueId value, Use use) {
    cells_.push_back({use, first_[value]});
    first_[value] = static_cast<uint32_t>(cells_.size() - 1);
  }
  // All readers of `from` become readers of `to`, beside its own.
  void Move(ValueId from, ValueId to) {
    if (first_[from] == kNone || from == to) return;
    uint32_t last = first_[from];
    while (cells_[last].next != kNone) last = cells_[last].next;
    cells_[last].next = first_[to];
    first_[to] = first_[from];
    first_[from] = kNone;
  }
  // In node order, each once; drops readers denied by `reads(use)` for good.
  template <typename Reads>
  std::vector<Use> Of(ValueId value, Reads reads) {
    std::vector<Use> out;
    for (uint32_t i = first_[value]; i != kNone; i = cells_[i].next) {
      if (reads(cells_[i].use)) out.push_back(cells_[i].use);
    }
    const auto before = [](const Use& a, const Use& b) {
      return a.node_index != b.node_index ? a.node_index < b.node_index : a.slot < b.slot;
    };
    const auto same = [](const Use& a, const Use& b) {
      return a.node_index == b.node_index && a.slot == b.slot;
    };
    std::sort(out.begin(), out.end(), before);
    out.erase(std::unique(out.begin(), out.end(), same), out.end());
    uint32_t* link = &first_[value];
    for (const Use& use : out) {
      cells_[*link].use = use;
      link = &cells_[*link].next;
    }
    *link = kNone;
    return out;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Cell {
    Use use;
    uint32_t next;
  };
  std::vector<uint32_t> first_;  // by value: its first cell
  std::vector<Cell> cells_;
};

}  // namespace ge
