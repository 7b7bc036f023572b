// For tests: a cache folder of their own, empty at first and gone afterwards. GE_CACHE_DIR is the
// process's, so one at a time.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace ge {

class TemporaryCacheFolder {
 public:
  TemporaryCacheFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("ge_cache_folder." + std::to_string(getpid()))) {
    if (const char* before = std::getenv("GE_CACHE_DIR")) before_ = before;
    std::filesystem::remove_all(path_);
    setenv("GE_CACHE_DIR", path_.c_str(), 1);
  }
  ~TemporaryCacheFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    before_ ? setenv("GE_CACHE_DIR", before_->c_str(), 1) : unsetenv("GE_CACHE_DIR");
  }
  TemporaryCacheFolder(const TemporaryCacheFolder&) = delete;
  TemporaryCacheFolder& operator=(const TemporaryCacheFolder&) = delete;
  // Not there before something is written.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<std::string> before_;
};

}  // namespace ge
