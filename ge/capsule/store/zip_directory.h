// Reads what a ZIP file says of its members, and believes none of it: places lie in the file, in
// bytes of their own, and the two headers of a member agree. Any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"

namespace ge {

struct ZipMember {
  std::string name;
  uint16_t flags = 0, method = 0;  // method 0: stored as it is
  uint32_t crc = 0;                // of the bytes before they were packed
  uint64_t packed = 0, bytes = 0;  // in the file, and before
  uint64_t header = 0, data = 0;   // where they begin in the file
};

// The members in the order of their places. DATA_CORRUPT; the message begins with "it" or with
// "member 'NAME':" and gives the field, its value and the wanted one. LIMIT_EXCEEDED.
Result<std::vector<ZipMember>> ReadZipDirectory(std::span<const std::byte> file,
                                                uint64_t max_members);

// The members up to the last whole one, of a file whose writer was ended before it wrote the
// directory. Without sizes in the headers in front of them there are none.
Result<std::vector<ZipMember>> ScanZipMembers(std::span<const std::byte> file,
                                              uint64_t max_members);

// Whether the file ends as one with a directory does.
bool HasZipDirectory(std::span<const std::byte> file);

// The CRC-32 of PNG and ZIP.
uint32_t Crc32(std::span<const std::byte> bytes, uint32_t before = 0);

// For messages: at most 64 bytes, what is not ASCII's printable becomes '?'.
std::string ShownName(std::string_view name);

}  // namespace ge
