// Digest: XXH3 of 128 bits, which tells accidents and mix-ups, not forgery. One thread.
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

// Of a regular file, and how many bytes it has. IO_ERROR.
Result<std::string> DigestOfFile(const std::string& path, uint64_t* bytes);

}  // namespace ge::tool
