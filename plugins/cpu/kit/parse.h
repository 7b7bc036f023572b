// The operators that every engine's parser knows, and parts of them for the parsing of others. Each
// makes *u of a node whose tensors have been checked, or says why it cannot. Pure; any thread.
#pragma once

#include "plugins/cpu/kit/unit.h"

namespace ge_engines::cpu {

bool ParseConv(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseConvTranspose(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseMatMul(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseGemm(const Parser& g, uint32_t node, Unit* u, Why* why);
// A matrix's Transpose, as a TransposeSpec: of an engine that takes it inside products alone, which
// read either operand turned. Not among the operators that every engine knows.
bool ParseTurn(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParsePool(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseUnary(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseBinary(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseSum(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseReluGrad(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParsePow(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseClip(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseBatchNorm(const Parser& g, uint32_t node, Unit* u, Why* why);

// Strides, dilations and paddings of windows over src that make dst, auto_pad resolved.
bool WindowOf(const ge_node& n, const Dims& src, const Dims& dst, const Dims& kernel, Dims* stride,
              Dims* dilation, Dims* pad_l, Dims* pad_r, Why* why);
// Whether a convolution's weights and bias are constants, which most engines lay out beforehand.
bool HasConstantWeights(const Unit& u, const Parser& p, Why* why);
// Geometry of a convolution whose three tensors have these dims.
bool ConvShapeOf(const ge_node& n, const Dims& x, const Dims& w, const Dims& y, ConvSpec* spec,
                 Why* why);
// The same from the inputs at these positions; the weights are constant.
bool ParseConvShape(const Parser& g, uint32_t node, uint32_t x, uint32_t w, ConvSpec* spec,
                    Why* why);

}  // namespace ge_engines::cpu
