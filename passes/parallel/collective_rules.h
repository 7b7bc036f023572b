// What the host asks of the operators of domain comm: their types, what they are in a group of one
// rank, their gradients. collectives.h says what they do. Any thread.
#pragma once

#include "ge/ge_plugin_op.h"

namespace ge::parallel {

inline constexpr char kDomain[] = "comm";

ge_rc InferAllReduce(const ge_infer* c, ge_err* err);
ge_rc InferAllGather(const ge_infer* c, ge_err* err);
ge_rc InferReduceScatter(const ge_infer* c, ge_err* err);
ge_rc InferAllToAll(const ge_infer* c, ge_err* err);

// With nobody to speak to. Else an engine runs it.
ge_rc DecomposeAlone(const ge_builder* b, uint32_t* out, ge_err* err);

ge_rc GradAllReduce(const ge_builder* b, const uint32_t* out_grad, uint32_t* in_grad, ge_err* err);
ge_rc GradAllGather(const ge_builder* b, const uint32_t* out_grad, uint32_t* in_grad, ge_err* err);
ge_rc GradReduceScatter(const ge_builder* b, const uint32_t* out_grad, uint32_t* in_grad,
                        ge_err* err);
ge_rc GradAllToAll(const ge_builder* b, const uint32_t* out_grad, uint32_t* in_grad, ge_err* err);

}  // namespace ge::parallel
