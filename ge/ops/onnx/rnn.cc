#include "ge/ops/families/recurrent.h"

namespace ge {
namespace {

Status InferRnn(InferContext& c) { return InferRecurrent(c, 1, 1); }

}  // namespace

// One or two layers of simple recurrence: the hidden state is f(X * W^T + state * R^T + biases).
GE_OP(rnn) = RecurrentRecord("RNN", InferRnn);

}  // namespace ge
