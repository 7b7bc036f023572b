#include <algorithm>

#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

// Keeps sums of pads and sizes inside int64.
constexpr int64_t kMostPad = int64_t{1} << 60;

// Place in [0, n) for place `i` counted from the first of n kept elements.
int64_t PadSource(PadMode mode, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  if (mode == PadMode::kEdge) return i < 0 ? 0 : n - 1;
  const int64_t period = mode == PadMode::kWrap ? n : std::max<int64_t>(2 * (n - 1), 1);
  int64_t m = i % period;
  if (m < 0) m += period;
  return m < n ? m : period - m;
}

struct PadWidths {
  int64_t begin[kMaxRank] = {}, end[kMaxRank] = {};
};

ge_rc ReadPadWidths(const Call& c, PadWidths* w) {
  const Tensor x = c.in(0), y = c.out(0), pads = c.in(1);
  const int64_t n = pads.count / 2;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t named = c.has_in(3) ? IntAt(c.in(3), k) : k, a = NormalAxis(named, x.rank);
    if (a < 0) {
      return c.Fail(GE_INVALID_ARGUMENT, "axes[%lld] is %lld, outside rank %d",
                    static_cast<long long>(k), static_cast<long long>(named), x.rank);
    }
    w->begin[a] = IntAt(pads, k);
    w->end[a] = IntAt(pads, n + k);
  }
  for (int d = 0; d < x.rank; ++d) {
    const bool sane =
        std::max(w->begin[d], w->end[d]) < kMostPad && std::min(w->begin[d], w->end[d]) > -kMostPad;
    if (!sane || w->begin[d] + x.dims[d] + w->end[d] != y.dims[d]) {
      return c.Fail(GE_INVALID_ARGUMENT, "pads %lld and %lld of axis %d do not make %lld of %lld",
                    static_cast<long long>(w->begin[d]), static_cast<long long>(w->end[d]), d,
                    static_cast<long long>(y.dims[d]), static_cast<long long>(x.dims[d]));
    }
  }
  return GE_OK;
}

// For each axis and place of the output: the element offset in the input, or -1. Negative pads cut
// before anything is reflected or wrapped.
ge_rc FillPadMap(PadMode mode, const PadWidths& w, const Call& c, int64_t* map) {
  const Tensor x = c.in(0), y = c.out(0);
  int64_t stride[kMaxRank];
  DenseStrides(x.shape(), stride);
  for (int d = 0; d < y.rank; map += y.dims[d], ++d) {
    const int64_t cut = std::max<int64_t>(0, -w.begin[d]);
    const int64_t kept = x.dims[d] - cut - std::max<int64_t>(0, -w.end[d]);
    if (mode != PadMode::kConstant && kept <= 0 && y.dims[d] > 0) {
      return c.Fail(GE_INVALID_ARGUMENT, "axis %d has no element to pad with", d);
    }
    for (int64_t j = 0; j < y.dims[d]; ++j) {
      const int64_t i = j - std::max<int64_t>(0, w.begin[d]);
      if (mode == PadMode::kConstant && (i < 0 || i >= kept)) {
        map[j] = -1;
      } else {
        map[j] = (cut + PadSource(mode, i, kept)) * stride[d];
      }
    }
  }
  return GE_OK;
}

ge_rc RunPad(PadMode mode, int64_t size, const Call& c) {
  const Tensor y = c.out(0);
  PadWidths w;
  if (const ge_rc rc = ReadPadWidths(c, &w); rc != GE_OK) return rc;
  int64_t* map = static_cast<int64_t*>(c.workspace());
  if (y.count == 0) return GE_OK;
  if (const ge_rc rc = FillPadMap(mode, w, c, map); rc != GE_OK) return rc;
  char zero[16] = {};
  const char* fill = c.has_in(2) ? c.in(2).as<char>() : zero;
  const char* from = c.in(0).as<char>();
  char* to = y.as<char>();
  const int last = y.rank - 1;
  const int64_t columns = y.rank == 0 ? 1 : y.dims[last];
  int64_t at[kMaxRank] = {};
  for (int64_t row = 0; row < y.count / columns; ++row) {
    int64_t base = 0;
    bool inside = true;
    const int64_t* axis = map;
    for (int d = 0; d < last; axis += y.dims[d], ++d) {
      inside = inside && axis[at[d]] >= 0;
      base += axis[at[d]];
    }
    for (int64_t j = 0; j < columns; ++j, to += size) {
      const int64_t column = y.rank == 0 ? 0 : axis[j];
      const bool copied = inside && column >= 0;
      std::memcpy(to, copied ? from + (base + column) * size : fill, static_cast<size_t>(size));
    }
    for (int d = last - 1; d >= 0; --d) {
      if (++at[d] < y.dims[d]) break;
      at[d] = 0;
    }
  }
  return GE_OK;
}

bool ReadPadMode(const NodeView& n, PadMode* mode, Why* why) {
  const std::string_view text = n.Text("mode");
  if (text == "constant") return *mode = PadMode::kConstant, true;
  if (text == "reflect") return *mode = PadMode::kReflect, true;
  if (text == "edge") return *mode = PadMode::kEdge, true;
  if (text == "wrap") return *mode = PadMode::kWrap, true;
  return why->Say(GE_WHY_ATTRIBUTE, "mode is %.*s", static_cast<int>(text.size()), text.data());
}

std::unique_ptr<Prepared> PreparePad(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 4, why) || !NeedSameDType(n.in(0), n.out(0), why)) return nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  const int64_t size = ElementBytes(x.dtype);
  PadMode mode = PadMode::kConstant;
  if (size == 0) return NoDType(x, why), nullptr;
  if (!ReadPadMode(n, &mode, why)) return nullptr;
  if (n.in(1).dtype != GE_I64) return NoDType(n.in(1), why), nullptr;
  if (n.has_in(2) && (n.in(2).dtype != x.dtype || n.in(2).count != 1)) {
    return why->Say(GE_WHY_DTYPE, "constant_value is not one element of the data's type"), nullptr;
  }
  if (n.has_in(3) && !IsIndexDType(n.in(3).dtype)) return NoDType(n.in(3), why), nullptr;
  const int64_t axes = n.has_in(3) ? n.in(3).count : x.rank;
  if (x.rank != y.rank || n.in(1).count != 2 * axes) {
    return why->Say(GE_WHY_SHAPE, "%lld pads for %lld axes, ranks %d and %d",
                    static_cast<long long>(n.in(1).count), static_cast<long long>(axes), x.rank,
                    y.rank),
           nullptr;
  }
  uint64_t places = 0;
  for (int d = 0; y.count != 0 && d < y.rank; ++d) places += static_cast<uint64_t>(y.dims[d]);
  auto made = Make([mode, size](const Call& c) { return RunPad(mode, size, c); });
  made->workspace = places * sizeof(int64_t);
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(pad, "Pad", PreparePad)
