// Who may write a plugin's file: what is loaded runs with all rights of the process, so nobody may
// have written it who could not have changed this library anyway. Runs nothing.
// Any thread may call.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <functional>
#include <string>

#include "ge/base/status.h"

namespace ge {

// What the rule asks of the system, apart for tests.
struct WritersRule {
  struct Facts {
    mode_t mode = 0;
    uid_t owner = 0;
    gid_t group = 0;
    bool access_list = false;  // more may write than the mode tells; counts where a group may
  };
  uid_t user = 0;  // effective user of this process
  // The file that holds this code: who owns it is trusted, and its group if that may write it.
  Facts library;
  // Whether nobody but root, the user and the library's owner is in a group.
  std::function<bool(gid_t)> is_private;

  // Empty when nobody else may write it, else why and what to do, as in "its mode 666 lets
  // everybody write it; run chmod o-w on it". A sticky folder may be written by all: what lies in
  // it is its owner's.
  std::string Refusal(const Facts& facts, bool folder) const;
};

// Of this process.
WritersRule SystemWritersRule();

// A regular file that neither itself nor by a folder above it may be written by strangers, open for
// reading. Each folder was looked at as it was entered, and the file when it was open: what was
// checked is what is read here, whatever becomes of its name meanwhile. Folders that this library
// lies in as well are left out: who may write those may replace it.
class TrustedFile {
 public:
  // `path`: absolute, without links. `what` it is called in messages: "plugin". IO_ERROR or
  // FAILED_PRECONDITION, naming the file or folder, what was found, what is wanted and the fix.
  static Result<TrustedFile> Open(const std::string& what, const std::string& path,
                                  const WritersRule& rule);
  TrustedFile(TrustedFile&& other) noexcept;
  TrustedFile& operator=(TrustedFile&&) = delete;
  ~TrustedFile();

  // All of it; LIMIT_EXCEEDED where it is over `most` bytes.
  Result<std::string> Read(size_t most) const;
  Result<std::string> Sha256() const;
  // Whether its path still names this file, unchanged since it was opened: to be asked after
  // somebody else (the dynamic linker) has opened it by name.
  Status CheckStill() const;

 private:
  TrustedFile(std::string what, std::string path, int fd)
      : what_(std::move(what)), path_(std::move(path)), fd_(fd) {}
  std::string what_, path_;
  int fd_;
  struct stat facts_ = {};
};

}  // namespace ge
