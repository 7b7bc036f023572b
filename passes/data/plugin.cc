// The plugin `data`: data pipelines as entries of a model. Operators of domain ge.data, and the
// pass that derives the entries. No engine.
#include "passes/data/data_pass.h"
#include "passes/data/fuse_pictures.h"
#include "passes/data/ops/ops.h"

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  static const ge_pass_def passes[] = {ge::data::DataPass(), ge::data::FusePicturesPass()};
  static const ge_op_def ops[] = {
      ge::data::OrderOp(),       ge::data::DrawOp(),      ge::data::RowsOp(),
      ge::data::WindowsOp(),     ge::data::PicturesOp(),  ge::data::GoodRowOp(),
      ge::data::PictureSizeOp(), ge::data::RandomBoxOp(), ge::data::CropViewOp(),
      ge::data::BlobSizeOp(),    ge::data::BlobOp()};
  static const ge_plugin_desc desc = [] {
    ge_plugin_desc d = {GE_PLUGIN_HEAD};
    d.name = ge_text("data");
    d.version = ge_text("1.0");
    d.vendor = ge_text("GraphEngine");
    d.kinds = GE_KIND_PASSES | GE_KIND_OPS;
    d.sanitizer = GE_SANITIZER_HERE;
    d.pass = passes;
    d.n_pass = sizeof passes / sizeof passes[0];
    d.pass_stride = sizeof passes[0];
    d.op = ops;
    d.n_op = sizeof ops / sizeof ops[0];
    d.op_stride = sizeof ops[0];
    return d;
  }();
  return &desc;
}
