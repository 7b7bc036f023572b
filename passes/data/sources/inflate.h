// Inflater: the bytes of a deflated stream, in order, by zlib. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "passes/data/sources/source.h"

namespace ge::data {

class Inflater {
 public:
  enum class Form { kDeflate, kGzip };
  // No byte of deflate can stand for more: what claims to be larger is refused before memory is
  // taken. Of the format: 258 bytes by two bits.
  static constexpr uint64_t kMost = 1032;

  // `what` names the stream in refusals; the bytes outlive the object.
  Inflater(std::string what, std::span<const std::byte> packed, Form form,
           const OpenOptions& options);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  // Fills `out`; GE_DATA_LOSS where the stream is damaged or ends before.
  void Read(std::span<std::byte> out);
  // GE_DATA_LOSS where the stream goes on, or its own checksum is not that of its bytes.
  void Finish();

 private:
  struct Stream;
  uint64_t Some(std::span<std::byte> out);
  std::string what_;
  std::span<const std::byte> packed_;
  const OpenOptions& options_;
  std::unique_ptr<Stream> stream_;
  uint64_t taken_ = 0;
  bool ended_ = false;
};

uint32_t Crc32(std::span<const std::byte> bytes, const OpenOptions& options);

}  // namespace ge::data
