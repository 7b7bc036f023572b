// Rows: rows[n] -> a column of arrays, [n, ...]. What the source is stands in the attributes, so
// that nothing is opened to infer: dtype, dims of a row, rows, digest. `classes`, a list of JSON,
// is for who asks what the numbers of a column stand for.
#include <fmt/format.h>

#include <algorithm>

#include "passes/data/ops/source_column.h"

namespace ge::data {
namespace {

ge_rc InferRows(const ge_infer* c, ge_err* err) {
  return Run(err, "Rows", [&] {
    const ge_node& n = *c->graph->node;
    const ge_value* row = ge_input(c->graph, 0);
    const auto dims = plugin::AttrInts(n, "dims");
    const auto dtype = static_cast<int32_t>(plugin::AttrInt(n, "dtype"));
    const bool legal = std::all_of(dims.begin(), dims.end(), [](int64_t d) { return d >= 0; });
    if (!legal || dims.size() > 31 || row->type.rank > 1 || plugin::ElementBits(dtype) < 8) {
      throw passes::Refusal{GE_INVALID_ARGUMENT,
                            fmt::format("Rows: {} dims of a row, dtype {}, rows of rank {}; wanted "
                                        "at most 31, none below 0, a number's dtype, rank 1",
                                        dims.size(), dtype, row->type.rank)};
    }
    std::vector<ge_dim> out(dims.size() + 1);
    if (row->type.rank == 1) out[0] = row->dim[0];
    for (size_t i = 0; i < dims.size(); ++i) {
      out[i + 1].value = out[i + 1].min = out[i + 1].max = dims[i];
    }
    const auto rank = row->type.rank == 1 ? static_cast<int32_t>(out.size()) : -1;
    c->output(c->host, 0, dtype, rank, out.data());
  });
}

ge_rc OpenRows(const ge_node* n, const ge_host_api*, void** kept, ge_err* err) {
  return Run(err, "Rows", [&] {
    auto of = std::make_unique<SourceColumn>(OpenColumn(*n));
    const Column& c = of->column();
    const auto dims = plugin::AttrInts(*n, "dims");
    const bool same = c.kind == Column::Kind::kArray && c.dtype == plugin::AttrInt(*n, "dtype") &&
                      std::equal(dims.begin(), dims.end(), c.dims.begin(), c.dims.end());
    if (!same) {
      throw Refusal{GE_FAILED_PRECONDITION,
                    fmt::format("Rows: column '{}' of '{}' is of another dtype or shape than the "
                                "node's attributes say",
                                c.name, of->source->path())};
    }
    *kept = of.release();
  });
}

void CloseRows(void* kept) { delete static_cast<SourceColumn*>(kept); }

ge_rc RunRows(const ge_kernel_call* c, ge_err* err) {
  return Run(err, "Rows", [&] {
    const SourceColumn& of = *static_cast<const SourceColumn*>(c->kept);
    const auto rows = Elements<int64_t>(c->in[0]);
    WantRows(rows, of.source->rows(), "Rows");
    const uint64_t bytes = of.column().row_bytes();
    auto* out = static_cast<std::byte*>(c->out[0].ptr);
    constexpr uint64_t kPart = 256 << 10;  // bytes that are worth a thread: some 30 us
    const uint64_t some = std::max<uint64_t>(1, kPart / std::max<uint64_t>(bytes, 1));
    const uint64_t parts = (rows.size() + some - 1) / some;
    Parallel(c->api, parts, [&](uint64_t i) {
      CheckStop(c->stop);
      const auto part = rows.subspan(i * some, std::min(some, rows.size() - i * some));
      of.source->Read(of.index, part, out + i * some * bytes);
    });
  });
}

ge_rc RowsWork(const ge_graph* g, double* flops, double* bytes, ge_err*) {
  int64_t n = 0;
  plugin::ElementCount(ge_input(g, 0)->type, &n);
  *flops = 0;
  *bytes = 2.0 * static_cast<double>(n) *
           plugin::ElementBits(static_cast<int32_t>(plugin::AttrInt(*g->node, "dtype"))) / 8;
  for (const int64_t d : plugin::AttrInts(*g->node, "dims")) *bytes *= static_cast<double>(d);
  return GE_OK;
}

}  // namespace

ge_op_def RowsOp() {
  // The second one: any number.
  static const ge_port ports[] = {Port("row", 1u << GE_I64), Port("column", 0)};
  static const std::vector<ge_attr_def> attrs =
      ColumnAttrs({WantedAttr("dtype", GE_ATTR_INT), WantedAttr("dims", GE_ATTR_INTS),
                   TextAttr("classes", "")});
  ge_op_def d = Record("Rows", ports, attrs);
  d.infer = InferRows;
  d.kernel = RunRows;
  d.work = RowsWork;
  d.open = OpenRows;
  d.close = CloseRows;
  return d;
}

}  // namespace ge::data
