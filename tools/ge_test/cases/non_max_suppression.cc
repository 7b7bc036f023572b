#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

void NonMaxSuppressionCase(CaseMaker& m) {
  const bool many = m.r.Chance(0.25);
  const int64_t batch = m.r.Int(1, 2), classes = m.r.Int(1, many ? 1 : 3);
  const int64_t n = many ? m.r.Int(80, 200) : m.r.Int(0, 12);
  if (many) {
    // As detectors shift the boxes of a class apart; a small one and a wide one now and then.
    const double apart = m.r.Between(0, 20);
    const bool along_x = m.r.Chance(0.5);
    std::vector<double> boxes;
    for (int64_t i = 0; i < batch * n; ++i) {
      const double shift = apart * static_cast<double>(m.r.Int(0, 9));
      const double size = m.r.Chance(0.05) ? 9 : m.r.Chance(0.05) ? 0 : 3;
      for (int k = 0; k < 4; ++k) {
        const double at = m.r.Between(0, 4) + (k > 1 ? m.r.Between(0, size) : 0);
        boxes.push_back(at + ((k % 2 == 1) == along_x ? shift : 0));
      }
    }
    m.Add(m.Floats(DType::kFloat, {batch, n, 4}, boxes));
  } else {
    m.Add(m.Numbers(DType::kFloat, {batch, n, 4}, 0.25, 3));
  }
  m.Add(m.Numbers(DType::kFloat, {batch, classes, n}, 0, 1));
  m.Add(m.Ints(DType::kInt64, {}, {m.r.Int(0, many ? 100 : 6)}));
  m.Add(m.Floats(DType::kFloat, {}, {m.r.Between(0, 1)}));
  if (m.r.Chance(0.6)) m.Add(m.Floats(DType::kFloat, {}, {m.r.Between(0, 0.6)}));
  if (m.r.Chance(0.5)) m.Set("center_point_box", m.r.Int(0, 1));
}

// Low and high end of box i along an axis: 0 is y, 1 is x.
std::pair<double, double> EndsOfBox(const RandomCase& c, int64_t i, int axis) {
  const HostTensor& boxes = *c.inputs[0].tensor;
  const auto at = [&](int k) { return static_cast<float>(ElementAsDouble(boxes, 4 * i + k)); };
  if (IntOr(c, "center_point_box", 0) != 0) {
    const float middle = at(1 - axis), half = at(3 - axis) / 2;
    return {middle - half, middle + half};
  }
  return std::minmax(double{at(axis)}, double{at(2 + axis)});
}

double OverlapOfBoxes(const RandomCase& c, int64_t a, int64_t b) {
  double common = 1, area_a = 1, area_b = 1;
  for (int axis = 0; axis < 2; ++axis) {
    const auto [al, ah] = EndsOfBox(c, a, axis);
    const auto [bl, bh] = EndsOfBox(c, b, axis);
    common *= std::max(0.0, std::min(ah, bh) - std::max(al, bl));
    area_a *= ah - al;
    area_b *= bh - bl;
  }
  return common > 0 ? common / (area_a + area_b - common) : 0;
}

bool PlainNonMaxSuppression(const RandomCase& c, HostTensor* out) {
  const HostTensor& scores = *c.inputs[1].tensor;
  const int64_t batches = scores.dims[0], classes = scores.dims[1], n = scores.dims[2];
  const int64_t most = ElementAsInt(*c.inputs[2].tensor, 0);
  const double limit = ElementAsDouble(*c.inputs[3].tensor, 0);
  std::vector<Dims> rows;
  for (int64_t b = 0; b < batches; ++b) {
    for (int64_t k = 0; k < classes; ++k) {
      const auto score = [&](int64_t i) {
        return ElementAsDouble(scores, (b * classes + k) * n + i);
      };
      std::vector<bool> out_of_race(static_cast<size_t>(n), false);
      for (int64_t taken = 0; taken < most; ++taken) {
        int64_t best = -1;
        for (int64_t i = 0; i < n; ++i) {
          const bool low = Maybe(c, 4) != nullptr && !(score(i) > ElementAsDouble(*Maybe(c, 4), 0));
          if (out_of_race[static_cast<size_t>(i)] || low) continue;
          if (best < 0 || score(i) > score(best)) best = i;
        }
        if (best < 0) break;
        rows.push_back({b, k, best});
        for (int64_t i = 0; i < n; ++i) {
          const bool hidden = OverlapOfBoxes(c, b * n + best, b * n + i) > limit;
          if (i == best || hidden) out_of_race[static_cast<size_t>(i)] = true;
        }
      }
    }
  }
  if (out->dims != Dims{static_cast<int64_t>(rows.size()), 3}) return false;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t d = 0; d < 3; ++d) SetIntElement(out, static_cast<int64_t>(3 * r + d), rows[r][d]);
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(non_max_suppression) = {"NonMaxSuppression", NonMaxSuppressionCase, 0,
                                     Error::kOfElement, PlainNonMaxSuppression};

}  // namespace ge::test
