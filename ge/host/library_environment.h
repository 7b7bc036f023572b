// LibraryEnvironment: what the vendors' libraries of a plugin read from the environment while they
// are loaded. Set for as long as the object lives and then taken back, so that neither the
// application nor its children see it; what the user set stays, and GE_LIBRARY_ENV=keep leaves the
// environment alone altogether. setenv is not safe beside a getenv of another thread: an
// application whose threads read the environment loads its first session before it starts them, or
// says keep. One at a time in a process; the constructor waits.
#pragma once

#include <mutex>

namespace ge {

class LibraryEnvironment {
 public:
  LibraryEnvironment();
  ~LibraryEnvironment();
  LibraryEnvironment(const LibraryEnvironment&) = delete;
  LibraryEnvironment& operator=(const LibraryEnvironment&) = delete;

 private:
  std::unique_lock<std::mutex> one_;
  bool spin_ = false;  // GOMP_SPINCOUNT was set here
};

}  // namespace ge
