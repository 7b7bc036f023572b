// Blob: rows[n], room u8[w] -> u8[n, w], pictures or texts of a column as they are, each with zeros
// behind it: how long each is, BlobSize says. Of `room` only the size counts.
#include <fmt/format.h>

#include <cstring>

#include "passes/data/ops/source_column.h"

namespace ge::data {
namespace {

ge_rc InferBlob(const ge_infer* c, ge_err* err) {
  return Run(err, "Blob", [&] {
    const ge_value *row = ge_input(c->graph, 0), *room = ge_input(c->graph, 1);
    if (row->type.rank > 1 || room->type.rank > 1) {
      throw Refusal{GE_INVALID_ARGUMENT,
                    fmt::format("Blob: rows of rank {} and room of rank {}, wanted 1 and 1",
                                row->type.rank, room->type.rank)};
    }
    const bool known = row->type.rank == 1 && room->type.rank == 1;
    ge_dim dims[2] = {};
    if (known) {
      dims[0] = row->dim[0];
      dims[1] = room->dim[0];
    }
    c->output(c->host, 0, GE_U8, known ? 2 : -1, dims);
  });
}

ge_rc RunBlob(const ge_kernel_call* c, ge_err* err) {
  return Run(err, "Blob", [&] {
    const SourceColumn& of = KeptBlobs(*c);
    const auto rows = Elements<int64_t>(c->in[0]);
    WantRows(rows, of.source->rows(), "Blob");
    if (rows.empty()) return;
    const uint64_t width = c->out[0].bytes / rows.size();
    auto* out = static_cast<std::byte*>(c->out[0].ptr);
    Parallel(c->api, rows.size(), [&](uint64_t i) {
      CheckStop(c->stop);
      const Blob blob = of.source->ReadBlob(of.index, rows[i]);
      if (blob.bytes.size() > width) {
        throw Refusal{GE_OUT_OF_RANGE,
                      fmt::format("Blob: {} has {} bytes, room is for {}",
                                  of.source->NameOfRow(rows[i]), blob.bytes.size(), width)};
      }
      std::memcpy(out + i * width, blob.bytes.data(), blob.bytes.size());
      std::memset(out + i * width + blob.bytes.size(), 0, width - blob.bytes.size());
    });
  });
}

}  // namespace

ge_op_def BlobOp() {
  static const ge_port ports[] = {Port("row", 1u << GE_I64), Port("room", 1u << GE_U8),
                                  Port("bytes", 1u << GE_U8)};
  static const std::vector<ge_attr_def> attrs = ColumnAttrs();
  ge_op_def d = Record("Blob", ports, attrs);
  d.infer = InferBlob;
  d.kernel = RunBlob;
  d.open = OpenBlobs;
  d.close = CloseBlobs;
  return d;
}

}  // namespace ge::data
