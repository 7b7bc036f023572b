// The plugin `grad`: gradients and training as rewrites of the model. No engine, no operators.
#include "passes/grad/grad_pass.h"

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  static const ge_pass_def passes[] = {ge::grad::ExpandGradientsPass(), ge::grad::GradPass(),
                                       ge::grad::TrainPass()};
  static const ge_plugin_desc desc = [] {
    ge_plugin_desc d = {GE_PLUGIN_HEAD};
    d.name = ge_text("grad");
    d.version = ge_text("1.0");
    d.vendor = ge_text("GraphEngine");
    d.kinds = GE_KIND_PASSES;
    d.sanitizer = GE_SANITIZER_HERE;
    d.pass = passes;
    d.n_pass = sizeof passes / sizeof passes[0];
    d.pass_stride = sizeof passes[0];
    return d;
  }();
  return &desc;
}
