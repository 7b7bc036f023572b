// Rows, columns and the ways of the edges. Order and x coordinates are in plot/order.cc and
// plot/position.cc.
#include "tools/ge/plot/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace ge::tool {
namespace {

constexpr double kGap = 26, kTightGap = 7;  // between rows
constexpr double kLane = 7;                 // between edges that run side by side
constexpr double kColumnGap = 44;
constexpr double kPassWidth = 6;       // room of an edge in a row
constexpr double kFoldFrom = 1500;     // height from which a picture is folded
constexpr double kAspect = 1.5;        // width / height to fold towards
constexpr size_t kMostItems = 300000;  // beyond it nobody can read the picture

class Layouter {
 public:
  Layouter(const std::vector<LayoutBox>& boxes, const std::vector<LayoutValue>& values)
      : boxes_(boxes),
        values_(values),
        layer_(boxes.size()),
        ins_(boxes.size()),
        outs_(boxes.size()) {}

  Result<Layout> Run() {
    AssignLayers();
    Fold();
    GE_RETURN_IF_ERROR(MakeItems());
    OrderLayers(&items_, &layers_);
    PlaceColumns();
    Ports();
    Rows();
    return Collect();
  }

 private:
  // Longest path from the top; then a box with more readers than inputs moves down to its first
  // reader (the graph's inputs, small side branches).
  void AssignLayers() {
    for (uint32_t i = 0; i < values_.size(); ++i) {
      outs_[values_[i].from].push_back(i);
      for (uint32_t t : values_[i].to) ins_[t].push_back(i);
    }
    for (uint32_t b = 0; b < boxes_.size(); ++b) {
      for (uint32_t i : ins_[b]) layer_[b] = std::max(layer_[b], layer_[values_[i].from] + 1);
    }
    for (uint32_t b = static_cast<uint32_t>(boxes_.size()); b-- > 0;) {
      uint32_t reader = UINT32_MAX;
      size_t n = 0;
      for (uint32_t i : outs_[b]) {
        for (uint32_t t : values_[i].to) {
          reader = std::min(reader, layer_[t]);
          ++n;
        }
      }
      if (n > ins_[b].size()) layer_[b] = reader - 1;
    }
    n_layer_ = 0;
    for (uint32_t l : layer_) n_layer_ = std::max(n_layer_, l + 1);
  }

  uint32_t LastReader(const LayoutValue& v) const {
    uint32_t last = layer_[v.from];
    for (uint32_t t : v.to) last = std::max(last, layer_[t]);
    return last;
  }

  // Cuts a tall picture into columns where few edges have to cross over, tight ones last. Each cut
  // adds two empty layers, in which these edges leave one column and enter the next.
  void Fold() {
    std::vector<double> height(n_layer_), width(n_layer_);
    std::vector<int64_t> through(n_layer_ + 1);  // weight of edges from layer l to l + 1 or beyond
    for (uint32_t b = 0; b < boxes_.size(); ++b) {
      height[layer_[b]] = std::max(height[layer_[b]], boxes_[b].height + kGap);
      width[layer_[b]] += boxes_[b].width + kGap;
    }
    for (const LayoutValue& v : values_) {
      if (v.to.empty()) continue;
      int64_t weight = v.tight ? 8 : 1;
      through[layer_[v.from]] += weight;
      through[LastReader(v)] -= weight;
    }
    double total = 0, widest = 0;
    for (uint32_t l = 0; l < n_layer_; ++l) {
      if (l) through[l] += through[l - 1];
      total += height[l];
      widest = std::max(widest, width[l] + 12 * static_cast<double>(through[l]));
    }
    double column = widest + kColumnGap;
    auto n = static_cast<uint32_t>(std::lround(std::sqrt(kAspect * total / column)));
    if (total < kFoldFrom || n < 2) return;
    std::vector<uint32_t> cuts;  // after which layer
    for (uint32_t k = 1; k < n; ++k) {
      double wanted = total * k / n, slack = 0.15 * total / n, y = 0;
      uint32_t best = UINT32_MAX;
      double least = 0;
      for (uint32_t l = 0; l + 1 < n_layer_; ++l) {
        y += height[l];
        if (std::abs(y - wanted) > slack) continue;
        double cost = static_cast<double>(through[l]) + std::abs(y - wanted) / slack;
        if (best == UINT32_MAX || cost < least) {
          best = l;
          least = cost;
        }
      }
      if (best != UINT32_MAX && (cuts.empty() || best > cuts.back() + 2)) cuts.push_back(best);
    }
    for (uint32_t& l : layer_) {
      l += 2 * static_cast<uint32_t>(std::lower_bound(cuts.begin(), cuts.end(), l) - cuts.begin());
    }
    for (uint32_t k = 0; k < cuts.size(); ++k) column_end_.push_back(cuts[k] + 2 * k + 2);
    n_layer_ += 2 * static_cast<uint32_t>(cuts.size());
  }

