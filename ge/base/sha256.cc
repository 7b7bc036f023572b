// The digest itself is libmd's.
#include "ge/base/sha256.h"

#include <sha2.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "ge/base/read_file.h"

namespace ge {
namespace {

std::string Finish(SHA2_CTX* context) {
  char hex[SHA256_DIGEST_STRING_LENGTH];
  return SHA256End(context, hex);
}

}  // namespace

std::string Sha256(std::span<const std::byte> bytes) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return Finish(&context);
}

Result<std::string> Sha256OfFile(const std::string& path) {
  GE_ASSIGN_OR_RETURN(const RegularFile file, OpenRegularFile(path));
  Result<std::string> digest = Sha256OfDescriptor(file.fd.get());
  if (digest.ok()) return digest;
  return Status(Code::kIoError, "cannot read '" + path + "': " + digest.status().message());
}

Result<std::string> Sha256OfDescriptor(int fd) {
  SHA2_CTX context;
  SHA256Init(&context);
  uint8_t buffer[1 << 14];
  for (off_t at = 0;;) {
    const ssize_t n = pread(fd, buffer, sizeof buffer, at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Status(Code::kIoError, std::strerror(errno));
    if (n == 0) return Finish(&context);
    SHA256Update(&context, buffer, static_cast<size_t>(n));
    at += n;
  }
}

}  // namespace ge
