// Moves of 16-bit elements.
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/native/loops.h"

namespace ge_native {
namespace {

// One box: axes, outermost first, and n elements that lie together on both sides.
struct Nest {
  int place = 1;
  int64_t from = 0, to = 0, n = 1;
  std::vector<int64_t> dim, src, dst;

  explicit Nest(const NarrowBox& b) : place(b.place), from(b.from), to(b.to) {
    for (size_t k = 0; k < b.size.size(); ++k) {
      if (b.size[k] == 1) continue;
      const bool joins =
          !dim.empty() && src.back() == b.src[k] * b.size[k] && dst.back() == b.dst[k] * b.size[k];
      if (joins) {
        dim.back() *= b.size[k], src.back() = b.src[k], dst.back() = b.dst[k];
      } else {
        dim.push_back(b.size[k]), src.push_back(b.src[k]), dst.push_back(b.dst[k]);
      }
    }
    if (!dim.empty() && src.back() == 1 && dst.back() == 1) {
      n = dim.back();
      dim.pop_back(), src.pop_back(), dst.pop_back();
    }
    if (dim.empty()) dim = {1}, src = {0}, dst = {0};
  }

  int64_t total() const {
    int64_t all = n;
    for (const int64_t d : dim) all *= d;
    return all;
  }

  void Run(const uint16_t* x, uint16_t* y, size_t level) const {
    if (level == dim.size()) {
      std::memcpy(y, x, static_cast<size_t>(n) * sizeof *y);
    } else if (level + 1 == dim.size() && n == 1) {
      for (int64_t i = 0; i < dim[level]; ++i) y[i * dst[level]] = x[i * src[level]];
    } else {
      for (int64_t i = 0; i < dim[level]; ++i) {
        Run(x + i * src[level], y + i * dst[level], level + 1);
      }
    }
  }
};

class NarrowMove final : public Loop {
 public:
  explicit NarrowMove(const std::vector<NarrowBox>& boxes) {
    for (const NarrowBox& b : boxes) nests_.emplace_back(b);
  }
  void Run(float* const* p) const override {
    for (const Nest& n : nests_) {
      const auto* x = reinterpret_cast<const uint16_t*>(p[n.place]) + n.from;
      auto* y = reinterpret_cast<uint16_t*>(p[0]) + n.to;
      ForRange(n.total() > kParallel, n.dim[0],
               [&](int64_t i) { n.Run(x + i * n.src[0], y + i * n.dst[0], 1); });
    }
  }

 private:
  std::vector<Nest> nests_;
};

}  // namespace

std::unique_ptr<Loop> NarrowLoop(const std::vector<NarrowBox>& boxes) {
  return std::make_unique<NarrowMove>(boxes);
}

}  // namespace ge_native
