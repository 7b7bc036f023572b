// Draw: global positions[n] -> uniform numbers f32[n, count] in [0, 1), by the seed and the name
// alone.
#include <fmt/format.h>

#include "passes/data/ops/ops.h"
#include "passes/data/ops/order.h"

namespace ge::data {
namespace {

constexpr int64_t kMostDraws = int64_t{1} << 31;

ge_rc InferDraw(const ge_infer* c, ge_err* err) {
  return Run(err, "Draw", [&] {
    const int64_t count = plugin::AttrInt(*c->graph->node, "count");
    const ge_value* position = ge_input(c->graph, 0);
    if (count < 1 || count > kMostDraws || position->type.rank > 1) {
      throw passes::Refusal{GE_INVALID_ARGUMENT,
                            fmt::format("Draw: count {} and positions of rank {}, wanted 1 to 2^31 "
                                        "and rank 1",
                                        count, position->type.rank)};
    }
    ge_dim dims[2] = {};
    if (position->type.rank == 1) dims[0] = position->dim[0];
    dims[1].value = dims[1].min = dims[1].max = count;
    c->output(c->host, 0, GE_F32, position->type.rank == 1 ? 2 : -1, dims);
  });
}

ge_rc RunDraw(const ge_kernel_call* c, ge_err* err) {
  return Run(err, "Draw", [&] {
    const auto key = DrawKey(static_cast<uint64_t>(plugin::AttrInt(*c->node, "seed")),
                             plugin::AttrString(*c->node, "name"));
    const auto count = static_cast<uint32_t>(plugin::AttrInt(*c->node, "count"));
    const auto positions = Elements<int64_t>(c->in[0]);
    auto* out = static_cast<float*>(c->out[0].ptr);
    const auto row = [&](uint64_t i) {
      Draws(key, static_cast<uint64_t>(positions[i]), count, out + i * count);
    };
    if (count >= 1024) {  // some 5 us a row: worth a thread
      Parallel(c->api, positions.size(), row);
    } else {
      for (uint64_t i = 0; i < positions.size(); ++i) row(i);
    }
  });
}

ge_rc DrawWork(const ge_graph* g, double* flops, double* bytes, ge_err*) {
  int64_t n = 0;
  plugin::ElementCount(ge_input(g, 0)->type, &n);
  const auto numbers =
      static_cast<double>(n) * static_cast<double>(plugin::AttrInt(*g->node, "count"));
  *flops = 20 * numbers;
  *bytes = 4 * numbers;
  return GE_OK;
}

}  // namespace

ge_op_def DrawOp() {
  static const ge_port ports[] = {Port("position", 1u << GE_I64), Port("number", 1u << GE_F32)};
  static const ge_attr_def attrs[] = {IntAttr("seed", 0), WantedAttr("name", GE_ATTR_STRING),
                                      IntAttr("count", 1)};
  ge_op_def d = Record("Draw", ports, attrs);
  d.infer = InferDraw;
  d.kernel = RunDraw;
  d.work = DrawWork;
  return d;
}

}  // namespace ge::data
