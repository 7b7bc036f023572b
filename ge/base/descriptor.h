// Descriptor: owns a file descriptor of the system and closes it on every way out.
#pragma once

#include <unistd.h>

#include <utility>

namespace ge {

class Descriptor {
 public:
  Descriptor() = default;
  // Takes over `fd`; a negative one stands for none.
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  // The caller closes it from now on.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

}  // namespace ge
