// The vendor's dtypes of ours. Pure; any thread.
#pragma once

#include <stdexcept>

#include "ge/ge_plugin.h"
#include "plugins/ascend/api/acl.h"

namespace ge_engines::ascend {

// False: the vendor has no such dtype.
inline bool FindDataType(int32_t dtype, acl::DataType* type) {
  switch (dtype) {
    case GE_F32:
      return *type = acl::kF32, true;
    case GE_F16:
      return *type = acl::kF16, true;
    case GE_BF16:
      return *type = acl::kBf16, true;
    case GE_I8:
      return *type = acl::kI8, true;
    case GE_U8:
      return *type = acl::kU8, true;
    case GE_I32:
      return *type = acl::kI32, true;
    case GE_I64:
      return *type = acl::kI64, true;
    case GE_BOOL:
      return *type = acl::kBool, true;
    default:
      return false;
  }
}

// Of a dtype that the engine has taken.
inline acl::DataType DataTypeOf(int32_t dtype) {
  acl::DataType type;
  if (!FindDataType(dtype, &type)) throw std::runtime_error("a dtype that was not taken");
  return type;
}

}  // namespace ge_engines::ascend
