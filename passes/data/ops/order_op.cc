// Order: global positions -> rows of the source. Epoch e = position / epoch_rows; within it the
// rows are permuted by (seed, e), or stand as they are with shuffle 0.
#include <fmt/format.h>

#include "passes/data/ops/ops.h"
#include "passes/data/ops/order.h"

namespace ge::data {
namespace {

ge_rc InferOrder(const ge_infer* c, ge_err* err) {
  return Run(err, "Order", [&] {
    const ge_node& n = *c->graph->node;
    const int64_t rows = plugin::AttrInt(n, "rows"), epoch = plugin::AttrInt(n, "epoch_rows");
    if (rows >= 1 && rows <= int64_t{1} << 62 && epoch >= 1 && epoch <= rows) {
      ge_infer_like(c, 0, 0);
      return;
    }
    throw passes::Refusal{
        GE_INVALID_ARGUMENT,
        fmt::format("Order: rows {} and epoch_rows {}, wanted 1 <= epoch_rows <= rows <= 2^62",
                    rows, epoch)};
  });
}

ge_rc RunOrder(const ge_kernel_call* c, ge_err* err) {
  return Run(err, "Order", [&] {
    const ge_node& n = *c->node;
    const auto seed = static_cast<uint64_t>(plugin::AttrInt(n, "seed"));
    const auto rows = static_cast<uint64_t>(plugin::AttrInt(n, "rows"));
    const auto epoch_rows = static_cast<uint64_t>(plugin::AttrInt(n, "epoch_rows"));
    const bool shuffle = plugin::AttrInt(n, "shuffle", 1) != 0;
    auto* out = static_cast<int64_t*>(c->out[0].ptr);
    Permutation order(seed, 0, rows);
    uint64_t of = 0;
    for (const int64_t position : Elements<int64_t>(c->in[0])) {
      if (position < 0) {
        throw passes::Refusal{GE_OUT_OF_RANGE,
                              fmt::format("Order: position {}, wanted 0 or more", position)};
      }
      const uint64_t epoch = static_cast<uint64_t>(position) / epoch_rows;
      const uint64_t i = static_cast<uint64_t>(position) % epoch_rows;
      if (shuffle && epoch != of) order = Permutation(seed, of = epoch, rows);
      *out++ = static_cast<int64_t>(shuffle ? order.At(i) : i);
    }
  });
}

ge_rc OrderWork(const ge_graph* g, double* flops, double* bytes, ge_err*) {
  int64_t n = 0;
  plugin::ElementCount(ge_input(g, 0)->type, &n);
  *flops = 100.0 * static_cast<double>(n);
  *bytes = 16.0 * static_cast<double>(n);
  return GE_OK;
}

}  // namespace

ge_op_def OrderOp() {
  static const ge_port ports[] = {Port("position", 1u << GE_I64), Port("row", 1u << GE_I64)};
  static const ge_attr_def attrs[] = {IntAttr("seed", 0), WantedAttr("rows", GE_ATTR_INT),
                                      WantedAttr("epoch_rows", GE_ATTR_INT), IntAttr("shuffle", 1)};
  ge_op_def d = Record("Order", ports, attrs);
  d.infer = InferOrder;
  d.kernel = RunOrder;
  d.work = OrderWork;
  return d;
}

}  // namespace ge::data
