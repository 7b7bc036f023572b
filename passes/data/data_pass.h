// The pass `data`: adds the entries of a data pipeline, `data` and `data_test`.
#pragma once

#include "ge/ge_plugin_pass.h"

namespace ge::data {

ge_pass_def DataPass();

}  // namespace ge::data
