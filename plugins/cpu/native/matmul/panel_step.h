// Products with packed weights as steps, at their price: MatMul, and what is one. Used by one
// thread; throws.
#pragma once

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/program.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/matmul/panels.h"
#include "plugins/cpu/native/matmul/thin_product.h"

namespace ge_engines::cpu::native {

void EmitPanels(NativeBuilder* b, const Unit& u, const Fold& f, const BufferRef& x,
                bool transposed);

void AddPanels(NativeBuilder* b, const Unit& u, const PanelPlan& plan, const BufferRef& x,
               const BufferRef& weights);

PanelPlan PanelPlanOf(const Fold& f, const Machine& m);

// A product with constant weights, or a convolution of one pixel; its posts are done on its tiles.
Price PanelPrice(const Unit& u, const PanelPlan& plan, const Parser& p, const Machine& m);

}  // namespace ge_engines::cpu::native
