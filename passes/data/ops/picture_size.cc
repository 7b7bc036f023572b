// PictureSize: rows[n] -> i64[n, 2], height and width of each picture, by its header alone.
#include "passes/data/ops/kept_pictures.h"

namespace ge::data {
namespace {

ge_rc InferPictureSize(const ge_infer* c, ge_err* err) {
  return Run(err, "PictureSize", [&] { InferNumbers(c, 0, 2, "PictureSize"); });
}

ge_rc RunPictureSize(const ge_kernel_call* c, ge_err* err) {
  return Run(err, "PictureSize", [&] {
    const PictureColumn& pictures = KeptPictures(*c);
    const auto rows = Elements<int64_t>(c->in[0]);
    WantRows(rows, pictures.source().rows(), "PictureSize");
    auto* out = static_cast<int64_t*>(c->out[0].ptr);
    for (const int64_t row : rows) {
      CheckStop(c->stop);
      const auto size = pictures.SizeOf(row);
      *out++ = size[0];
      *out++ = size[1];
    }
  });
}

}  // namespace

ge_op_def PictureSizeOp() {
  static const ge_port ports[] = {Port("row", 1u << GE_I64), Port("size", 1u << GE_I64)};
  static const std::vector<ge_attr_def> attrs = ColumnAttrs();
  ge_op_def d = Record("PictureSize", ports, attrs);
  d.infer = InferPictureSize;
  d.kernel = RunPictureSize;
  d.open = OpenPictures;
  d.close = ClosePictures;
  return d;
}

}  // namespace ge::data
