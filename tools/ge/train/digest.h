// Digest: XXH3 of 128 bits. It detects accidents and mix-ups, not forgery. One thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ge/base/status.h"

namespace ge::tool {

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;
  void Add(std::span<const std::byte> bytes);
  void Add(std::string_view text);
  std::string Hex() const;  // 32 digits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Digest of a regular file, and its size in bytes. IO_ERROR.
Result<std::string> DigestOfFile(const std::string& path, uint64_t* bytes);

}  // namespace ge::tool
