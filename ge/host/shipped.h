// Reads files shipped in share/graphengine beside this library's folder. Any thread may call.
#pragma once

#include <optional>
#include <string>

namespace ge {

// The text of one, "priors/avx512-one.json"; nothing when it is not there.
std::optional<std::string> ReadShippedFile(const std::string& name);

// Warns once a process of a damaged file; `how` tells the damage.
void WarnOfShipped(const std::string& name, const std::string& how);

// The processor's vendor: "amd", "intel" or "other". Shipped records are kept by vendor.
std::string CpuVendor();

}  // namespace ge
