// Products of matrices.
#include "plugins/gpu/families/family.h"
#include "plugins/gpu/kernel_call.h"
#include "plugins/gpu/kernels/product.h"
#include "plugins/gpu/numbers_of.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/matmul/matmul_transposes.h"

namespace ge_engines::gpu {
namespace {

using device::Reads;
using device::Recorder;
using device::Ref;
using device::Writes;

// From batch to batch; 0: one matrix for all.
int64_t BatchStride(const Dims& d) {
  const int64_t size = d[d.size() - 2] * d.back();
  return Product(d) == size ? 0 : size;
}

void RecordProduct(const Unit& u, Recorder* r) {
  const auto& spec = *As<ProductSpec>(u);
  const Parser& p = r->parser();
  const Dims a = p.dims(u.in[0]), b = p.dims(u.in[1]);
  ProductArgs args;
  SetNumbers(p, {u.out[0], u.in[0], u.in[1]}, &args);
  args.rows = Divider::By(static_cast<uint64_t>(u.dims[u.dims.size() - 2]));
  args.columns = Divider::By(static_cast<uint64_t>(u.dims.back()));
  args.depth = spec.trans_a ? a[a.size() - 2] : a.back();
  args.a_row = spec.trans_a ? 1 : a.back();
  args.a_depth = spec.trans_a ? a.back() : 1;
  args.b_depth = spec.trans_b ? 1 : b.back();
  args.b_column = spec.trans_b ? b.back() : 1;
  args.a_batch = BatchStride(a);
  args.b_batch = BatchStride(b);
  const Ref left = r->Read(u.in[0]), right = r->Read(u.in[1]);
  const Ref y = r->Write(u.out[0]);
  const MainResult main = ResultOfMain(u, y, r);
  args.of[0] = main.of;
  AddKernel(KernelId::product, args, Product(u.dims),
            {Writes(main.place), Reads(left), Reads(right)}, r);
  RecordPostOps(u, main, y, r);
}

constexpr GpuKind kProducts[] = {
    {&ProductSpec::kKind, nullptr, RecordProduct, nullptr},
    {&kMatMulTransposes, nullptr, RecordProduct, nullptr},  // makes units of the kind above
};

}  // namespace

std::span<const GpuKind> ProductKinds() { return kProducts; }

}  // namespace ge_engines::gpu
