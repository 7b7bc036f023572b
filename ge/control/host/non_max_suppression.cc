#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

struct Box {
  float y0, x0, y1, x1;
  float area() const { return (y1 - y0) * (x1 - x0); }
  bool finite() const {
    return std::isfinite(y0) && std::isfinite(x0) && std::isfinite(y1) && std::isfinite(x1);
  }
};

// Corners in any order, or center and size.
Box BoxAt(const float* p, bool center) {
  if (center) {
    return {p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2};
  }
  return {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3])};
}

// Cuts one axis into bands, so that a box can meet those alone that begin in a few of them:
// detectors shift the boxes of each class apart to have one list. Bands are as wide as the widest
// box.
class Bands {
 public:
  // Of the axis that has more of them; at most one for each `kBoxes`.
  explicit Bands(const std::vector<Box>& boxes) {
    double count = 1;
    for (const auto& [low, high] : {std::pair(&Box::y0, &Box::y1), std::pair(&Box::x0, &Box::x1)}) {
      double from = HUGE_VAL, to = -HUGE_VAL, widest = 0;
      for (const Box& b : boxes) {
        if (!b.finite()) continue;
        from = std::min<double>(from, b.*low);
        to = std::max<double>(to, b.*low);
        widest = std::max(widest, double{b.*high} - double{b.*low});
      }
      widest *= 1 + 1e-9;  // what the subtraction may have rounded off
      if (!(widest > 0) || !((to - from) / widest > count)) continue;
      count = (to - from) / widest;
      low_ = low;
      high_ = high;
      from_ = from;
      widest_ = widest;
    }
    const double most = static_cast<double>(boxes.size() / kBoxes + 1);
    width_ = count > most ? (count / most) * widest_ : widest_;
    last_ = static_cast<size_t>(std::min(count, most));
  }
  size_t count() const { return last_ + 1; }
  size_t Of(const Box& b) const { return At(b.*low_); }
  // Those in which boxes begin that may meet this one.
  std::pair<size_t, size_t> Near(const Box& b) const {
    return {At(double{b.*low_} - widest_), At(b.*high_)};
  }

 private:
  static constexpr size_t kBoxes = 16;
  // Never falls where `at` grows.
  size_t At(double at) const {
    const double band = width_ > 0 ? (at - from_) / width_ : 0;
    return band > 0 ? static_cast<size_t>(std::min<double>(band, static_cast<double>(last_))) : 0;
  }

  float Box::*low_ = &Box::y0;
  float Box::*high_ = &Box::y1;
  double from_ = 0, widest_ = 0, width_ = 0;
  size_t last_ = 0;
};

// The boxes that were taken so far, by bands, sixteen side by side.
class Taken {
 public:
  // Of each box, and of the band that each sixteen may have.
  static constexpr uint64_t kBytes = 5 * sizeof(float) + 5 * sizeof(float) + 8;

  explicit Taken(const std::vector<Box>& boxes) : bands_(boxes), blocks_(bands_.count()) {}

  size_t size() const { return size_; }
  void Add(const Box& b) {
    ++size_;
    if (!b.finite()) return;  // its area is infinite or none: it hides nothing
    Band& band = blocks_[bands_.Of(b)];
    if (band.size % kBlock == 0) band.blocks.emplace_back();
    band.blocks.back().Set(band.size++ % kBlock, b);
  }
  // Whether intersection over union with one of them is above `iou`. It is 0 with a box that has no
  // area.
  bool Hide(const Box& b, float iou) const {
    if (iou < 0 && size_ > 0) return true;
    const float area = b.area();
    if (!(area > 0) || !b.finite()) return false;
    const auto [first, last] = bands_.Near(b);
    for (size_t i = first; i <= last; ++i) {
      for (const Block& block : blocks_[i].blocks) {
        if (block.MayMeet(b) && block.Hides(b, area, iou)) return true;
      }
    }
    return false;
  }

 private:
  static constexpr size_t kBlock = 16;
  struct Block {
    float y0[kBlock], x0[kBlock], y1[kBlock], x1[kBlock], area[kBlock];
    Block() {  // empty places meet nothing
      constexpr float kFar = std::numeric_limits<float>::infinity();
      std::fill_n(y0, kBlock, kFar);
      std::fill_n(x0, kBlock, kFar);
      std::fill_n(y1, kBlock, -kFar);
      std::fill_n(x1, kBlock, -kFar);
      std::fill_n(area, kBlock, 0.0f);
    }
    void Set(size_t i, const Box& b) {
      y0[i] = b.y0;
      x0[i] = b.x0;
      y1[i] = b.y1;
      x1[i] = b.x1;
      area[i] = b.area();
    }
    bool MayMeet(const Box& b) const {
      int any = 0;
      for (size_t i = 0; i < kBlock; ++i) {
        any |= static_cast<int>(y0[i] < b.y1) & static_cast<int>(b.y0 < y1[i]) &
               static_cast<int>(x0[i] < b.x1) & static_cast<int>(b.x0 < x1[i]);
      }
      return any != 0;
    }
    // Without branches, as the compiler needs it for vectors.
    bool Hides(const Box& b, float own, float iou) const {
      int any = 0;
      for (size_t i = 0; i < kBlock; ++i) {
        const float h = std::min(b.y1, y1[i]) - std::max(b.y0, y0[i]);
        const float w = std::min(b.x1, x1[i]) - std::max(b.x0, x0[i]);
        const float share = h * w / (own + area[i] - h * w);
        any |= static_cast<int>(h > 0) & static_cast<int>(w > 0) & static_cast<int>(area[i] > 0) &
               static_cast<int>(share > iou);
      }
      return any != 0;
    }
  };

