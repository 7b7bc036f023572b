#include "ge/engine/plugin_file.h"

#include <errno.h>
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
#include <vector>

#include "ge/base/own_folder.h"

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

Result<WritersRule::Facts> FactsOf(const std::string& path, bool folder) {
  struct stat st;
  if (stat(path.c_str(), &st) != 0) {
    return Status(Code::kIoError, fmt::format("plugin '{}' cannot be read: {}; give the path of an "
                                              "existing .so file",
                                              path, std::strerror(errno)));
  }
  if (!folder && !S_ISREG(st.st_mode)) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("plugin '{}' is refused: it is not a regular file; give a .so file", path));
  }
  const bool list = getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
  return WritersRule::Facts{st.st_mode, st.st_uid, st.st_gid, list};
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

Status CheckPluginFile(const std::string& path, const WritersRule& rule) {
  GE_ASSIGN_OR_RETURN(const auto file, FactsOf(path, false));
  if (const std::string why = rule.Refusal(file, false); !why.empty()) {
    return Status(Code::kFailedPrecondition, fmt::format("plugin '{}' is refused: {}", path, why));
  }
  const fs::path library = OwnFile();
  for (fs::path at = fs::path(path).parent_path();; at = at.parent_path()) {
    if (!library.empty() && HoldsLibrary(at, library)) return {};
    GE_ASSIGN_OR_RETURN(const auto folder, FactsOf(at.string(), true));
    if (const std::string why = rule.Refusal(folder, true); !why.empty()) {
      return Status(
          Code::kFailedPrecondition,
          fmt::format("plugin '{}' is refused: of its folder '{}': {}", path, at.string(), why));
    }
    if (at == at.parent_path()) return {};  // the root folder
  }
}

}  // namespace ge
