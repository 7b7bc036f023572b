// The records of a ZIP file that a capsule is made of, as PKWARE's APPNOTE 6.3 lays them out, and
// little-endian numbers in bytes. Members are stored, never compressed. Only for this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace ge::zip {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr size_t kEnd64Bytes = 56, kLocator64Bytes = 20;

constexpr uint16_t kVersion = 20, kVersion64 = 45;  // that a reader needs
constexpr uint16_t kMadeBy = 3 << 8 | kVersion64;   // Unix
constexpr uint16_t kUtf8 = 1 << 11;                 // the only flag: names are UTF-8
constexpr uint16_t kDate = 1 << 5 | 1;              // 1980-01-01: the same bytes at any time
constexpr uint16_t kExtra64 = 0x0001;               // extra field of sizes of 64 bits
constexpr uint16_t kExtraAlign = 0xd935;  // extra field that moves the data, as zipalign's
constexpr uint32_t kIn64 = 0xffffffff;    // the number stands in the extra field
constexpr uint16_t kCountIn64 = 0xffff;

// Appends numbers, low byte first.
class Bytes {
 public:
  template <typename T>
  Bytes& Put(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) out_ += static_cast<char>(uint64_t{value} >> (8 * i));
    return *this;
  }
  Bytes& Put(const std::string& text) {
    out_ += text;
    return *this;
  }
  Bytes& Zeros(size_t count) {
    out_.append(count, '\0');
    return *this;
  }
  const std::string& str() const { return out_; }

 private:
  std::string out_;
};

// A number at an offset of bytes that are there.
template <typename T>
T Number(const std::byte* data, size_t at) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value |= std::to_integer<uint64_t>(data[at + i]) << (8 * i);
  return static_cast<T>(value);
}

}  // namespace ge::zip
