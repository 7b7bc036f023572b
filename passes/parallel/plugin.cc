// The plugin `parallel`: one step of training on many ranks, as a rewrite of the model, and the
// collectives that its ranks meet in. No engine.
#include "passes/parallel/collectives.h"
#include "passes/parallel/parallel_pass.h"

extern "C" const ge_plugin_desc* ge_plugin_query(ge_query_args*) {
  static const ge_pass_def passes[] = {ge::parallel::ParallelPass()};

  static const ge_plugin_desc desc = [] {
    ge_plugin_desc d = {GE_PLUGIN_HEAD};
    d.name = ge_text("parallel");
    d.version = ge_text("0.1");
    d.vendor = ge_text("GraphEngine");
    d.kinds = GE_KIND_PASSES | GE_KIND_OPS;
    d.sanitizer = GE_SANITIZER_HERE;
    d.pass = passes;
    d.n_pass = 1;
    d.pass_stride = sizeof passes[0];
    d.op = ge::parallel::CollectiveOps();
    d.n_op = ge::parallel::kCollectives;
    d.op_stride = sizeof(ge_op_def);
    return d;
  }();
  return &desc;
}
