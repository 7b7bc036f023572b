// Shared by the rules of the support vector machines of ai.onnx.ml. Any thread may call.
#pragma once

#include "ge/ops/families/feature_rows.h"

namespace ge {

// 'kernel_type' is known and 'kernel_params' has its three entries or none.
Status WantKernelAttrs(const Node& n);
// 'support_vectors' holds `supports` > 0 vectors of as many entries as a row has features.
Status WantSupportVectors(InferContext& context, int64_t supports);

}  // namespace ge
