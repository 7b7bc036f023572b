// The pass `fuse-pictures`: a Cast and arithmetic by channel behind Pictures become its table, so
// that the last loop over pixels writes the floats.
#pragma once

#include "ge/ge_plugin_pass.h"

namespace ge::data {

ge_pass_def FusePicturesPass();

}  // namespace ge::data
