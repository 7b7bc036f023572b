#include "ge/engine/plugin/plugin_file.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "ge/base/descriptor.h"
#include "ge/base/own_folder.h"
#include "ge/base/sha256.h"

namespace ge {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxRecord = size_t{1} << 20;  // of a user or group in the system's database

std::string UserName(uid_t user) {
  std::vector<char> text(4096);
  passwd record, *found = nullptr;
  const int rc = getpwuid_r(user, &record, text.data(), text.size(), &found);
  return rc == 0 && found ? fmt::format("'{}' ({})", found->pw_name, user)
                          : fmt::format("{}", user);
}

std::string GroupName(gid_t group) {
  std::vector<char> text(kMaxRecord);
  struct group record, *found = nullptr;
  const int rc = getgrgid_r(group, &record, text.data(), text.size(), &found);
  return rc == 0 && found ? fmt::format("'{}' ({})", found->gr_name, group)
                          : fmt::format("{}", group);
}

// Debian gives every user a group of their own and a umask of 002 is common with that, so what a
// user builds may be written by that group.
class Groups {
 public:
  explicit Groups(std::vector<uid_t> trusted) : trusted_(std::move(trusted)) {}

  bool IsPrivate(gid_t group) const {
    if (group == 0) return true;  // root's: its members are the machine's administrators
    std::vector<char> text(kMaxRecord);
    struct group record, *found = nullptr;
    if (getgrgid_r(group, &record, text.data(), text.size(), &found) != 0 || !found) return false;
    for (char** member = found->gr_mem; *member; ++member) {
      if (!IsTrustedName(*member)) return false;
    }
    return ItsLoginsAreTrusted(group, found->gr_name);
  }

 private:
  bool IsTrusted(uid_t user) const {
    return std::count(trusted_.begin(), trusted_.end(), user) != 0;
  }
  bool IsTrustedName(const char* name) const {
    std::vector<char> text(kMaxRecord);
    passwd record, *found = nullptr;
    const int rc = getpwnam_r(name, &record, text.data(), text.size(), &found);
    return rc == 0 && found && IsTrusted(found->pw_uid);
  }
  // Of those whose login group it is, /etc/passwd tells the local ones. A directory service need
  // not list its users: there the group has to be called as the user.
  bool ItsLoginsAreTrusted(gid_t group, const std::string& group_name) const {
    std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/etc/passwd", "re"), &std::fclose);
    if (!file) return false;
    std::vector<char> text(kMaxRecord);
    passwd record, *found = nullptr;
    bool local = false;
    while (fgetpwent_r(file.get(), &record, text.data(), text.size(), &found) == 0 && found) {
      local |= found->pw_uid == geteuid();
      if (found->pw_gid == group && !IsTrusted(found->pw_uid)) return false;
    }
    if (local || getegid() != group) return true;
    const int rc = getpwuid_r(geteuid(), &record, text.data(), text.size(), &found);
    return rc == 0 && found && group_name == found->pw_name;
  }

