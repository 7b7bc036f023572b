#include "plugins/ref/kernels/window.h"

namespace ref {
namespace {

struct ImagePlan {
  int nd;
  int64_t batch, channels, area, rows, columns;  // rows, columns: of one image's input
  int64_t size[kMaxRank], stride[kMaxRank], dilation[kMaxRank], pads[2 * kMaxRank];
};

// What the content of block_shape adds.
struct Blocks {
  int64_t size[kMaxRank], count[kMaxRank];  // of a block; of blocks along an axis
  int64_t area = 1, total = 1;
};

ge_rc ReadBlocks(const ImagePlan& p, const Call& c, Blocks* b) {
  const Tensor shape = c.in(2);
  for (int d = 0; d < p.nd; ++d) {
    const int64_t k = IntAt(shape, d);
    if (k < 1 || k > kWindowLimit) {
      return c.Fail(GE_INVALID_ARGUMENT, "block_shape[%d] is %lld, wanted 1 to 2^30", d,
                    static_cast<long long>(k));
    }
    // Below 2^62: both factors are at most 2^30.
    const int64_t room = p.size[d] + p.pads[d] + p.pads[p.nd + d] - (k - 1) * p.dilation[d] - 1;
    b->size[d] = k;
    b->count[d] = room < 0 ? 0 : room / p.stride[d] + 1;
    if (b->count[d] == 0 || b->area > p.rows / k || b->total > p.columns / b->count[d]) {
      return c.Fail(GE_INVALID_ARGUMENT, "the blocks do not fit the image and the input");
    }
    b->area *= k;
    b->total *= b->count[d];
  }
  if (b->area * p.channels != p.rows || b->total != p.columns) {
    return c.Fail(GE_INVALID_ARGUMENT, "%lld blocks of %lld elements do not fit the input",
                  static_cast<long long>(b->total), static_cast<long long>(b->area));
  }
  return GE_OK;
}

// The column in which tap `k` lies on pixel `at`; -1 when no block has it there.
int64_t ColumnOf(const ImagePlan& p, const Blocks& b, const int64_t* at, const int64_t* k) {
  int64_t column = 0;
  for (int d = 0; d < p.nd; ++d) {
    const int64_t start = at[d] + p.pads[d] - k[d] * p.dilation[d];
    if (start < 0 || start % p.stride[d] != 0 || start / p.stride[d] >= b.count[d]) return -1;
    column = column * b.count[d] + start / p.stride[d];
  }
  return column;
}

// Floats in double, integers modulo 2^n, bools as "any".
template <class T>
Exact<T> Plus(Exact<T> sum, T v) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(v));
  } else {
    return sum + Widen(v);
  }
}

template <class T>
ge_rc RunCol2Im(const ImagePlan& p, const Call& c) {
  const T* x = c.in(0).as<T>();
  const Tensor ty = c.out(0);
  T* y = ty.as<T>();
  if (ty.count == 0) return GE_OK;
  Blocks b;
  if (const ge_rc rc = ReadBlocks(p, c, &b); rc != GE_OK) return rc;
  for (int64_t plane = 0; plane < p.batch * p.channels; ++plane) {
    const T* rows = x + plane * b.area * p.columns;
    int64_t at[kMaxRank] = {};
    for (int64_t i = 0; i < p.area; ++i) {
      Exact<T> sum{};
      int64_t k[kMaxRank] = {};
      for (int64_t row = 0; row < b.area; ++row) {
        const int64_t column = ColumnOf(p, b, at, k);
        if (column >= 0) sum = Plus<T>(sum, Load(rows, row * p.columns + column));
        for (int d = p.nd - 1; d >= 0 && ++k[d] == b.size[d]; --d) k[d] = 0;
      }
      Spend(b.area);
      y[plane * p.area + i] = Narrow<T>(sum);
      for (int d = p.nd - 1; d >= 0 && ++at[d] == p.size[d]; --d) at[d] = 0;
    }
  }
  return GE_OK;
}

bool PlanCol2Im(const NodeView& n, ImagePlan* p, Why* why) {
  if (!NeedPorts(n, 3, 3, why) || !NeedSameDType(n.in(0), n.out(0), why)) return false;
  const TensorType x = n.in(0), y = n.out(0);
  p->nd = y.rank - 2;
  if (x.rank != 3 || p->nd < 1 || y.dims[0] != x.dims[0]) {
    return why->Say(GE_WHY_SHAPE, "[N, C * block, blocks] and [N, C, spatial...] are wanted");
  }
  for (uint32_t i = 1; i < 3; ++i) {
    if (n.in(i).dtype != GE_I64) return NoDType(n.in(i), why);
    if (n.in(i).count != p->nd) {
      return why->Say(GE_WHY_SHAPE, "input %u is not one number an axis", i);
    }
  }
  if (!ReadList(n, "strides", p->nd, 1, 1, p->stride, why) ||
      !ReadList(n, "dilations", p->nd, 1, 1, p->dilation, why) ||
      !ReadList(n, "pads", 2 * p->nd, 0, 0, p->pads, why)) {
    return false;
  }
  p->batch = x.dims[0];
  p->channels = y.dims[1];
  p->area = PartCount(y.shape(), 2, y.rank);
  p->rows = x.dims[1];
  p->columns = x.dims[2];
  for (int d = 0; d < p->nd; ++d) {
    p->size[d] = y.dims[d + 2];
    if (p->size[d] > kWindowLimit) return why->Say(GE_WHY_SHAPE, "dim %d is beyond 2^30", d);
  }
  return true;
}

std::unique_ptr<Prepared> PrepareCol2Im(const NodeView& n, Why* why) {
  ImagePlan p{};
  if (!PlanCol2Im(n, &p, why)) return nullptr;
  std::unique_ptr<Prepared> made;
  const auto make = [&](auto tag) {
    using T = typename decltype(tag)::type;
    made = Make([p](const Call& c) { return RunCol2Im<T>(p, c); });
    made->const_align = 1;
  };
  if (n.in(0).dtype == GE_BOOL) {
    make(Tag<bool>());
  } else if (!VisitNumber(n.in(0).dtype, make)) {
    NoDType(n.in(0), why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(col2_im, "Col2Im", PrepareCol2Im)
