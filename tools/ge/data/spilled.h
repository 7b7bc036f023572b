// Spilled: bytes of any number, appended one behind the other and then read as they lie: a file
// without a name in the folder of the output, so that memory holds a megabyte of them. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ge/base/descriptor.h"
#include "ge/base/status.h"

namespace ge::tool {

class Spilled {
 public:
  // In the folder of `path`. IO_ERROR, naming that.
  static Result<std::unique_ptr<Spilled>> Create(const std::string& path);
  ~Spilled();
  Spilled(const Spilled&) = delete;
  Spilled& operator=(const Spilled&) = delete;

  Status Append(const void* from, uint64_t bytes);
  uint64_t bytes() const { return bytes_; }
  // All of them; stays while this lives. Nothing is appended any more.
  Result<std::string_view> Whole();

 private:
  explicit Spilled(std::string path) : path_(std::move(path)) {}
  Status Flush();
  Status Failed(const char* what, int error) const;

  std::string path_;  // of the output, for messages
  Descriptor fd_;
  std::string pending_;
  uint64_t bytes_ = 0;
  void* mapped_ = nullptr;
};

}  // namespace ge::tool