  const std::vector<uid_t> trusted_;
};

WritersRule::Facts FactsOf(int fd, const struct stat& st) {
  // Descriptors of folders are opened as places alone, whose attributes only a path reaches.
  const std::string self = fmt::format("/proc/self/fd/{}", fd);
  const bool list = getxattr(self.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
  return WritersRule::Facts{st.st_mode, st.st_uid, st.st_gid, list};
}

Status CannotRead(const std::string& what, const std::string& path, int why) {
  return Status(Code::kIoError, fmt::format("{} '{}' cannot be read: {}; give the path of an "
                                            "existing file",
                                            what, path, std::strerror(why)));
}

bool SameFile(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
         a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

// Whether `folder` is the library's or one above it.
bool HoldsLibrary(const fs::path& folder, const fs::path& library) {
  auto [end, rest] = std::mismatch(folder.begin(), folder.end(), library.begin(), library.end());
  return end == folder.end();
}

}  // namespace

std::string WritersRule::Refusal(const Facts& facts, bool folder) const {
  if (facts.owner != 0 && facts.owner != user && facts.owner != library.owner) {
    return fmt::format(
        "its owner is {}, wanted root{}; copy it to a place of your own, or run chown "
        "on it",
        UserName(facts.owner), user == 0 ? "" : " or " + UserName(user));
  }
  const mode_t mode = facts.mode & 07777;
  if (folder && (mode & S_ISVTX)) return "";
  if (mode & S_IWOTH) {
    return fmt::format("its mode {:o} lets everybody write it; run chmod o-w on it", mode);
  }
  if (!(mode & S_IWGRP)) return "";
  const bool as_library = (library.mode & S_IWGRP) && library.group == facts.group;
  if (facts.access_list) {
    return fmt::format(
        "its mode {:o} and its access list let others write it; run setfacl -b and "
        "chmod g-w on it",
        mode);
  }
  if (as_library || is_private(facts.group)) return "";
  return fmt::format(
      "its mode {:o} lets group {} write it, in which others are than root and you; "
      "run chmod g-w on it",
      mode, GroupName(facts.group));
}

WritersRule SystemWritersRule() {
  WritersRule rule;
  rule.user = geteuid();
  struct stat st;
  const std::string library = OwnFile().string();
  if (!library.empty() && stat(library.c_str(), &st) == 0) {
    rule.library = {st.st_mode, st.st_uid, st.st_gid, false};
  }
  const Groups groups({0, rule.user, rule.library.owner});
  rule.is_private = [groups](gid_t group) { return groups.IsPrivate(group); };
  return rule;
}

Result<TrustedFile> TrustedFile::Open(const std::string& what, const std::string& path,
                                      const WritersRule& rule) {
  const fs::path library = OwnFile();
  auto refuse = [&](const std::string& why) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("{} '{}' is refused: {}", what, path, why));
  };
  const fs::path whole = path;
  fs::path at = "/";
  Descriptor fd(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat st;
  for (const fs::path& name : whole.relative_path()) {
    if (fd.get() < 0 || fstat(fd.get(), &st) != 0) return CannotRead(what, path, errno);
    if (library.empty() || !HoldsLibrary(at, library)) {
      const std::string why = rule.Refusal(FactsOf(fd.get(), st), true);
      if (!why.empty()) return refuse(fmt::format("of its folder '{}': {}", at.string(), why));
    }
    at /= name;
    // No links: the path has none, unless somebody has put one there since it was resolved. A pipe
    // that nobody writes would be waited for.
    const int flags = at == whole ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_PATH | O_DIRECTORY;
    fd = Descriptor(openat(fd.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  }
  if (fd.get() < 0 || fstat(fd.get(), &st) != 0) return CannotRead(what, path, errno);
  if (!S_ISREG(st.st_mode)) return refuse("it is not a regular file");
  const std::string why = rule.Refusal(FactsOf(fd.get(), st), false);
  if (!why.empty()) return refuse(why);
  TrustedFile file(what, path, fd.release());
  file.facts_ = st;
  return file;
}

TrustedFile::TrustedFile(TrustedFile&& other) noexcept
    : what_(std::move(other.what_)),
      path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      facts_(other.facts_) {}

TrustedFile::~TrustedFile() {
  if (fd_ >= 0) close(fd_);
}

Result<std::string> TrustedFile::Read(size_t most) const {
  std::string text;
  char buffer[1 << 14];
  for (;;) {
    const ssize_t n = pread(fd_, buffer, sizeof buffer, static_cast<off_t>(text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return CannotRead(what_, path_, errno);
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
    if (text.size() > most) {
      return Status(Code::kLimitExceeded, fmt::format("{} '{}' is over {} bytes long; is it the "
                                                      "right file?",
                                                      what_, path_, most));
    }
  }
}

Result<std::string> TrustedFile::Sha256() const {
  auto digest = Sha256OfDescriptor(fd_);
  if (digest.ok()) return digest;
  return Status(Code::kIoError,
                fmt::format("{} '{}' cannot be read: {}", what_, path_, digest.status().message()));
}

Status TrustedFile::CheckStill() const {
  struct stat st;
  if (stat(path_.c_str(), &st) == 0 && SameFile(st, facts_)) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("{} '{}' is refused: the file was changed or replaced while it was "
                            "being loaded; start again when nobody installs",
                            what_, path_));
}

}  // namespace ge
