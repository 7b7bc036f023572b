// X coordinates: four alignments (upwards or downwards, from the left or the right), each as
// compact as it gets, and for every item the mean of the two in the middle.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "tools/ge/plot/layout.h"

namespace ge::tool {
namespace {

constexpr double kBoxGap = 26, kPassGap = 14;

class Positioner {
 public:
  Positioner(const LayoutLayers& layers, size_t first, size_t last, std::vector<LayoutItem>* items)
      : layers_(layers.begin() + static_cast<ptrdiff_t>(first),
                layers.begin() + static_cast<ptrdiff_t>(last)),
        first_(first),
        last_(last),
        items_(*items) {}

  double Run() {
    MarkConflicts();
    std::array<std::vector<double>, 4> xs;
    for (int k = 0; k < 4; ++k) xs[k] = Aligned(k / 2 == 0, k % 2 == 0);
    JustifyTo(Narrowest(xs), &xs);
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& layer : layers_) {
      for (uint32_t v : layer) {
        std::array<double, 4> x{xs[0][v], xs[1][v], xs[2][v], xs[3][v]};
        std::sort(x.begin(), x.end());
        items_[v].x = std::round((x[1] + x[2]) / 2);  // whole pixels draw sharp
        low = std::min(low, items_[v].x - items_[v].width / 2);
        high = std::max(high, items_[v].x + items_[v].width / 2);
      }
    }
    if (low > high) return 0;
    for (const auto& layer : layers_) {
      for (uint32_t v : layer) items_[v].x -= low;
    }
    return high - low;
  }

 private:
  bool Inside(uint32_t v) const { return items_[v].layer >= first_ && items_[v].layer < last_; }
  bool Inner(uint32_t v, uint32_t w) const { return !items_[v].box && !items_[w].box; }

  // Where a long edge crosses another, the long one stays straight.
  void MarkConflicts() {
    for (const auto& layer : layers_) {
      std::vector<std::pair<uint32_t, uint32_t>> edges;
      bool inner = false;
      for (uint32_t v : layer) {
        for (uint32_t w : items_[v].down) {
          if (Inside(w)) {
            edges.emplace_back(v, w);
            inner |= Inner(v, w);
          }
        }
      }
      if (!inner) continue;
      for (auto [v, w] : edges) {
        if (!Inner(v, w)) continue;
        for (auto [a, b] : edges) {
          bool cross = (items_[a].position < items_[v].position) ==
                           (items_[b].position > items_[w].position) &&
                       a != v && b != w;
          if (cross && !Inner(a, b)) conflicts_.insert({a, b});
        }
      }
    }
  }

  bool Conflict(uint32_t v, uint32_t w) const {
    return conflicts_.count({v, w}) > 0 || conflicts_.count({w, v}) > 0;
  }

  // Neighbours that an item may line up with; the rest of its own trunk comes first.
  std::vector<uint32_t> Candidates(uint32_t v, bool downwards) const {
    std::vector<uint32_t> out;
    for (uint32_t w : downwards ? items_[v].up : items_[v].down) {
      if (!Inside(w)) continue;
      if (Inner(v, w)) return {w};
      out.push_back(w);
    }
    return out;
  }

  std::vector<double> Aligned(bool downwards, bool from_left) {
    LayoutLayers order = layers_;
    if (!downwards) std::reverse(order.begin(), order.end());
    if (!from_left) {
      for (auto& layer : order) std::reverse(layer.begin(), layer.end());
    }
    size_t n = items_.size();
    std::vector<uint32_t> root(n), align(n), place(n);
    for (const auto& layer : order) {
      for (uint32_t i = 0; i < layer.size(); ++i) {
        root[layer[i]] = align[layer[i]] = layer[i];
        place[layer[i]] = i;
      }
    }
    for (const auto& layer : order) {
      int64_t taken = -1;
      for (uint32_t v : layer) {
        std::vector<uint32_t> near = Candidates(v, downwards);
        if (near.empty()) continue;
        std::sort(near.begin(), near.end(),
                  [&](uint32_t a, uint32_t b) { return place[a] < place[b]; });
        for (size_t i = (near.size() - 1) / 2; i <= near.size() / 2; ++i) {
          uint32_t w = near[i];
          if (align[v] != v || taken >= place[w] || Conflict(v, w)) continue;
          align[w] = v;
          root[v] = root[w];
          align[v] = root[v];
          taken = place[w];
        }
      }
    }
    std::vector<double> x = Compact(order, root);
    if (!from_left) {
      for (double& value : x) value = -value;
    }
    return x;
  }

