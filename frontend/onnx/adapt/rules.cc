// The table of operators whose older versions somebody has looked at. An operator that is not in it
// is taken only at an opset at which ge/ops has its present meaning.
#include "frontend/onnx/upgrade.h"

namespace ge {
namespace {

// By name. `changed` is the last opset at which older nodes need the adapter.
constexpr UpgradeRule kRules[] = {
    {"Add", 0, nullptr},
    {"Attention", 0, nullptr},    // a shorter mask and nonpad_kv_seqlen came as additions
    {"AveragePool", 0, nullptr},  // ceil_mode and dilations came with harmless defaults
    {"BatchNormalization", 14, UpgradeBatchNormalization},
    {"Bernoulli", 0, nullptr},
    {"BlackmanWindow", 0, nullptr},
    {"Cast", 0, nullptr},
    {"CausalConvWithState", 0, nullptr},
    {"Clip", 11, UpgradeClip},
    {"Concat", 0, nullptr},
    {"ConstantOfShape", 0, nullptr},
    {"Conv", 0, nullptr},
    {"ConvTranspose", 0, nullptr},
    {"DFT", 20, UpgradeDft},
    {"Div", 0, nullptr},
    {"Dropout", 12, UpgradeDropout},
    {"Equal", 0, nullptr},
    {"Erf", 0, nullptr},
    {"Exp", 0, nullptr},
    {"Expand", 0, nullptr},
    {"Flatten", 0, nullptr},
    {"GRU", 0, nullptr},  // layout came with the old order as default
    {"Gather", 0, nullptr},
    {"Gelu", 0, nullptr},
    {"Gemm", 0, nullptr},
    {"GlobalAveragePool", 0, nullptr},
    {"GlobalMaxPool", 0, nullptr},
    {"HammingWindow", 0, nullptr},
    {"HannWindow", 0, nullptr},
    {"HardSigmoid", 0, nullptr},
    {"Hardmax", 13, UpgradeSoftmax},
    {"Identity", 0, nullptr},
    {"If", 0, nullptr},
    {"LSTM", 0, nullptr},  // layout came with the old order as default
    {"LayerNormalization", 0, nullptr},
    {"LinearAttention", 0, nullptr},
    {"LogSoftmax", 13, UpgradeSoftmax},
    {"Loop", 0, nullptr},
    {"MatMul", 0, nullptr},
    {"Max", 0, nullptr},
    {"MaxPool", 0, nullptr},
    {"MelWeightMatrix", 0, nullptr},
    {"Mul", 0, nullptr},
    {"Multinomial", 0, nullptr},
    {"Neg", 0, nullptr},
    {"Pow", 0, nullptr},
    {"RNN", 0, nullptr},  // layout came with the old order as default
    {"RandomNormal", 0, nullptr},
    {"RandomNormalLike", 0, nullptr},
    {"RandomUniform", 0, nullptr},
    {"RandomUniformLike", 0, nullptr},
    {"Range", 0, nullptr},  // stash_type concerns types that older versions do not have
    {"Reciprocal", 0, nullptr},
    {"ReduceL1", 18, UpgradeAxes},
    {"ReduceL2", 18, UpgradeAxes},
    {"ReduceLogSum", 18, UpgradeAxes},
    {"ReduceLogSumExp", 18, UpgradeAxes},
    {"ReduceMax", 18, UpgradeAxes},
    {"ReduceMean", 18, UpgradeAxes},
    {"ReduceMin", 18, UpgradeAxes},
    {"ReduceProd", 18, UpgradeAxes},
    {"ReduceSum", 13, UpgradeAxes},
    {"ReduceSumSquare", 18, UpgradeAxes},
    {"Relu", 0, nullptr},
    {"Reshape", 0, nullptr},  // allowzero came with the old meaning as default
    {"Resize", 13, UpgradeResize},
    {"RotaryEmbedding", 0, nullptr},
    {"STFT", 0, nullptr},
    {"Scan", 9, UpgradeScan},
    {"Shape", 0, nullptr},
    {"Sigmoid", 0, nullptr},
    {"Sin", 0, nullptr},
    {"Slice", 10, UpgradeSlice},
    {"Softmax", 13, UpgradeSoftmax},
    {"Split", 18, UpgradeSplit},
    {"Sqrt", 0, nullptr},
    {"Squeeze", 13, UpgradeAxes},
    {"Sub", 0, nullptr},
    {"Tanh", 0, nullptr},
    {"Transpose", 0, nullptr},
    {"Unsqueeze", 13, UpgradeAxes},
    {"Upsample", kCanonicalOpset, UpgradeUpsample},
};

}  // namespace

std::span<const UpgradeRule> UpgradeRules() { return kRules; }

}  // namespace ge
