// Order of the items within their layers.
#include <algorithm>
#include <numeric>

#include "tools/ge/plot/layout.h"

namespace ge::tool {
namespace {

constexpr int kSweeps = 24;   // pictures of the reference models do not improve after 20
constexpr int kPatience = 6;  // sweeps without a gain

void NumberLayer(const std::vector<uint32_t>& layer, std::vector<LayoutItem>* items) {
  for (uint32_t i = 0; i < layer.size(); ++i) (*items)[layer[i]].position = i;
}

// Crossings of the edges between a layer and the next, by a Fenwick tree over positions.
uint64_t CrossingsBelow(const std::vector<uint32_t>& layer, size_t next_size,
                        const std::vector<LayoutItem>& items) {
  std::vector<uint64_t> tree(next_size + 1);
  uint64_t seen = 0, crossings = 0;
  std::vector<uint32_t> ends;
  for (uint32_t v : layer) {
    ends.clear();
    for (uint32_t w : items[v].down) ends.push_back(items[w].position);
    for (uint32_t p : ends) {
      uint64_t not_right = 0;
      for (size_t i = p + 1; i > 0; i -= i & (~i + 1)) not_right += tree[i];
      crossings += seen - not_right;
    }
    for (uint32_t p : ends) {
      for (size_t i = p + 1; i <= next_size; i += i & (~i + 1)) ++tree[i];
    }
    seen += ends.size();
  }
  return crossings;
}

uint64_t Crossings(const LayoutLayers& layers, const std::vector<LayoutItem>& items) {
  uint64_t total = 0;
  for (size_t l = 0; l + 1 < layers.size(); ++l) {
    total += CrossingsBelow(layers[l], layers[l + 1].size(), items);
  }
  return total;
}

// Depth first from the top, readers in their order: series-parallel graphs come out right at once.
void FirstOrder(std::vector<LayoutItem>* items, LayoutLayers* layers) {
  std::vector<bool> seen(items->size());
  LayoutLayers out(layers->size());
  std::vector<uint32_t> stack;
  for (const auto& layer : *layers) {
    for (uint32_t root : layer) {
      stack.push_back(root);
      while (!stack.empty()) {
        uint32_t v = stack.back();
        stack.pop_back();
        if (seen[v]) continue;
        seen[v] = true;
        const LayoutItem& item = (*items)[v];
        out[item.layer].push_back(v);
        stack.insert(stack.end(), item.down.rbegin(), item.down.rend());
      }
    }
  }
  *layers = std::move(out);
  for (const auto& layer : *layers) NumberLayer(layer, items);
}

double Median(const std::vector<uint32_t>& neighbours, const std::vector<LayoutItem>& items,
              double otherwise) {
  if (neighbours.empty()) return otherwise;
  std::vector<uint32_t> at;
  for (uint32_t w : neighbours) at.push_back(items[w].position);
  std::sort(at.begin(), at.end());
  size_t mid = at.size() / 2;
  return at.size() % 2 ? at[mid] : (at[mid - 1] + at[mid]) / 2.0;
}

void SortByMedian(bool down, std::vector<uint32_t>* layer, std::vector<LayoutItem>* items) {
  std::vector<std::pair<double, uint32_t>> keyed;
  for (uint32_t v : *layer) {
    const LayoutItem& item = (*items)[v];
    keyed.emplace_back(Median(down ? item.up : item.down, *items, item.position), v);
  }
  std::stable_sort(keyed.begin(), keyed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < keyed.size(); ++i) (*layer)[i] = keyed[i].second;
  NumberLayer(*layer, items);
}

// Crossings between the edges of two neighbours, left before right.
int64_t PairCrossings(const std::vector<uint32_t>& left, const std::vector<uint32_t>& right,
                      const std::vector<LayoutItem>& items) {
  int64_t n = 0;
  for (uint32_t a : left) {
    for (uint32_t b : right) n += items[a].position > items[b].position;
  }
  return n;
}

// Exchanges neighbours while that removes crossings.
void Exchange(LayoutLayers* layers, std::vector<LayoutItem>* items) {
  for (auto& layer : *layers) {
    bool gained = layer.size() > 1;
    for (int round = 0; gained && round < 4; ++round) {
      gained = false;
      for (size_t i = 0; i + 1 < layer.size(); ++i) {
        const LayoutItem &a = (*items)[layer[i]], &b = (*items)[layer[i + 1]];
        int64_t now = PairCrossings(a.up, b.up, *items) + PairCrossings(a.down, b.down, *items);
        int64_t then = PairCrossings(b.up, a.up, *items) + PairCrossings(b.down, a.down, *items);
        if (then >= now) continue;
        std::swap(layer[i], layer[i + 1]);
        NumberLayer(layer, items);
        gained = true;
      }
    }
  }
}

}  // namespace

void OrderLayers(std::vector<LayoutItem>* items, LayoutLayers* layers) {
  FirstOrder(items, layers);
  LayoutLayers best = *layers;
  uint64_t least = Crossings(*layers, *items);
  for (int sweep = 0, idle = 0; sweep < kSweeps && idle < kPatience && least > 0; ++sweep, ++idle) {
    if (sweep % 2 == 0) {
      for (size_t l = 1; l < layers->size(); ++l) SortByMedian(true, &(*layers)[l], items);
    } else {
      for (size_t l = layers->size() - 1; l-- > 0;) SortByMedian(false, &(*layers)[l], items);
    }
    Exchange(layers, items);
    uint64_t now = Crossings(*layers, *items);
    if (now < least) {
      least = now;
      best = *layers;
      idle = 0;
    }
  }
  *layers = std::move(best);
  for (const auto& layer : *layers) NumberLayer(layer, items);
}

}  // namespace ge::tool
