#include "plugins/cpu/native/builder.h"

#include "plugins/cpu/native/byte_transpose.h"
#include "plugins/cpu/native/kind.h"

namespace ge_engines::cpu::native {

void NativeBuilder::EmitMain(const Unit& unit) { KindOfUnit(unit).Emit(unit, this); }

void NativeBuilder::AddPlain(const Unit& unit, const std::string& label,
                             std::unique_ptr<Kernel> kernel, std::vector<BufferRef> reads) {
  const Rep y = NewResult(unit.out[0], Plain(unit.out[0]));
  reads.insert(reads.begin(), y.place);
  AddStep(label + " " + Sizes(unit.dims), std::move(kernel), std::move(reads));
  AddRep(unit.out[0], y);
}

void NativeBuilder::AddInLayout(const Unit& unit, const std::string& label, const Layout& layout,
                                std::unique_ptr<Kernel> kernel, std::vector<BufferRef> reads) {
  const Rep y = NewResult(unit.out[0], layout);
  reads.insert(reads.begin(), y.place);
  AddStep(label + " " + Sizes(unit.dims), std::move(kernel), std::move(reads));
  AddRep(unit.out[0], y);
}

void NativeBuilder::AddTiled(const Unit& unit, size_t taken, const Layout& target,
                             const std::string& label, std::unique_ptr<Loop> loop,
                             std::vector<BufferRef> reads) {
  const bool whole = taken == unit.post_ops.size();
  const uint64_t bytes = static_cast<uint64_t>(target.extent()) * sizeof(float);
  const Rep y = whole ? NewResult(unit.out[0], target) : Rep{target, NewInternal(0, bytes)};
  reads.insert(reads.begin(), y.place);
  AddStep(label, std::move(loop), std::move(reads));
  if (whole) {
    AddRep(unit.out[0], y);
  } else {
    ApplyPostOps(unit, taken, y, target);
  }
}

std::vector<TilePostOp> NativeBuilder::PostOpsOfTiles(const Unit& unit, const Layout& target,
                                                      std::vector<BufferRef>* places) {
  std::vector<TilePostOp> post_ops;
  for (const PostOp& q : unit.post_ops) {
    if (q.binary() && (q.operand == 0 || p_.dims(q.operand) != unit.dims)) break;
    if (q.binary()) places->push_back(Get(q.operand, target).place);
    post_ops.push_back({q.fn, q.a, q.b, q.binary()});
  }
  return post_ops;
}

Layout NativeBuilder::LayoutOfInput(const Unit& unit) {
  return Layout::Like(unit.dims, Main(unit.in[0]).layout);
}

Rep NativeBuilder::Matrix(uint32_t value, bool transpose, bool may_transpose, bool* transposed) {
  Rep x = transpose || may_transpose ? Unblocked(value) : GetDense(value);
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
  if (!transpose) return GetDense(value);
  return Convert(0, x, Layout::Dense(d), nullptr);
}

BufferRef NativeBuilder::Transposed(uint32_t value, int64_t n, int64_t rows, int64_t columns) {
  Layout to = Layout::Dense({n, rows, columns});
  to.stride[1] = 1;
  to.stride[2] = rows;
  return Pack({value}, "layout " + KeyOf(to),
              static_cast<uint64_t>(n * rows * columns) * sizeof(float), PackingOf(to));
}

Rep NativeBuilder::Channels(uint32_t value) {
  for (const Rep& r : reps_[value]) {
    if (LayoutTag::Of(r.layout).block == simd_.lanes) return r;
  }
  // With one pixel or one channel this is the plain layout in memory.
  const Layout last = Layout::ChannelsLast(p_.dims(value));
  return {last, Get(value, last).place};
}

Rep NativeBuilder::Lanes(uint32_t value) {
  for (const Rep& r : reps_[value]) {
    if (!LayoutTag::Of(r.layout).plain()) return r;
  }
  const Layout last = Layout::ChannelsLast(p_.dims(value));
  return {last, Get(value, last).place};
}

void NativeBuilder::AddConversion(const Rep& from, const Rep& to) {
  const Dims d = to.layout.dims();
  const bool images = to.layout.size == 1 && d.size() > 2 &&
                      from.layout.dense() != to.layout.dense() && from.layout.cblock == 0 &&
                      to.layout.cblock == 0;
  if (!images) return Builder::AddConversion(from, to);
  const int64_t pixels = Product(d) / (d[0] * d[1]);
  const bool last = !to.layout.dense();
  AddStep("bytes, channels " + std::string(last ? "last " : "first ") + Sizes(d),
          ByteTransposeLoop(simd_, d[0], last ? d[1] : pixels, last ? pixels : d[1]),
          {to.place, from.place});
}

}  // namespace ge_engines::cpu::native
