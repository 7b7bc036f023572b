// Checks who may write a plugin's file: loaded code runs with all rights of the process, so
// its writers must be able to change this library anyway. Runs nothing. Any thread may
// call.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <functional>
#include <string>

#include "ge/base/status.h"

namespace ge {

// Facts of the system used by the rule; tests supply their own.
struct WritersRule {
  struct Facts {
    mode_t mode = 0;
    uid_t owner = 0;
    gid_t group = 0;
    bool access_list = false;  // more may write than the mode says; counts where a group may
  };
  uid_t user = 0;  // effective user of this process
  // The file of this code: its owner is trusted, and its group if that may write it.
  Facts library;
  // Whether nobody but root, the user and the library's owner is in a group.
  std::function<bool(gid_t)> is_private;

  // Empty when nobody else may write it, else why and the fix, as in "its mode 666 lets everybody
  // write it; run chmod o-w on it". Everybody may write a sticky folder: each file in it is its
  // owner's.
  std::string Refusal(const Facts& facts, bool folder) const;
};

// Of this process.
WritersRule SystemWritersRule();

// A regular file, open for reading, that strangers can write neither itself nor by a folder above
// it. Each folder was checked as it was entered, and the file when it was open: the checked file is
// read here, even if its name comes to mean another. Folders that also contain this library are
// left out: their writers could replace it.
class TrustedFile {
 public:
  // `path`: absolute, without links. Messages call it `what`: "plugin". IO_ERROR or
  // FAILED_PRECONDITION, naming the file or folder, the found and the wanted value and the fix.
  static Result<TrustedFile> Open(const std::string& what, const std::string& path,
                                  const WritersRule& rule);
  TrustedFile(TrustedFile&& other) noexcept;
  TrustedFile& operator=(TrustedFile&&) = delete;
  ~TrustedFile();

  // All of it; LIMIT_EXCEEDED where it is over `most` bytes.
  Result<std::string> Read(size_t most) const;
  Result<std::string> Sha256() const;
  // Whether its path still names this file, unchanged since it was opened: ask after somebody else
  // (the dynamic linker) has opened it by name.
  Status CheckStill() const;

 private:
  TrustedFile(std::string what, std::string path, int fd)
      : what_(std::move(what)), path_(std::move(path)), fd_(fd) {}
  std::string what_, path_;
  int fd_;
  struct stat facts_ = {};
};

}  // namespace ge
