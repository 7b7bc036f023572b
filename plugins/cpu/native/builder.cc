#include "plugins/cpu/native/builder.h"

#include "plugins/cpu/native/byte_transpose.h"
#include "plugins/cpu/native/kind.h"

namespace ge_engines::cpu::native {

void NativeBuilder::EmitMain(const Unit& u) { KindOfUnit(u).Emit(u, this); }

void NativeBuilder::AddPlain(const Unit& u, const std::string& label, std::unique_ptr<Kernel> work,
                             std::vector<BufferRef> reads) {
  const Rep y = NewResult(u.out[0], Plain(u.out[0]));
  reads.insert(reads.begin(), y.place);
  AddStep(label + " " + Sizes(u.dims), std::move(work), std::move(reads));
  AddRep(u.out[0], y);
}

void NativeBuilder::AddInLayout(const Unit& u, const std::string& label, const Layout& layout,
                                std::unique_ptr<Kernel> work, std::vector<BufferRef> reads) {
  const Rep y = NewResult(u.out[0], layout);
  reads.insert(reads.begin(), y.place);
  AddStep(label + " " + Sizes(u.dims), std::move(work), std::move(reads));
  AddRep(u.out[0], y);
}

void NativeBuilder::AddTiled(const Unit& u, size_t taken, const Layout& target,
                             const std::string& label, std::unique_ptr<Loop> loop,
                             std::vector<BufferRef> reads) {
  const bool whole = taken == u.post_ops.size();
  const uint64_t bytes = static_cast<uint64_t>(target.extent()) * sizeof(float);
  const Rep y = whole ? NewResult(u.out[0], target) : Rep{target, NewInternal(0, bytes)};
  reads.insert(reads.begin(), y.place);
  AddStep(label, std::move(loop), std::move(reads));
  if (whole) {
    AddRep(u.out[0], y);
  } else {
    ApplyPostOps(u, taken, y, target);
  }
}

std::vector<TilePostOp> NativeBuilder::PostOpsOfTiles(const Unit& u, const Layout& target,
                                                      std::vector<BufferRef>* places) {
  std::vector<TilePostOp> post_ops;
  for (const PostOp& q : u.post_ops) {
    if (q.binary() && (q.operand == 0 || p_.dims(q.operand) != u.dims)) break;
    if (q.binary()) places->push_back(Get(q.operand, target).place);
    post_ops.push_back({q.fn, q.a, q.b, q.binary()});
  }
  return post_ops;
}

Layout NativeBuilder::LayoutOfInput(const Unit& u) {
  return Layout::Like(u.dims, Main(u.in[0]).layout);
}

Rep NativeBuilder::Matrix(uint32_t v, bool transpose, bool may_transpose, bool* transposed) {
  Rep x = transpose || may_transpose ? Unblocked(v) : GetDense(v);
  Dims d = x.layout.dims();
  const int last = x.layout.rank - 1;
  if (transpose) {
    std::swap(d[static_cast<size_t>(last)], d[static_cast<size_t>(last - 1)]);
    std::swap(x.layout.dim[last], x.layout.dim[last - 1]);
    std::swap(x.layout.stride[last], x.layout.stride[last - 1]);
  }
  *transposed = false;
  if (x.layout.dense()) return x;
  Dims other = d;
  std::swap(other[static_cast<size_t>(last)], other[static_cast<size_t>(last - 1)]);
  Layout l = Layout::Dense(other);
  std::swap(l.dim[last], l.dim[last - 1]);
  std::swap(l.stride[last], l.stride[last - 1]);
  if (may_transpose && x.layout == l) {
    *transposed = true;
    return x;
  }
  if (!transpose) return GetDense(v);
  return Convert(0, x, Layout::Dense(d), nullptr);
}

BufferRef NativeBuilder::Transposed(uint32_t v, int64_t n, int64_t rows, int64_t columns) {
  Layout to = Layout::Dense({n, rows, columns});
  to.stride[1] = 1;
  to.stride[2] = rows;
  return Pack({v}, "layout " + KeyOf(to), static_cast<uint64_t>(n * rows * columns) * sizeof(float),
              PackingOf(to));
}

Rep NativeBuilder::Channels(uint32_t v) {
  for (const Rep& r : reps_[v]) {
    if (LayoutTag::Of(r.layout).block == simd_.lanes) return r;
  }
  // With one pixel or one channel this is the plain layout in memory.
  const Layout last = Layout::ChannelsLast(p_.dims(v));
  return {last, Get(v, last).place};
}

Rep NativeBuilder::Lanes(uint32_t v) {
  for (const Rep& r : reps_[v]) {
    if (!LayoutTag::Of(r.layout).plain()) return r;
  }
  const Layout last = Layout::ChannelsLast(p_.dims(v));
  return {last, Get(v, last).place};
}

void NativeBuilder::AddConversion(const Rep& from, const Rep& to) {
  const Dims d = to.layout.dims();
  const bool images =
      to.layout.size == 1 && d.size() > 2 && from.layout.dense() != to.layout.dense();
  if (!images) return Builder::AddConversion(from, to);
  const int64_t pixels = Product(d) / (d[0] * d[1]);
  const bool last = !to.layout.dense();
  AddStep("codes, channels " + std::string(last ? "last " : "first ") + Sizes(d),
          ByteTransposeLoop(simd_, d[0], last ? d[1] : pixels, last ? pixels : d[1]),
          {to.place, from.place});
}

}  // namespace ge_engines::cpu::native
