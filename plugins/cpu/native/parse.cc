#include "plugins/cpu/native/parse.h"

#include "plugins/cpu/kit/parse.h"
#include "plugins/cpu/native/attend_group.h"
#include "plugins/cpu/native/code_groups.h"

namespace ge_native {
namespace {

constexpr Operator kOwn[] = {
    {"MatMul", ParseMatMul, Types::kFloat, 0, false, false, GroupOfAttention},
    {"GlobalAveragePool", ParseGlobalPool},
    {"GlobalMaxPool", ParseGlobalPool},
    {"ReduceMean", ParseReduce},
    {"ReduceSum", ParseReduce},
    {"ReduceMax", ParseReduce},
    {"ReduceMin", ParseReduce},
    {"Add", ParseArithmetic, Types::kNumber, 0},
    {"Sub", ParseArithmetic, Types::kNumber, 0},
    {"Mul", ParseArithmetic, Types::kNumber, 0},
    {"Div", ParseArithmetic, Types::kNumber, 0},
    {"Max", ParseArithmetic, Types::kNumber, 0},
    {"Min", ParseArithmetic, Types::kNumber, 0},
    {"Softmax", ParseSoftmax},
    {"LayerNormalization", ParseLayerNorm, Types::kFloat, 0},
    {"RMSNormalization", ParseLayerNorm, Types::kFloat, 0},
    {"Concat", ParseConcat, Types::kWord, 0, false, false, nullptr, true},
    // Its roi and scales may be empty.
    {"Resize", ParseResize, Types::kFloat, 1, true},
    {"Reshape", ParseView, Types::kAny},
    {"Flatten", ParseView, Types::kAny},
    {"Squeeze", ParseView, Types::kAny},
    {"Unsqueeze", ParseView, Types::kAny},
    {"Identity", ParseView, Types::kAny},
    {"Transpose", ParseTranspose, Types::kWord},
    {"Slice", ParseSlice, Types::kWord},
    {"Split", ParseSplit, Types::kWord},
    {"DepthToSpace", ParseBlocks, Types::kWord},
    {"SpaceToDepth", ParseBlocks, Types::kWord},
    {"ConstantOfShape", ParseFill, Types::kAny, 0},
    {"Trilu", ParseTriangle, Types::kWord},
    {"Pad", ParsePad, Types::kAny, 0},
    {"Tile", ParseTile, Types::kAny},
    {"GatherElements", ParseElements, Types::kAny, 0},
    {"ScatterElements", ParseElements, Types::kAny, 0, false, false, nullptr, true},
    {"GatherND", ParseTuples, Types::kAny, 0},
    {"ScatterND", ParseTuples, Types::kAny, 0, false, false, nullptr, true},
    {"CumSum", ParseCumSum, Types::kNumber},
    {"ArgMax", ParseArg, Types::kNumber},
    {"ArgMin", ParseArg, Types::kNumber},
    {"TopK", ParseTopK, Types::kNumber, 0},
    {"GridSample", ParseGridSample, Types::kFloat, 0},
    {"MaxPool", ParseMaxPool, Types::kAny},
    {"PRelu", ParsePRelu, Types::kFloat, 0},
    {"InstanceNormalization", ParseInstanceNorm, Types::kFloat, 0},
    {"STFT", ParseSpectrum, Types::kNumber, 0},
    {"Expand", ParseExpand, Types::kWord},
    {"Gather", ParseGather, Types::kAny, 0},
    {"ge.ConvGradInput", ParseConvGradInput, Types::kFloat, 2},
    {"ge.ChannelMoments", ParseMoments, Types::kFloat, 0},
    {"ge.BatchNormalizationGrad", ParseBatchNormGrad, Types::kFloat, 0},
    {"ge.MaxPoolGrad", ParseMaxPoolGrad, Types::kFloat, 0},
    {"ge.KvAppend", ParseAppend, Types::kAny, 0},
    {"Cast", ParseCast, Types::kCast, 0},
    {"Equal", ParseRelation, Types::kNumber, 0},
    {"Less", ParseRelation, Types::kNumber, 0},
    {"Greater", ParseRelation, Types::kNumber, 0},
    {"LessOrEqual", ParseRelation, Types::kNumber, 0},
    {"GreaterOrEqual", ParseRelation, Types::kNumber, 0},
    {"And", ParseRelation, Types::kNumber, 0},
    {"Or", ParseRelation, Types::kNumber, 0},
    {"Xor", ParseRelation, Types::kNumber, 0},
    {"Not", ParseRelation, Types::kNumber, 0},
    {"Where", ParseWhere, Types::kAny, 0},
    {"RoiAlign", ParseRoiAlign, Types::kAny, 0},
    {"RNN", ParseRecurrent, Types::kNumber, 0, false, true},
    {"GRU", ParseRecurrent, Types::kNumber, 0, false, true},
    {"LSTM", ParseRecurrent, Types::kNumber, 0, false, true},
    {"Attention", ParseAttention, Types::kAny, 0},
    {"ConvInteger", ParseConvInteger, Types::kCode, 0},
    {"QLinearConv", ParseConvInteger, Types::kCode, 0},
    {"MatMulInteger", ParseMatMulInteger, Types::kCode, 0},
    {"QLinearMatMul", ParseMatMulInteger, Types::kCode, 0},
    {"com.microsoft.MatMulNBits", ParseNBits, Types::kCode, 0},
    {"DynamicQuantizeLinear", ParseQuantize, Types::kCode, 0},
    {"QuantizeLinear", ParseQuantize, Types::kCode, 0, false, false, GroupOfCodes},
    {"DequantizeLinear", ParseDequantize, Types::kCode, 0},
};

}  // namespace

std::span<const Operator> OwnOperators() { return kOwn; }

}  // namespace ge_native
