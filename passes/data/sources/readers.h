// The readers of sources, one a kind of file. Each takes a path whose ending it knows, or a folder.
#pragma once

#include <memory>
#include <string>

#include "passes/data/sources/source.h"

namespace ge::data {

using Reader = std::shared_ptr<const Source> (*)(const std::string& path, const OpenOptions&);

std::shared_ptr<const Source> OpenNpy(const std::string& path, const OpenOptions& options);

}  // namespace ge::data
