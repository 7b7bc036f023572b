// Loops that copy elements between layouts.
#include <omp.h>

#include <algorithm>
#include <cstring>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/loops.h"

namespace ge_engines::cpu {
namespace {

// `rows` (over up to kMaxRank axes) of n contiguous elements; or, where `turned`, the last two axes
// are a matrix that is transposed (and n is 1).
struct Broadcast {
  int place = 1;
  bool transposed = false;
  int64_t from = 0, to = 0, n = 1, total = 1;
  std::vector<int64_t> dim, src, dst;

  // The axis that is contiguous in the source goes before the last, which is contiguous in the
  // result.
  void Turn() {
    total = n;
    for (int64_t d : dim) total *= d;
    if (n != 1 || dim.size() < 2 || dst.back() != 1) return;
    for (size_t i = 0; i + 1 < dim.size(); ++i) {
      if (src[i] != 1 || dim[i] * dim.back() < 16) continue;
      for (std::vector<int64_t>* v : {&dim, &src, &dst}) {
        std::rotate(v->begin() + static_cast<ptrdiff_t>(i),
                    v->begin() + static_cast<ptrdiff_t>(i) + 1, v->end() - 1);
      }
      transposed = true;
      return;
    }
  }
};

template <int64_t kN>
void CopyRows(const float* x, float* y, int64_t rows, int64_t sx, int64_t sy, int64_t n) {
  const int64_t m = kN > 0 ? kN : n;
  for (int64_t r = 0; r < rows; ++r) {
    const float* q = x + r * sx;
    float* w = y + r * sy;
    if (kN > 0) {
      std::memcpy(w, q, static_cast<size_t>(kN) * sizeof(float));
    } else {
      std::memcpy(w, q, static_cast<size_t>(m) * sizeof(float));
    }
  }
}

void CopyRun(const float* x, float* y, int64_t rows, int64_t sx, int64_t sy, int64_t n) {
  switch (n) {
    case 1:
      return CopyRows<1>(x, y, rows, sx, sy, 1);
    case 2:
      return CopyRows<2>(x, y, rows, sx, sy, 2);
    case 4:
      return CopyRows<4>(x, y, rows, sx, sy, 4);
    case 8:
      return CopyRows<8>(x, y, rows, sx, sy, 8);
    case 16:
      return CopyRows<16>(x, y, rows, sx, sy, 16);
    case 24:
      return CopyRows<24>(x, y, rows, sx, sy, 24);
    case 48:
      return CopyRows<48>(x, y, rows, sx, sy, 48);
    default:
      return CopyRows<0>(x, y, rows, sx, sy, n);
  }
}

void CopyNest(const Simd& simd, const Broadcast& n, const float* x, float* y, size_t level) {
  if (n.transposed && level + 2 == n.dim.size()) {
    simd.transpose(x, n.src[level + 1], y, n.dst[level], n.dim[level + 1], n.dim[level]);
    return;
  }
  if (level + 1 == n.dim.size()) {
    return CopyRun(x, y, n.dim[level], n.src[level], n.dst[level], n.n);
  }
  for (int64_t i = 0; i < n.dim[level]; ++i) {
    CopyNest(simd, n, x + i * n.src[level], y + i * n.dst[level], level + 1);
  }
}
int64_t CopyPieces() { return kCopyPieces * omp_get_max_threads(); }

// A few long rows by several threads: pieces of each.
void CopyLong(const Broadcast& n, const float* x, float* y) {
  const int64_t rows = n.dim[0], pieces = (CopyPieces() + rows - 1) / rows;
  const int64_t piece = (n.n + pieces - 1) / pieces;
  ForRange(true, rows * pieces, [&](int64_t t) {
    const int64_t row = t / pieces, from = std::min(n.n, t % pieces * piece);
    const auto m = static_cast<size_t>(std::min(piece, n.n - from));
    std::memcpy(y + row * n.dst[0] + from, x + row * n.src[0] + from, m * sizeof(float));
  });
}

// A large nest by several threads: pieces of its first axis, or of a matrix's longer one.
void CopyShared(const Simd& simd, const Broadcast& n, const float* x, float* y) {
  const bool rows = n.dim.size() == 1 && n.total >= kLongCopy && omp_get_max_threads() > 1;
  if (rows && n.dim[0] < CopyPieces() && n.n >= CopyPieces()) return CopyLong(n, x, y);
  const bool matrix = n.transposed && n.dim.size() == 2;
  const size_t axis = matrix && n.dim[1] > n.dim[0] ? 1 : 0;
  const int64_t all = n.dim[axis];
  if (n.total <= kParallel || all < 2 || omp_get_max_threads() == 1) {
    return CopyNest(simd, n, x, y, 0);
  }
  int64_t piece = (all + CopyPieces() - 1) / CopyPieces();
  if (matrix) piece = (piece + kCopyLines - 1) / kCopyLines * kCopyLines;
  ForRange(true, (all + piece - 1) / piece, [&](int64_t t) {
    const int64_t m = std::min(piece, all - t * piece);
    const float* p = x + t * piece * n.src[axis];
    float* q = y + t * piece * n.dst[axis];
    if (matrix) {
      simd.transpose(p, n.src[1], q, n.dst[0], axis == 1 ? m : n.dim[1], axis == 0 ? m : n.dim[0]);
    } else if (n.dim.size() == 1) {
      CopyRun(p, q, m, n.src[0], n.dst[0], n.n);
    } else {
      for (int64_t i = 0; i < m; ++i) CopyNest(simd, n, p + i * n.src[0], q + i * n.dst[0], 1);
    }
  });
}

class Copy final : public Loop {
 public:
  Copy(const Simd& simd, const Layout& result, const std::vector<BoxCopy>& boxes)
      : simd_(simd), padding_(result) {
    for (size_t k = 0; k < boxes.size(); ++k) Add(boxes[k], static_cast<int>(k) + 1);
    together_ = result.cblock == 0 && boxes.size() > 1;
    for (const Broadcast& n : nests_) {
      together_ = together_ && n.dim.size() == 1 && n.dim[0] == nests_[0].dim[0] && n.n > 1;
    }
  }
  void Run(float* const* p) const override {
    if (together_) {
      // Rows of several sources that interleave: a few rows of each in turn, so that the lines
      // of the result are written once.
      const int64_t rows = nests_[0].dim[0], turns = (rows + kTogetherRows - 1) / kTogetherRows;
      ForRange(rows * nests_[0].n > kParallel, turns, [&](int64_t t) {
        for (const Broadcast& n : nests_) {
          CopyRun(p[n.place] + n.from + t * kTogetherRows * n.src[0],
                  p[0] + n.to + t * kTogetherRows * n.dst[0],
                  std::min(kTogetherRows, rows - t * kTogetherRows), n.src[0], n.dst[0], n.n);
        }
      });
      return;
    }
    if (nests_.size() > 1 && total_ > kParallel) {
      ForRange(true, static_cast<int64_t>(nests_.size()), [&](int64_t k) {
        const Broadcast& n = nests_[static_cast<size_t>(k)];
        CopyNest(simd_, n, p[n.place] + n.from, p[0] + n.to, 0);
      });
    } else {
      for (const Broadcast& n : nests_) CopyShared(simd_, n, p[n.place] + n.from, p[0] + n.to);
    }
    padding_.Zero(p[0]);
  }

