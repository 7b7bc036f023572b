// Files that ship with this library, in share/graphengine beside its folder. Any thread may call.
#pragma once

#include <optional>
#include <string>

namespace ge {

// The text of one, "priors/avx512-one.json"; nothing when it is not there.
std::optional<std::string> ReadShippedFile(const std::string& name);

// One that is damaged, in the way that `how` tells, is told of once a process.
void WarnOfShipped(const std::string& name, const std::string& how);

// Whose processor this is: "amd", "intel" or "other". What ships about processors is kept by it.
std::string CpuVendor();

}  // namespace ge
