// BlobSize: rows[n] -> i64[n], the bytes of each picture or text of a column, which are read for
// that: of records they are checked. `kind` is for who asks what the column holds.
#include <fmt/format.h>

#include "passes/data/ops/source_column.h"

namespace ge::data {
namespace {

ge_rc InferBlobSize(const ge_infer* c, ge_err* err) {
  return Run(err, "BlobSize", [&] {
    const ge_value* row = ge_input(c->graph, 0);
    if (row->type.rank > 1) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("BlobSize: rows of rank {}, wanted 1", row->type.rank)};
    }
    c->output(c->host, 0, GE_I64, row->type.rank, row->dim);
  });
}

ge_rc RunBlobSize(const ge_kernel_call* c, ge_err* err) {
  return Run(err, "BlobSize", [&] {
    const SourceColumn& of = KeptBlobs(*c);
    const auto rows = Elements<int64_t>(c->in[0]);
    WantRows(rows, of.source->rows(), "BlobSize");
    auto* out = static_cast<int64_t*>(c->out[0].ptr);
    Parallel(c->api, rows.size(), [&](uint64_t i) {
      CheckStop(c->stop);
      out[i] = static_cast<int64_t>(of.source->ReadBlob(of.index, rows[i]).bytes.size());
    });
  });
}

}  // namespace

ge_rc OpenBlobs(const ge_node* n, const ge_host_api*, void** kept, ge_err* err) {
  return Run(err, "Blob", [&] {
    auto of = std::make_unique<SourceColumn>(OpenColumn(*n));
    if (of->column().kind == Column::Kind::kArray) {
      throw Refusal{GE_FAILED_PRECONDITION,
                    fmt::format("Blob: column '{}' of '{}' has neither pictures nor texts",
                                of->column().name, of->source->path())};
    }
    *kept = of.release();
  });
}

void CloseBlobs(void* kept) { delete static_cast<SourceColumn*>(kept); }

ge_op_def BlobSizeOp() {
  static const ge_port ports[] = {Port("row", 1u << GE_I64), Port("size", 1u << GE_I64)};
  static const std::vector<ge_attr_def> attrs = ColumnAttrs({WantedAttr("kind", GE_ATTR_STRING)});
  ge_op_def d = Record("BlobSize", ports, attrs);
  d.infer = InferBlobSize;
  d.kernel = RunBlobSize;
  d.open = OpenBlobs;
  d.close = CloseBlobs;
  return d;
}

}  // namespace ge::data
