// The vendor's dtypes of ours, and what a chip has of them. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "ge/ge_plugin.h"
#include "plugins/ascend/api/acl.h"

namespace ge_engines::ascend {

// False: the vendor has no such dtype.
bool FindDataType(int32_t dtype, acl::DataType* type);
// Bytes of an element.
uint64_t SizeOf(acl::DataType type);

// By the name that the runtime gives. Of a chip that is not known only float32 and float16 in plain
// layouts are sure.
struct Chip {
  bool known = false;
  bool bf16 = false;
};
Chip ChipOf(std::string_view name);

}  // namespace ge_engines::ascend
