// The directory of a zip file: its members and where their bytes lie. Format: PKWARE's APPNOTE,
// with zip64. Knows nothing of names' meanings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "passes/data/sources/source.h"

namespace ge::data {

struct ZipMember {
  std::string name;
  uint64_t at = 0, packed = 0, bytes = 0;  // its data: place in the file, sizes
  uint32_t crc = 0;
  bool deflated = false;
};

// In the order of the directory. Members lie in the file, do not overlap, and claim no more bytes
// than deflate can hold, so that all of them together are at most 1,032 times the file.
// GE_DATA_LOSS; UNIMPLEMENTED for encrypted members and other methods.
std::vector<ZipMember> ReadZip(const std::string& path, std::span<const std::byte> file);

}  // namespace ge::data
