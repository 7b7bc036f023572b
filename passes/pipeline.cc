#include "ge/stage/pass.h"
#include "passes/canonical/cast_texts_in_two.h"
#include "passes/canonical/drop_dead.h"
#include "passes/canonical/drop_dropout.h"
#include "passes/canonical/drop_identity.h"
#include "passes/canonical/inline_branches.h"
#include "passes/canonical/merge_duplicates.h"
#include "passes/canonical/move_texts_by_index.h"
#include "passes/canonical/sink_constants.h"
#include "passes/canonical/transpose_images.h"
#include "passes/fold/fold_batchnorm.h"
#include "passes/fold/fold_bias.h"
#include "passes/fold/fold_branches.h"
#include "passes/fold/fold_constants.h"
#include "passes/fold/fold_pad.h"
#include "passes/fold/fold_shapes.h"
#include "passes/fold/fold_taps.h"
#include "passes/precision/widen_halves.h"
#include "passes/quant/split_dequantize.h"
#include "passes/recognise/gelu.h"
#include "passes/recognise/kv_cache.h"
#include "passes/recognise/layer_normalization.h"

namespace ge {

std::vector<std::unique_ptr<Pass>> MakePipeline() {
  std::vector<std::unique_ptr<Pass>> passes;
#define GE_PASS(cls) passes.push_back(std::make_unique<cls>());
#include "passes/pipeline.def"
#undef GE_PASS
  return passes;
}

std::vector<std::unique_ptr<Pass>> MakeAskedPasses() {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<RecogniseKvCache>());
  return passes;
}

std::vector<std::unique_ptr<Pass>> MakePartsPipeline() {
  std::vector<std::unique_ptr<Pass>> passes;
  passes.push_back(std::make_unique<FoldConstants>());
  passes.push_back(std::make_unique<DropDead>());
  return passes;
}

}  // namespace ge
