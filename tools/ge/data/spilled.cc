#include "tools/ge/data/spilled.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "ge/base/replace_file.h"

namespace ge::tool {
namespace {

constexpr uint64_t kPending = 1 << 20;  // bytes of one write

}  // namespace

Result<std::unique_ptr<Spilled>> Spilled::Create(const std::string& path) {
  std::unique_ptr<Spilled> out(new Spilled(path));
  std::string name = path + ".XXXXXX";
  out->fd_ = Descriptor(mkostemp(name.data(), O_CLOEXEC));
  if (!out->fd_.valid()) return out->Failed("make a file beside", errno);
  unlink(name.c_str());  // it goes when it is closed
  out->pending_.reserve(kPending);
  return out;
}

Spilled::~Spilled() {
  if (mapped_ != nullptr) munmap(mapped_, bytes_);
}

Status Spilled::Failed(const char* what, int error) const {
  return Status(Code::kIoError, fmt::format("cannot {} '{}': {}", what, path_, strerror(error)));
}

Status Spilled::Flush() {
  const int error = WriteBytes(fd_.get(), pending_);
  pending_.clear();
  return error == 0 ? Status() : Failed("write beside", error);
}

Status Spilled::Append(const void* from, uint64_t bytes) {
  bytes_ += bytes;
  const std::string_view all(static_cast<const char*>(from), bytes);
  if (pending_.size() + bytes > kPending) GE_RETURN_IF_ERROR(Flush());
  if (bytes < kPending) {
    pending_ += all;
    return {};
  }
  const int error = WriteBytes(fd_.get(), all);
  return error == 0 ? Status() : Failed("write beside", error);
}

Result<std::string_view> Spilled::Whole() {
  if (bytes_ == 0) return std::string_view();
  GE_RETURN_IF_ERROR(Flush());
  void* at = mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd_.get(), 0);
  if (at == MAP_FAILED) return Failed("map what lies beside", errno);
  mapped_ = at;
  return std::string_view(static_cast<const char*>(at), bytes_);
}

}  // namespace ge::tool
