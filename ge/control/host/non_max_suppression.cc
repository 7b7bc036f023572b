#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

struct Box {
  float y0, x0, y1, x1;
  float area() const { return (y1 - y0) * (x1 - x0); }
};

// Corners in any order, or center and size.
Box BoxAt(const float* p, bool center) {
  if (center) {
    return {p[1] - p[3] / 2, p[0] - p[2] / 2, p[1] + p[3] / 2, p[0] + p[2] / 2};
  }
  return {std::min(p[0], p[2]), std::min(p[1], p[3]), std::max(p[0], p[2]), std::max(p[1], p[3])};
}

// Intersection over union; 0 where a box has no area.
float Overlap(const Box& a, const Box& b) {
  if (a.area() <= 0 || b.area() <= 0) return 0;
  const float h = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  const float w = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (h <= 0 || w <= 0) return 0;
  return h * w / (a.area() + b.area() - h * w);
}

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
      GE_RETURN_IF_ERROR(c.pool->Room(rows.capacity() * sizeof(int64_t) +
                                      static_cast<uint64_t>(n) * (sizeof(int64_t) + sizeof(Box))));
      std::vector<int64_t> order;
      for (int64_t i = 0; i < n; ++i) {
        if (!c.has(4) || s[i] > least) order.push_back(i);
      }
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t x, int64_t y) { return s[x] > s[y]; });
      std::vector<Box> taken;
      for (const int64_t i : order) {
        if (static_cast<int64_t>(taken.size()) >= most) break;
        const Box here = BoxAt(box + (b * n + i) * 4, center);
        const bool hidden = std::any_of(taken.begin(), taken.end(),
                                        [&](const Box& t) { return Overlap(here, t) > iou; });
        if (hidden) continue;
        taken.push_back(here);
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
