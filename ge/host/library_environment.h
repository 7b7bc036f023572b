// LibraryEnvironment: sets the variables that vendors' libraries read while a plugin is loaded. The
// destructor takes them back, so neither the application nor its children see them; the user's own
// settings stay, and GE_LIBRARY_ENV=keep leaves the environment alone altogether. setenv is not
// safe beside a getenv of another thread: an application whose threads read the environment loads
// its first session before it starts them, or sets keep. One at a time in a process; the
// constructor waits.
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
