#include "tools/ge/train/digest.h"

#include <fmt/format.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "ge/base/read_file.h"

namespace ge::tool {

struct Digest::State {
  XXH3_state_t xxh;
};

Digest::Digest() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Digest::~Digest() = default;

void Digest::Add(std::span<const std::byte> bytes) {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

void Digest::Add(std::string_view text) { Add(std::as_bytes(std::span(text))); }

std::string Digest::Hex() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(&state_->xxh);
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

Result<std::string> DigestOfFile(const std::string& path, uint64_t* bytes) {
  GE_ASSIGN_OR_RETURN(const RegularFile file, OpenRegularFile(path));
  Digest digest;
  std::vector<std::byte> part(size_t{1} << 18);
  for (*bytes = 0;;) {
    const ssize_t got = read(file.fd.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Status(Code::kIoError, fmt::format("cannot read '{}': {}", path, strerror(errno)));
    }
    if (got == 0) return digest.Hex();
    digest.Add(std::span(part).first(static_cast<size_t>(got)));
    *bytes += static_cast<uint64_t>(got);
  }
}

}  // namespace ge::tool
