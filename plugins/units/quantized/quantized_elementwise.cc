#include "plugins/units/quantized/quantized_elementwise.h"

namespace ge_engines {

const UnitKind CodePairSpec::kKind = {.name = "quantized_pair"};

const UnitKind CodeConstantSpec::kKind = {.name = "quantized_constant"};

const UnitKind CodeMapSpec::kKind = {.name = "quantized_map"};

const UnitKind CodeMeanSpec::kKind = {.name = "quantized_mean"};

const UnitKind CodeConcatSpec::kKind = {.name = "quantized_concat"};

}  // namespace ge_engines