  double Separation(uint32_t a, uint32_t b) const {
    double gap = items_[a].box && items_[b].box ? kBoxGap : kPassGap;
    return (items_[a].width + items_[b].width) / 2 + gap;
  }

  // Blocks as far left as they go, then each as far right as its right neighbours let it.
  std::vector<double> Compact(const LayoutLayers& order, const std::vector<uint32_t>& root) const {
    size_t n = items_.size();
    std::vector<std::vector<std::pair<uint32_t, double>>> next(n), before(n);
    std::vector<uint32_t> waiting(n), topological;
    for (const auto& layer : order) {
      for (size_t i = 0; i + 1 < layer.size(); ++i) {
        uint32_t a = root[layer[i]], b = root[layer[i + 1]];
        double s = Separation(layer[i], layer[i + 1]);
        next[a].emplace_back(b, s);
        before[b].emplace_back(a, s);
        ++waiting[b];
      }
    }
    for (const auto& layer : order) {
      for (uint32_t v : layer) {
        if (root[v] == v && waiting[v] == 0) topological.push_back(v);
      }
    }
    for (size_t i = 0; i < topological.size(); ++i) {
      for (auto [w, s] : next[topological[i]]) {
        if (--waiting[w] == 0) topological.push_back(w);
      }
    }
    std::vector<double> x(n);
    for (uint32_t v : topological) {
      for (auto [u, s] : before[v]) x[v] = std::max(x[v], x[u] + s);
    }
    for (size_t i = topological.size(); i-- > 0;) {
      uint32_t v = topological[i];
      double room = std::numeric_limits<double>::infinity();
      for (auto [w, s] : next[v]) room = std::min(room, x[w] - s);
      if (std::isfinite(room)) x[v] = std::max(x[v], room);
    }
    for (const auto& layer : order) {
      for (uint32_t v : layer) x[v] = x[root[v]];
    }
    return x;
  }

  std::pair<double, double> Extent(const std::vector<double>& x) const {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& layer : layers_) {
      for (uint32_t v : layer) {
        low = std::min(low, x[v] - items_[v].width / 2);
        high = std::max(high, x[v] + items_[v].width / 2);
      }
    }
    return {low, high};
  }

  size_t Narrowest(const std::array<std::vector<double>, 4>& xs) const {
    size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t k = 0; k < 4; ++k) {
      auto [low, high] = Extent(xs[k]);
      if (high - low < least) {
        least = high - low;
        best = k;
      }
    }
    return best;
  }

  void JustifyTo(size_t best, std::array<std::vector<double>, 4>* xs) const {
    auto [low, high] = Extent((*xs)[best]);
    for (size_t k = 0; k < 4; ++k) {
      if (k == best) continue;
      auto [l, h] = Extent((*xs)[k]);
      double shift = k % 2 == 0 ? low - l : high - h;
      for (double& x : (*xs)[k]) x += shift;
    }
  }

  LayoutLayers layers_;
  size_t first_, last_;
  std::vector<LayoutItem>& items_;
  std::set<std::pair<uint32_t, uint32_t>> conflicts_;
};

}  // namespace

double PositionItems(const LayoutLayers& layers, size_t first, size_t last,
                     std::vector<LayoutItem>* items) {
  return Positioner(layers, first, last, items).Run();
}

}  // namespace ge::tool
