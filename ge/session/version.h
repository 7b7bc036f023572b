// The product's version, as ge_version answers it.
#pragma once

namespace ge {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace ge
