#include "passes/data/ops/kept_pictures.h"

#include <fmt/format.h>

namespace ge::data {

ge_rc OpenPictures(const ge_node* n, const ge_host_api*, void** kept, ge_err* err) {
  return Run(err, "Pictures", [&] {
    SourceColumn of = OpenColumn(*n);
    *kept = std::make_unique<PictureColumn>(std::move(of.source), of.index).release();
  });
}

void ClosePictures(void* kept) { delete static_cast<PictureColumn*>(kept); }

const int64_t* RowOf(const ge_buf& b, int64_t count, uint64_t i, uint64_t n, std::string_view op) {
  if (b.ptr == nullptr) return nullptr;
  const auto all = Elements<int64_t>(b);
  const auto width = static_cast<uint64_t>(count);
  if (all.size() == n * width) return all.data() + i * width;
  if (all.size() == width) return all.data();
  throw Refusal{GE_INVALID_ARGUMENT,
                fmt::format("{}: {} numbers for {} rows, wanted {} a row, or {} "
                            "for all",
                            op, all.size(), n, count, count)};
}

void InferNumbers(const ge_infer* c, uint32_t of, int64_t count, std::string_view op) {
  const ge_value* rows = ge_input(c->graph, of);
  if (rows->type.rank == 0) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  fmt::format("{}: input {} is a scalar, wanted rows", op, of)};
  }
  ge_dim dims[2] = {};
  if (rows->type.rank > 0) dims[0] = rows->dim[0];
  dims[1].value = dims[1].min = dims[1].max = count;
  c->output(c->host, 0, GE_I64, rows->type.rank > 0 ? 2 : -1, dims);
}

}  // namespace ge::data
