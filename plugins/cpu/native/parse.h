// The operators that this engine knows beside those of kit/. Each makes *u of a node whose tensors
// have been checked, or says why it cannot. Pure; any thread.
#pragma once

#include <span>

#include "plugins/cpu/kit/unit.h"

namespace ge_engines::cpu::native {

std::span<const Operator> OwnOperators();

inline bool IsCode(int32_t dtype) { return dtype == GE_I8 || dtype == GE_U8; }
// Beyond this many products of codes a sum may leave int32: each is at most 255 * 255.
inline constexpr int64_t kMaxCodeDepth = 33000;

// parse_loops.cc
bool ParseGlobalPool(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseReduce(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseRowSquares(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseSoftmax(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseLayerNorm(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseConcat(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseResize(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseView(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseTranspose(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseSlice(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseSplit(const Parser& g, uint32_t node, Unit* u, Why* why);
// parse_moves.cc
bool ParseBlocks(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseFill(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseTriangle(const Parser& g, uint32_t node, Unit* u, Why* why);
// parse_grad.cc
bool ParseConvGradInput(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseMoments(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseBatchNormGrad(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseAddRows(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseStep(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseMaxPoolGrad(const Parser& g, uint32_t node, Unit* u, Why* why);
// parse_data.cc
bool ParsePad(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseExpand(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseGather(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseFeatures(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseAppend(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseCast(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseWhere(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseRoiAlign(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseRelation(const Parser& g, uint32_t node, Unit* u, Why* why);
// Add and its like, on floats or integers.
bool ParseArithmetic(const Parser& g, uint32_t node, Unit* u, Why* why);
// parse_sample.cc
bool ParseResample(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseGridSample(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseMaxPool(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParsePRelu(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseInstanceNorm(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseSpectrum(const Parser& g, uint32_t node, Unit* u, Why* why);
// parse_index.cc: GatherElements and ScatterElements, then GatherND and ScatterND
bool ParseElements(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseTuples(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseCumSum(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseArg(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseTopK(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseTile(const Parser& g, uint32_t node, Unit* u, Why* why);
// parse_trees.cc
bool ParseTreeRegressor(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseTreeEnsemble(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseTreeClassifier(const Parser& g, uint32_t node, Unit* u, Why* why);
// parse_vectors.cc
bool ParseSvmRegressor(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseSvmClassifier(const Parser& g, uint32_t node, Unit* u, Why* why);
// parse_lines.cc
bool ParseLinearRegressor(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseLinearClassifier(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseNormalizer(const Parser& g, uint32_t node, Unit* u, Why* why);
// parse_recurrent.cc
bool ParseRecurrent(const Parser& g, uint32_t node, Unit* u, Why* why);
// parse_attention.cc
bool ParseAttention(const Parser& g, uint32_t node, Unit* u, Why* why);
// parse_quantized.cc
bool ParseConvInteger(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseMatMulInteger(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseNBits(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseQuantize(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseDequantize(const Parser& g, uint32_t node, Unit* u, Why* why);

}  // namespace ge_engines::cpu::native
