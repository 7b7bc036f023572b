// The operators that every engine's parser knows, and parts of them for the parsing of others. Each
// makes *u of a node whose tensors have been checked, or says why it cannot. Pure; any thread.
#pragma once

#include "plugins/cpu/kit/unit.h"

namespace ge_cpu {

bool ParseConv(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseConvTranspose(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseMatMul(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseGemm(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParsePool(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseUnary(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseBinary(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParsePow(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseClip(const Parser& g, uint32_t node, Unit* u, Why* why);
bool ParseBatchNorm(const Parser& g, uint32_t node, Unit* u, Why* why);

// Geometry of a convolution alone, from the inputs at these positions.
bool ParseConvShape(const Parser& g, uint32_t node, uint32_t x, uint32_t w, ConvSpec* spec,
                    Why* why);

}  // namespace ge_cpu
