// SHA-256 of a file or of bytes, as lower-case hex. Stateless.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ge/base/status.h"

namespace ge {

std::string Sha256(std::span<const std::byte> bytes);
Result<std::string> Sha256OfFile(const std::string& path);
// Hashes all bytes of an open file; its position stays. IO_ERROR without a name.
Result<std::string> Sha256OfDescriptor(int fd);

}  // namespace ge