  void Link(uint32_t a, uint32_t b) {
    items_[a].down.push_back(b);
    items_[b].up.push_back(a);
  }

  Status MakeItems() {
    layers_.resize(n_layer_);
    items_.resize(boxes_.size());
    for (uint32_t b = 0; b < boxes_.size(); ++b) {
      items_[b].box = true;
      items_[b].width = boxes_[b].width;
      items_[b].layer = layer_[b];
    }
    passes_.resize(values_.size());
    for (uint32_t i = 0; i < values_.size(); ++i) {
      const LayoutValue& v = values_[i];
      uint32_t above = v.from, last = LastReader(v);
      for (uint32_t l = layer_[v.from] + 1; l < last; ++l) {
        if (items_.size() >= kMostItems) {
          return Status(Code::kLimitExceeded,
                        fmt::format("the picture would have more than {} crossing points; a graph "
                                    "this large is read better with ge explain --json",
                                    kMostItems));
        }
        auto pass = static_cast<uint32_t>(items_.size());
        LayoutItem item;
        item.width = kPassWidth;
        item.layer = l;
        items_.push_back(std::move(item));
        Link(above, pass);
        passes_[i].push_back(pass);
        above = pass;
      }
      for (uint32_t t : v.to) Link(ItemAbove(i, t), t);
    }
    for (uint32_t i = 0; i < items_.size(); ++i) layers_[items_[i].layer].push_back(i);
    return {};
  }

  // Where the way of value i to box t comes from.
  uint32_t ItemAbove(uint32_t i, uint32_t t) const {
    const LayoutValue& v = values_[i];
    uint32_t steps = layer_[t] - layer_[v.from] - 1;
    return steps ? passes_[i][steps - 1] : v.from;
  }

  void PlaceColumns() {
    std::vector<uint32_t> ends = column_end_;
    ends.push_back(n_layer_);
    uint32_t first = 0;
    double x = 0;
    for (uint32_t end : ends) {
      double width = PositionItems(layers_, first, end, &items_);
      for (uint32_t l = first; l < end; ++l) {
        for (uint32_t v : layers_[l]) items_[v].x += x;
      }
      double lanes = end < n_layer_ ? static_cast<double>(layers_[end - 1].size()) * kLane : 0;
      turn_x_.push_back(x + width + kColumnGap / 2);
      x += width + (end < n_layer_ ? kColumnGap + lanes : 0);
      first = end;
    }
    width_ = x;
  }

  // Where each edge enters its box: straight from above where the box is wide enough.
  void Ports() {
    for (uint32_t b = 0; b < boxes_.size(); ++b) {
      std::vector<std::pair<double, uint32_t>> ports;  // (x, value)
      double half = std::max(0.0, boxes_[b].width / 2 - 12), low = items_[b].x - half,
             high = items_[b].x + half;
      for (uint32_t i : ins_[b]) {
        ports.emplace_back(std::clamp(items_[ItemAbove(i, b)].x, low, high), i);
      }
      std::sort(ports.begin(), ports.end(), [&](const auto& p, const auto& q) {
        double a = items_[ItemAbove(p.second, b)].x, c = items_[ItemAbove(q.second, b)].x;
        return a != c ? a < c : p.second < q.second;
      });
      if (ports.size() > 1) {
        double step = std::min(12.0, (high - low) / static_cast<double>(ports.size() - 1));
        for (size_t k = 1; k < ports.size(); ++k) {
          ports[k].first = std::max(ports[k].first, ports[k - 1].first + step);
        }
        double limit = high;
        for (size_t k = ports.size(); k-- > 0; limit -= step) {
          ports[k].first = std::min(ports[k].first, limit);
          limit = ports[k].first;
        }
      }
      for (auto [x, i] : ports) port_[{b, i}] = x;
    }
  }

