#include "plugins/units/quantized/quantized_elementwise.h"

namespace ge_engines {

const UnitKind QuantizedPairSpec::kKind = {.name = "quantized_pair"};

const UnitKind QuantizedConstantSpec::kKind = {.name = "quantized_constant"};

const UnitKind QuantizedMapSpec::kKind = {.name = "quantized_map"};

const UnitKind QuantizedMeanSpec::kKind = {.name = "quantized_mean"};

const UnitKind QuantizedConcatSpec::kKind = {.name = "quantized_concat"};

}  // namespace ge_engines