  struct Band {
    size_t size = 0;
    std::vector<Block> blocks;
  };
  const Bands bands_;
  size_t size_ = 0;
  std::vector<Band> blocks_;
};

// Boxes of one class by their scores, the greatest first and of equal ones the first. Only as many
// as are asked for are brought into order.
class ByScore {
 public:
  static constexpr uint64_t kBytes = 2 * sizeof(int64_t);  // of each box, at most

  // Of the n scores those above `least`, or all; NaN comes last.
  ByScore(const float* score, int64_t n, const float* least) : score_(score) {
    for (int64_t i = 0; i < n; ++i) {
      if (least == nullptr || score[i] > *least) order_.push_back(i);
    }
  }
  size_t size() const { return order_.size(); }
  // The box of each place, in no order before At(place).
  const std::vector<int64_t>& places() const { return order_; }
  int64_t At(size_t place) {
    while (place >= sorted_) SortMore();
    return order_[place];
  }

 private:
  static constexpr size_t kFirst = 256;

  void SortMore() {
    const auto before = [this](int64_t x, int64_t y) {
      const float a = Key(x), b = Key(y);
      return a > b || (a == b && x < y);
    };
    const size_t end = sorted_ + std::min(std::max(kFirst, 3 * sorted_), order_.size() - sorted_);
    const auto at = [this](size_t i) { return order_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(sorted_), at(end - 1), order_.end(), before);
    std::sort(at(sorted_), at(end), before);
    sorted_ = end;
  }
  float Key(int64_t i) const { return std::isnan(score_[i]) ? -HUGE_VALF : score_[i]; }

  const float* score_;
  std::vector<int64_t> order_;
  size_t sorted_ = 0;
};

Result<float> Threshold(const HostCall& c, size_t i, const char* name, float absent) {
  if (!c.has(i)) return absent;
  if (c.in(i).count() != 1 || c.in(i).dtype != DType::kFloat) {
    return Status(Code::kInvalidArgument,
                  fmt::format("input '{}' is {}, wanted one f32", name, Describe(c.in(i))));
  }
  float f = 0;
  std::memcpy(&f, c.in(i).data, sizeof f);
  return f;
}

Status RunNonMaxSuppression(HostCall& c) {
  const FlowValue &boxes = c.in(0), &scores = c.in(1);
  const bool shaped = boxes.dims.size() == 3 && scores.dims.size() == 3 && boxes.dims[2] == 4 &&
                      boxes.dims[0] == scores.dims[0] && boxes.dims[1] == scores.dims[2];
  if (!shaped || boxes.dtype != DType::kFloat || scores.dtype != DType::kFloat) {
    return Status(Code::kInvalidArgument,
                  fmt::format("boxes are {} and scores {}, wanted f32[batch,number,4] and "
                              "f32[batch,classes,number]",
                              Describe(boxes), Describe(scores)));
  }
  int64_t most = 0;
  if (c.has(2)) {
    GE_ASSIGN_OR_RETURN(most, OnlyInt(c.in(2), "input 'max_output_boxes_per_class'"));
  }
  GE_ASSIGN_OR_RETURN(const float iou, Threshold(c, 3, "iou_threshold", 0));
  GE_ASSIGN_OR_RETURN(const float least, Threshold(c, 4, "score_threshold", 0));
  const bool center = AttrInt(c.node, "center_point_box") != 0;
  const int64_t batches = scores.dims[0], classes = scores.dims[1], n = scores.dims[2];
  const auto* box = reinterpret_cast<const float*>(boxes.data);
  const auto* score = reinterpret_cast<const float*>(scores.data);
  std::vector<int64_t> rows;
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t k = 0; k < classes; ++k) {
      const float* s = score + (b * classes + k) * n;
      // Those found so far, and the order and boxes of this class.
      GE_RETURN_IF_ERROR(
          c.pool->Room(rows.capacity() * sizeof(int64_t) +
                       static_cast<uint64_t>(n) * (ByScore::kBytes + sizeof(Box) + Taken::kBytes)));
      ByScore order(s, n, c.has(4) ? &least : nullptr);
      std::vector<Box> all;
      all.reserve(order.size());
      for (const int64_t i : order.places()) all.push_back(BoxAt(box + (b * n + i) * 4, center));
      Taken taken(all);
      for (size_t at = 0; at < order.size(); ++at) {
        if (static_cast<int64_t>(taken.size()) >= most) break;
        const int64_t i = order.At(at);
        const Box here = BoxAt(box + (b * n + i) * 4, center);
        if (taken.Hide(here, iou)) continue;
        taken.Add(here);
        rows.insert(rows.end(), {b, k, i});
      }
    }
  }
  std::byte* to = nullptr;
  const auto found = static_cast<int64_t>(rows.size() / 3);
  GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kInt64, {found, 3}, &c.outputs[0], &to));
  if (found > 0) std::memcpy(to, rows.data(), rows.size() * sizeof(int64_t));
  return {};
}

}  // namespace

GE_HOST_OP(non_max_suppression) = {"", "NonMaxSuppression", RunNonMaxSuppression};

}  // namespace ge
