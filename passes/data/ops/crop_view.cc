// CropView: sizes [n, 2] of pictures and draws [n, 2] -> views [n, 4] for Pictures (height, width,
// top, left): the size that the picture is brought to, so that its shorter side is `shorter` (0: as
// it is), and the place of a window of `height` x `width`. With draws it lies anywhere in the
// picture and `pad` pixels around it, else in the middle. A window that is greater than that lies
// around the picture.
#include <fmt/format.h>

#include <cmath>

#include "passes/data/ops/kept_pictures.h"

namespace ge::data {
namespace {

constexpr int64_t kMostCrop = 1 << 15;

struct Window {
  int64_t height, width, pad, shorter;
};

Window WindowOf(const ge_node& n) {
  const Window w{plugin::AttrInt(n, "height"), plugin::AttrInt(n, "width"),
                 plugin::AttrInt(n, "pad"), plugin::AttrInt(n, "shorter")};
  const auto side = [](int64_t s, int64_t least) { return s >= least && s <= kMostCrop; };
  if (side(w.height, 1) && side(w.width, 1) && side(w.pad, 0) && side(w.shorter, 0)) return w;
  throw Refusal{
      GE_INVALID_ARGUMENT,
      fmt::format("CropView: height {}, width {}, pad {}, shorter {}; wanted 1 to {}, pad "
                  "and shorter from 0",
                  w.height, w.width, w.pad, w.shorter, kMostCrop)};
}

// Half to even, as torchvision's center_crop.
int64_t Middle(int64_t all, int64_t kept) {
  return static_cast<int64_t>(std::nearbyint(static_cast<double>(all - kept) / 2));
}

int64_t Anywhere(int64_t all, int64_t kept, int64_t pad, float draw) {
  const int64_t slack = all + 2 * pad - kept;
  if (slack < 0) return Middle(all, kept);
  const auto at = static_cast<int64_t>(static_cast<double>(draw) * static_cast<double>(slack + 1));
  return std::min(at, slack) - pad;
}

ge_rc InferCropView(const ge_infer* c, ge_err* err) {
  return Run(err, "CropView", [&] {
    WindowOf(*c->graph->node);
    const bool random = c->graph->node->n_in > 1 && c->graph->node->in[1] != 0;
    InferNumbers(c, random ? 1 : 0, 4, "CropView");
  });
}

ge_rc RunCropView(const ge_kernel_call* c, ge_err* err) {
  return Run(err, "CropView", [&] {
    const Window w = WindowOf(*c->node);
    auto* out = static_cast<int64_t*>(c->out[0].ptr);
    const uint64_t n = c->out[0].bytes / (4 * sizeof(int64_t));
    const auto draws =
        InputOf(*c, 1).ptr != nullptr ? Elements<float>(InputOf(*c, 1)) : std::span<const float>();
    if (!draws.empty() && draws.size() != 2 * n) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("CropView: {} draws for {} rows, wanted 2 a row", draws.size(), n)};
    }
    for (uint64_t i = 0; i < n; ++i, out += 4) {
      const int64_t* size = RowOf(InputOf(*c, 0), 2, i, n, "CropView");
      if (size[0] < 1 || size[1] < 1 || size[0] > kMostSize || size[1] > kMostSize) {
        throw Refusal{GE_OUT_OF_RANGE,
                      fmt::format("CropView: a picture of {}x{}", size[1], size[0])};
      }
      const auto full = ShorterSide(size[0], size[1], w.shorter);
      out[0] = full[0];
      out[1] = full[1];
      out[2] = draws.empty() ? Middle(full[0], w.height)
                             : Anywhere(full[0], w.height, w.pad, draws[2 * i]);
      out[3] = draws.empty() ? Middle(full[1], w.width)
                             : Anywhere(full[1], w.width, w.pad, draws[2 * i + 1]);
    }
  });
}

}  // namespace

std::array<int64_t, 2> ShorterSide(int64_t height, int64_t width, int64_t shorter) {
  if (shorter == 0) return {height, width};
  const int64_t low = std::min(height, width), high = std::max(height, width);
  const int64_t longer = shorter * high / low;  // cut, as torchvision
  return height <= width ? std::array{shorter, longer} : std::array{longer, shorter};
}

ge_op_def CropViewOp() {
  static const ge_port ports[] = {Port("size", 1u << GE_I64), OptionalPort("draw", 1u << GE_F32),
                                  Port("view", 1u << GE_I64)};
  static const ge_attr_def attrs[] = {WantedAttr("height", GE_ATTR_INT),
                                      WantedAttr("width", GE_ATTR_INT), IntAttr("pad", 0),
                                      IntAttr("shorter", 0)};
  ge_op_def d = Record("CropView", ports, attrs);
  d.infer = InferCropView;
  d.kernel = RunCropView;
  return d;
}

}  // namespace ge::data
