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
      const auto size = pictures.SizeOf(row);
      *out++ = size[0];
      *out++ = size[1];
    }
  });
}

}  // namespace

ge_op_def PictureSizeOp() {
  static const ge_port ports[] = {Port("row", 1u << GE_I64), Port("size", 1u << GE_I64)};
  static const ge_attr_def attrs[] = {WantedAttr("source", GE_ATTR_STRING),
                                      WantedAttr("column", GE_ATTR_STRING), TextAttr("digest", "")};
  ge_op_def d{};
  d.h = GE_HDR(ge_op_def, GE_TAG_OP_DEF);
  d.domain = ge_text(kDomain);
  d.name = ge_text("PictureSize");
  d.version = 1;
  d.input = &ports[0];
  d.output = &ports[1];
  d.attr = attrs;
  d.n_input = d.n_output = 1;
  d.n_attr = 3;
  d.infer = InferPictureSize;
  d.kernel = RunPictureSize;
  d.open = OpenPictures;
  d.close = ClosePictures;
  return d;
}

}  // namespace ge::data