  // Height of every row, and of the room beneath it that its edges need to bend.
  void Rows() {
    row_top_.resize(n_layer_);
    row_bottom_.resize(n_layer_);
    std::vector<double> gap(n_layer_, kTightGap), travel(n_layer_), above(n_layer_),
        below(n_layer_);
    for (uint32_t i = 0; i < values_.size(); ++i) {
      const LayoutValue& v = values_[i];
      for (uint32_t t : v.to) {
        uint32_t l = layer_[t] - 1, from = ItemAbove(i, t);
        if (!v.tight || from != v.from) gap[l] = kGap;
        travel[l] = std::max(travel[l], std::abs(items_[from].x - port_.at({t, i})));
      }
      uint32_t at = v.from;
      for (uint32_t pass : passes_[i]) {
        uint32_t l = items_[pass].layer - 1;
        travel[l] = std::max(travel[l], std::abs(items_[at].x - items_[pass].x));
        at = pass;
      }
    }
    for (uint32_t b = 0; b < boxes_.size(); ++b) {
      if (layer_[b]) above[layer_[b] - 1] = std::max(above[layer_[b] - 1], boxes_[b].room_above);
      below[layer_[b]] = std::max(below[layer_[b]], boxes_[b].room_below);
    }
    uint32_t first = 0;
    std::vector<uint32_t> ends = column_end_;
    ends.push_back(n_layer_);
    for (uint32_t end : ends) {
      double y = first ? static_cast<double>(layers_[first].size()) * kLane + 8 : 0;
      for (uint32_t l = first; l < end; ++l) {
        double height = 0;
        for (uint32_t v : layers_[l]) {
          if (v < boxes_.size()) height = std::max(height, boxes_[v].height);
        }
        row_top_[l] = y;
        row_bottom_[l] = y + height;
        double bend = travel[l] > 2 ? std::min(64.0, std::round(kGap + travel[l] * 0.08)) : 0;
        y += height + std::max({gap[l], bend, above[l] + below[l]});
      }
      column_bottom_.push_back(row_bottom_[end - 1]);
      if (end < n_layer_) {
        column_bottom_.back() += static_cast<double>(layers_[end - 1].size()) * kLane + 8;
      }
      height_ = std::max(height_, column_bottom_.back());
      first = end;
    }
  }

  // The way over to the next column. The rightmost edge turns first, so that no two ways cross.
  void Turn(uint32_t item, LayoutRun* run) const {
    uint32_t l = items_[item].layer;
    auto it = std::find(column_end_.begin(), column_end_.end(), l + 1);
    if (it == column_end_.end()) return;
    auto column = static_cast<size_t>(it - column_end_.begin());
    double lane = static_cast<double>(layers_[l].size() - 1 - items_[item].position) * kLane;
    run->turn = true;
    run->turn_x = turn_x_[column] + lane;
    run->turn_bottom = row_bottom_[l] + 8 + lane;
    run->turn_top = lane;
  }

  Layout Collect() const {
    Layout out;
    for (uint32_t b = 0; b < boxes_.size(); ++b) {
      out.boxes.push_back({items_[b].x - boxes_[b].width / 2, row_top_[layer_[b]]});
    }
    for (uint32_t i = 0; i < values_.size(); ++i) {
      const LayoutValue& v = values_[i];
      for (uint32_t t : v.to) {
        LayoutPath path;
        path.value = i;
        path.to = t;
        uint32_t l = layer_[v.from];
        path.runs.push_back(
            {items_[v.from].x, row_top_[l] + boxes_[v.from].height, row_bottom_[l]});
        for (uint32_t pass : passes_[i]) {
          uint32_t at = items_[pass].layer;
          if (at >= layer_[t]) break;
          LayoutRun run{items_[pass].x, row_top_[at], row_bottom_[at]};
          Turn(pass, &run);
          path.runs.push_back(run);
        }
        path.runs.push_back({port_.at({t, i}), row_top_[layer_[t]], row_top_[layer_[t]]});
        out.paths.push_back(std::move(path));
      }
    }
    out.width = width_;
    out.height = height_;
    return out;
  }

  const std::vector<LayoutBox>& boxes_;
  const std::vector<LayoutValue>& values_;
  std::vector<uint32_t> layer_;                    // by box
  std::vector<std::vector<uint32_t>> ins_, outs_;  // by box: values
  uint32_t n_layer_ = 0;
  std::vector<uint32_t> column_end_;  // first layer of each further column
  std::vector<LayoutItem> items_;     // the boxes, then the passes
  LayoutLayers layers_;
  std::vector<std::vector<uint32_t>> passes_;             // by value: items, one a layer
  std::map<std::pair<uint32_t, uint32_t>, double> port_;  // (box, value) -> x
  std::vector<double> row_top_, row_bottom_, column_bottom_, turn_x_;
  double width_ = 0, height_ = 0;
};

}  // namespace

Result<Layout> LayOut(const std::vector<LayoutBox>& boxes, const std::vector<LayoutValue>& values) {
  return Layouter(boxes, values).Run();
}

}  // namespace ge::tool
