// LoadPlugin for an engine whose options are known: they may name the folder of what its manifest
// needs (manifest.h). A file that is loaded already answers as it is. Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ge/engine/plugin/plugin.h"

namespace ge {

Result<std::shared_ptr<const Plugin>> LoadForEngine(const std::string& path,
                                                    std::string_view options);

}  // namespace ge
