#include "ge/ops/families/channel_moments.h"

namespace ge {
namespace {

Status InferChannelMoments(InferContext& c) {
  Dim channels;
  GE_RETURN_IF_ERROR(WantChannels(c, 0, 1, {}, &channels));
  for (size_t i = 0; i < 2; ++i) {
    if (c.has_output(i)) GE_RETURN_IF_ERROR(SetTensor(c, i, c.input_type(0).dtype, {channels}));
  }
  return {};
}

OpDef ChannelMomentsRecord() {
  OpDef op{"ge", "ChannelMoments", 1, {}, {}, {}, InferChannelMoments, PerInput<3>};
  op.inputs = {{"X", kMomentTypes, "T"}};
  op.outputs = {{"mean", kMomentTypes, "T"}, {"variance", kMomentTypes, "T"}};
  return op;
}

}  // namespace

// Mean and variance (over n, not n - 1) of each channel of N x C x ...
GE_OP(channel_moments) = ChannelMomentsRecord();

}  // namespace ge
