// Adds products with packed weights as steps, and prices them: MatMul and operators that become
// one. Used by one thread; throws.
#pragma once

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/matmul/panels.h"
#include "plugins/cpu/native/matmul/thin_product.h"

namespace ge_engines::cpu::native {

void EmitPanels(NativeBuilder* builder, const Unit& unit, const Fold& fold, const BufferRef& x,
                bool transposed);

void AddPanels(NativeBuilder* builder, const Unit& unit, const PanelPlan& plan, const BufferRef& x,
               const BufferRef& weights);

PanelPlan PanelPlanOf(const Fold& fold, const Machine& machine);

// A product with constant weights, or a one-pixel convolution, with post-ops on its tiles.
Price PanelPrice(const Unit& unit, const PanelPlan& plan, const Parser& parser,
                 const Machine& machine);

}  // namespace ge_engines::cpu::native
