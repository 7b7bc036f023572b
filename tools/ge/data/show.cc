// ge data show: the first 16 samples of the first column of pictures, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/ge/data/data.h"
#include "tools/ge/png.h"

namespace ge::tool {
namespace {

constexpr int64_t kSamples = 16, kAcross = 4, kGap = 2, kLeast = 64, kMostSide = 2048;

// One column's numbers, by sample, channel, line and place.
struct Pictures {
  const TensorView* t = nullptr;
  int64_t channels = 0, height = 0, width = 0;
  float least = 0, most = 255;  // shown as black and white

  float At(int64_t i) const {
    return t->dtype == DType::kUint8 ? static_cast<const uint8_t*>(t->data)[i]
                                     : static_cast<const float*>(t->data)[i];
  }
  uint8_t Shade(int64_t n, int64_t c, int64_t y, int64_t x) const {
    const float v = At(((n * channels + (channels == 3 ? c : 0)) * height + y) * width + x);
    const float part = most > least ? (v - least) / (most - least) : 0;
    return static_cast<uint8_t>(std::lround(std::clamp(part, 0.0f, 1.0f) * 255));
  }
};

Result<Pictures> PicturesOf(const Batch& batch, const std::vector<std::string>& names) {
  for (const TensorView& t : batch.columns) {
    const size_t rank = t.dims.size();
    const bool typed = t.dtype == DType::kUint8 || t.dtype == DType::kFloat;
    const int64_t channels = rank == 4 ? t.dims[1] : 1;
    if (!typed || rank < 3 || rank > 4 || (channels != 1 && channels != 3)) continue;
    Pictures p{&t, channels, t.dims[rank - 2], t.dims[rank - 1], 0, 255};
    if (p.height < 1 || p.width < 1 || p.height > kMostSide || p.width > kMostSide) continue;
    if (t.dtype == DType::kFloat) {
      const auto* x = static_cast<const float*>(t.data);
      const auto [least, most] = std::minmax_element(x, x + t.bytes / sizeof(float));
      p.least = *least;
      p.most = *most;
    }
    return p;
  }
  return Status(
      Code::kInvalidArgument,
      fmt::format("none of the columns {} holds pictures: bytes or floats of [n, 1, h, w], "
                  "[n, 3, h, w] or [n, h, w], up to {} pixels a side",
                  fmt::join(names, ", "), kMostSide));
}

std::string Sheet(const Pictures& p, int64_t samples) {
  const int64_t by = std::max<int64_t>(1, kLeast / std::max(p.height, p.width));
  const int64_t high = p.height * by + kGap, wide = p.width * by + kGap;
  const int64_t down = (samples + kAcross - 1) / kAcross;
  const int64_t width = kAcross * wide + kGap, height = down * high + kGap;
  std::vector<uint8_t> pixels(static_cast<size_t>(width * height * 3), 255);
  for (int64_t n = 0; n < samples; ++n) {
    for (int64_t y = 0; y < p.height * by; ++y) {
      for (int64_t x = 0; x < p.width * by; ++x) {
        const int64_t at = (n / kAcross * high + kGap + y) * width + n % kAcross * wide + kGap + x;
        for (int64_t c = 0; c < 3; ++c) {
          pixels[static_cast<size_t>(at * 3 + c)] = p.Shade(n, c, y / by, x / by);
        }
      }
    }
  }
  return PngOf(static_cast<uint32_t>(width), static_cast<uint32_t>(height), pixels);
}

Status ShowPipe(const DataOptions& o) {
  GE_ASSIGN_OR_RETURN(const SignalledSession session, OpenPipe(o));
  BatchesOptions options = o.rows;
  options.batch = kSamples;
  options.ahead = 0;
  GE_ASSIGN_OR_RETURN(const auto batches, Batches::Make(session.get(), options));
  GE_ASSIGN_OR_RETURN(const auto batch, batches->Next());
  GE_ASSIGN_OR_RETURN(const Pictures pictures, PicturesOf(*batch, batches->names()));
  GE_RETURN_IF_ERROR(WriteFile(o.common.plot, Sheet(pictures, kSamples)));
  if (o.common.json) {
    fmt::print("{}\n", nlohmann::json{{"written", o.common.plot}, {"samples", kSamples}}.dump());
  } else {
    fmt::print("written {}\n", o.common.plot);
  }
  return {};
}

}  // namespace

int DataShow(const DataOptions& o) {
  const Status status = ShowPipe(o);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