 private:
  // One nest for each run of channels that stays in one block of both sides.
  void Add(const BoxCopy& b, int place) {
    const int sb = b.src.cblock, db = b.dst.cblock;
    if (sb == 0 && db == 0) return AddRun(b, place, 0, b.size.size() > 1 ? b.size[1] : 1);
    int64_t run = 0;
    for (int64_t c = 0; c < b.size[1]; c += run) {
      run = b.size[1] - c;
      if (sb > 0) run = std::min(run, sb - (b.src_start[1] + c) % sb);
      if (db > 0) run = std::min(run, db - (b.dst_start[1] + c) % db);
      AddRun(b, place, c, run);
    }
  }

  static int64_t Offset(const Layout& layout, const Dims& at) {
    int64_t o = 0;
    for (int i = 0; i < layout.rank; ++i) {
      const int64_t k = at[static_cast<size_t>(i)];
      o += layout.cblock > 0 && i == 1 ? k / layout.cblock * layout.stride[1] + k % layout.cblock
                                       : k * layout.stride[i];
    }
    return o;
  }

  void AddRun(const BoxCopy& b, int place, int64_t first, int64_t run) {
    Broadcast n;
    n.place = place;
    Dims from = b.src_start, to = b.dst_start;
    if (from.size() > 1) {
      from[1] += first;
      to[1] += first;
    }
    n.from = Offset(b.src, from);
    n.to = Offset(b.dst, to);
    struct Axis {
      int64_t dim, src, dst;
    };
    std::vector<Axis> axes;
    for (int i = 0; i < b.dst.rank; ++i) {
      const int64_t d = i == 1 ? run : b.size[static_cast<size_t>(i)];
      if (d == 1) continue;
      axes.push_back({d, i == 1 && b.src.cblock > 0 ? 1 : b.src.stride[i],
                      i == 1 && b.dst.cblock > 0 ? 1 : b.dst.stride[i]});
    }
    std::stable_sort(axes.begin(), axes.end(),
                     [](const Axis& x, const Axis& y) { return x.dst > y.dst; });
    while (!axes.empty() && axes.back().src == n.n && axes.back().dst == n.n) {
      n.n *= axes.back().dim;
      axes.pop_back();
    }
    for (const Axis& a : axes) {
      if (!n.dim.empty() && n.src.back() == a.src * a.dim && n.dst.back() == a.dst * a.dim) {
        n.dim.back() *= a.dim;
        n.src.back() = a.src;
        n.dst.back() = a.dst;
      } else {
        n.dim.push_back(a.dim);
        n.src.push_back(a.src);
        n.dst.push_back(a.dst);
      }
    }
    if (n.dim.empty()) {
      n.dim = {1};
      n.src = n.dst = {0};
    }
    n.Turn();
    total_ += n.total;
    nests_.push_back(std::move(n));
  }

  const Simd& simd_;
  Padding padding_;
  int64_t total_ = 0;
  std::vector<Broadcast> nests_;
  bool together_ = false;
};

}  // namespace

std::unique_ptr<Loop> CopyLoop(const Simd& simd, const Layout& result,
                               const std::vector<BoxCopy>& boxes) {
  return std::make_unique<Copy>(simd, result, boxes);
}

}  // namespace ge_engines::cpu
