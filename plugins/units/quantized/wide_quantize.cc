#include "plugins/units/quantized/wide_quantize.h"

namespace ge_engines {

// The nodes are parsed where those of 8 bits are.
const UnitKind WideQuantizeSpec::kKind = {.name = "wide_quantize"};
const UnitKind WideDequantizeSpec::kKind = {.name = "wide_dequantize"};

}  // namespace ge_engines
