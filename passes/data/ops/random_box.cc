// RandomBox: sizes [n, 2] (height, width) and draws [n, 22] -> boxes [n, 4] (x, y, width, height)
// of a random area and aspect, within the attributes or `limits` [4] (areas, aspects), for random
// resized crops: as torchvision's RandomResizedCrop, ten tries, then the greatest centred box whose
// aspect is allowed. Without draws the greatest centred box of the aspect width : height. Szegedy
// et al., "Going deeper with convolutions", CVPR 2015.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "passes/data/ops/kept_pictures.h"

namespace ge::data {
namespace {

constexpr int64_t kTries = 10, kBoxDraws = 2 * kTries + 2;

struct Limits {
  double area[2], aspect[2];
  double wanted;  // width / height of the result
};

Limits LimitsOf(const ge_node& n, std::span<const float> given = {}) {
  const auto number = [&](const char* name) { return plugin::AttrFloat(n, name); };
  Limits l{{number("area_least"), number("area_most")},
           {number("aspect_least"), number("aspect_most")},
           number("aspect")};
  if (given.size() == 4) {
    // The two ends are set one by one: between two such calls the least may be above the most.
    for (int i = 0; i < 2; ++i) {
      l.area[i] = given[static_cast<size_t>(i)];
      l.aspect[i] = given[static_cast<size_t>(2 + i)];
    }
    l.area[0] = std::min(l.area[0], l.area[1]);
    l.aspect[0] = std::min(l.aspect[0], l.aspect[1]);
  }
  if (l.area[0] > 0 && l.area[0] <= l.area[1] && l.area[1] <= 1 && l.aspect[0] > 0 &&
      l.aspect[0] <= l.aspect[1] && std::isfinite(l.aspect[1]) && l.wanted > 0) {
    return l;
  }
  throw Refusal{GE_INVALID_ARGUMENT,
                fmt::format("RandomBox: areas {}..{}, aspects {}..{}; wanted 0 < least <= most, "
                            "areas up to 1",
                            l.area[0], l.area[1], l.aspect[0], l.aspect[1])};
}

// Half to even, as Python's round.
int64_t Round(double x) { return static_cast<int64_t>(std::nearbyint(x)); }

// A whole number in [0, most] by a draw.
int64_t Place(float draw, int64_t most) {
  return std::min(static_cast<int64_t>(static_cast<double>(draw) * static_cast<double>(most + 1)),
                  most);
}

void Centred(int64_t height, int64_t width, double least, double most, int64_t* box) {
  const double aspect = static_cast<double>(width) / static_cast<double>(height);
  int64_t w = width, h = height;
  if (aspect < least) h = std::clamp<int64_t>(Round(static_cast<double>(w) / least), 1, height);
  if (aspect > most) w = std::clamp<int64_t>(Round(static_cast<double>(h) * most), 1, width);
  box[0] = (width - w) / 2;
  box[1] = (height - h) / 2;
  box[2] = w;
  box[3] = h;
}

void Choose(const Limits& l, int64_t height, int64_t width, const float* draw, int64_t* box) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  const double low = std::log(l.aspect[0]), high = std::log(l.aspect[1]);
  for (int64_t t = 0; t < kTries; ++t) {
    const double part = l.area[0] + (l.area[1] - l.area[0]) * static_cast<double>(draw[2 * t]);
    const double aspect = std::exp(low + (high - low) * static_cast<double>(draw[2 * t + 1]));
    const int64_t w = Round(std::sqrt(area * part * aspect));
    const int64_t h = Round(std::sqrt(area * part / aspect));
    if (w < 1 || w > width || h < 1 || h > height) continue;
    box[0] = Place(draw[2 * kTries], width - w);
    box[1] = Place(draw[2 * kTries + 1], height - h);
    box[2] = w;
    box[3] = h;
    return;
  }
  Centred(height, width, l.aspect[0], l.aspect[1], box);
}

ge_rc InferRandomBox(const ge_infer* c, ge_err* err) {
  return Run(err, "RandomBox", [&] {
    LimitsOf(*c->graph->node);
    const bool random = c->graph->node->n_in > 1 && c->graph->node->in[1] != 0;
    InferNumbers(c, random ? 1 : 0, 4, "RandomBox");
  });
}

ge_rc RunRandomBox(const ge_kernel_call* c, ge_err* err) {
  return Run(err, "RandomBox", [&] {
    const Limits l = LimitsOf(*c->node, Elements<float>(InputOf(*c, 2)));
    auto* out = static_cast<int64_t*>(c->out[0].ptr);
    const uint64_t n = c->out[0].bytes / (4 * sizeof(int64_t));
    const auto draws =
        InputOf(*c, 1).ptr != nullptr ? Elements<float>(InputOf(*c, 1)) : std::span<const float>();
    if (!draws.empty() && draws.size() != n * kBoxDraws) {
      throw Refusal{GE_INVALID_ARGUMENT, fmt::format("RandomBox: {} draws for {} rows, wanted {} a "
                                                     "row",
                                                     draws.size(), n, kBoxDraws)};
    }
    for (uint64_t i = 0; i < n; ++i) {
      const int64_t* size = RowOf(InputOf(*c, 0), 2, i, n, "RandomBox");
      if (size[0] < 1 || size[1] < 1) {
        throw Refusal{GE_OUT_OF_RANGE,
                      fmt::format("RandomBox: a picture of {}x{}", size[1], size[0])};
      }
      if (draws.empty()) {
        Centred(size[0], size[1], l.wanted, l.wanted, out + 4 * i);
      } else {
        Choose(l, size[0], size[1], draws.data() + i * kBoxDraws, out + 4 * i);
      }
    }
  });
}

}  // namespace

ge_op_def RandomBoxOp() {
  static const ge_port ports[] = {Port("size", 1u << GE_I64), OptionalPort("draw", 1u << GE_F32),
                                  OptionalPort("limits", 1u << GE_F32), Port("box", 1u << GE_I64)};
  static const ge_attr_def attrs[] = {FloatAttr("area_least", 0.08), FloatAttr("area_most", 1),
                                      FloatAttr("aspect_least", 3.0 / 4),
                                      FloatAttr("aspect_most", 4.0 / 3), FloatAttr("aspect", 1)};
  ge_op_def d = Record("RandomBox", ports, attrs);
  d.infer = InferRandomBox;
  d.kernel = RunRandomBox;
  return d;
}

}  // namespace ge::data
