#include "tools/ge/plugin_new.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "ge/base/own_folder.h"
#include "ge/base/status.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

namespace fs = std::filesystem;

// What the templates are called; it becomes the plugin's name, in files and in their names. Passes
// are named with hyphens.
constexpr std::string_view kPlaceholder = "my_plugin", kPassPlaceholder = "my-plugin";

Status IoError(const fs::path& path, const std::string& what, int error) {
  return Status(Code::kIoError,
                fmt::format("'{}' {}: {}", path.string(), what, std::strerror(error)));
}

// Targets that CMake makes itself: a plugin's target has its name.
bool IsTargetOfCmake(const std::string& name) {
  constexpr std::string_view kNames[] = {"all",     "clean",        "edit_cache",     "help",
                                         "install", "package",      "package_source", "preinstall",
                                         "test",    "rebuild_cache"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Status CheckName(const std::string& name) {
  const bool legal = !name.empty() && name.size() <= 64 &&
                     name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == name.npos;
  if (!legal) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("the plugin's name is '{}', wanted 1 to 64 characters of [a-z0-9_]", name));
  }
  if (!IsTargetOfCmake(name)) return {};
  return Status(
      Code::kInvalidArgument,
      fmt::format("the plugin's name is '{}', which is a target of CMake's own; take another",
                  name));
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

struct File {
  std::string name, text;
};

Status AddFiles(const fs::path& folder, const std::string& plugin, std::vector<File>* out) {
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in) return IoError(entry.path(), "cannot be read", errno);
    text = Replaced(std::move(text), kPlaceholder, plugin);
    text = Replaced(std::move(text), kPassPlaceholder, Replaced(plugin, "_", "-"));
    out->push_back({Replaced(entry.path().filename().string(), kPlaceholder, plugin), text});
  }
  if (ec) return IoError(folder, "cannot be listed", ec.value());
  return {};
}

// "c, cpp".
std::string FoldersIn(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

// The files of the kind, and those of the kind in the language.
Result<std::vector<File>> FilesOf(const NewPlugin& wanted) {
  const fs::path kind =
      (OwnFolder() / ".." / "share" / "graphengine" / "scaffold" / wanted.kind).lexically_normal();
  std::error_code ec;
  if (!fs::is_directory(kind, ec)) {
    if (ec && fs::status(kind, ec).type() != fs::file_type::not_found) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("the folder '{}' of templates cannot be read: {}; let this user "
                                "read it",
                                kind.string(), ec.message()));
    }
    return Status(Code::kFailedPrecondition,
                  fmt::format("there is no folder '{}' of templates; it is installed beside this "
                              "program (cmake --install)",
                              kind.string()));
  }
  const std::string language = !wanted.language.empty()           ? wanted.language
                               : fs::is_directory(kind / "c", ec) ? "c"
                                                                  : "cpp";
  if (!fs::is_directory(kind / language, ec)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--language is '{}', but of this kind there are templates in: {}",
                              language, FoldersIn(kind)));
  }
  std::vector<File> files;
  GE_RETURN_IF_ERROR(AddFiles(kind, wanted.name, &files));
  GE_RETURN_IF_ERROR(AddFiles(kind / language, wanted.name, &files));
  return files;
}

Status WriteFiles(const fs::path& folder, const std::vector<File>& files) {
  for (const File& f : files) {
    std::ofstream out(folder / f.name, std::ios::binary);
    out << f.text;
    out.close();
    if (!out) return IoError(folder / f.name, "cannot be written", errno);
  }
  const mode_t mask = umask(0);
  umask(mask);
  // mkdtemp made it for its owner alone.
  if (chmod(folder.c_str(), 0777 & ~mask) != 0) return IoError(folder, "keeps its mode", errno);
  return {};
}

// Written under another name and renamed, so that nobody meets half a folder.
Status MakeFolder(const fs::path& folder, const std::vector<File>& files) {
  std::error_code ec;
  if (fs::exists(fs::symlink_status(folder, ec))) {
    return Status(Code::kInvalidArgument,
                  fmt::format("'{}' is there already; take another name or --dir, or remove it",
                              folder.string()));
  }
  std::string unfinished = (folder.parent_path() / ("." + folder.filename().string() + ".XXXXXX"));
  if (!mkdtemp(unfinished.data())) {
    return IoError(folder.parent_path(), "takes no new folder", errno);
  }
  Status status = WriteFiles(unfinished, files);
  if (status.ok()) {
    fs::rename(unfinished, folder, ec);
    if (ec) status = IoError(folder, "cannot be made", ec.value());
  }
  if (!status.ok()) fs::remove_all(unfinished, ec);
  return status;
}

// Whether a shell finds this program, and CMake the package beside it, by PATH: CMake looks into
// the folder above each that is called bin.
bool OnPath() {
  const char* path = getenv("PATH");
  std::istringstream list(path ? path : "");
  const fs::path own = OwnFolder();
  for (std::string item; std::getline(list, item, ':');) {
    std::error_code ec;
    if (!item.empty() && fs::canonical(item, ec) == own && fs::path(item).filename() == "bin") {
      return true;
    }
  }
  return false;
}

// As one word of a shell.
std::string Quoted(const std::string& word) {
  const bool plain =
      word.find_first_not_of(
          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-") == word.npos;
  return plain ? word : "'" + Replaced(word, "'", "'\\''") + "'";
}

// The commands that the README says, for a shell that stands where this program does.
std::string CommandsOf(const std::vector<File>& files, const fs::path& folder) {
  const auto readme =
      std::find_if(files.begin(), files.end(), [](const File& f) { return f.name == "README.md"; });
  std::string out = fmt::format("  cd {}\n", Quoted(folder.string()));
  if (readme == files.end()) return out;
  constexpr std::string_view kBegin = "```sh\n";
  const size_t at = readme->text.find(kBegin);
  if (at == std::string::npos) return out;
  std::istringstream lines(readme->text.substr(at + kBegin.size()));
  for (std::string line; std::getline(lines, line) && line != "```";) {
    if (!OnPath()) {
      const fs::path prefix = OwnFolder().parent_path();
      line = Replaced(line, "-B build ",
                      fmt::format("-B build -DCMAKE_PREFIX_PATH={} ", Quoted(prefix.string())));
      if (line.rfind("ge ", 0) == 0) line = Quoted(OwnFile().string()) + line.substr(2);
    }
    out += "  " + line + "\n";
  }
  return out;
}

Status Make(const NewPlugin& wanted) {
  GE_RETURN_IF_ERROR(CheckName(wanted.name));
  std::error_code ec;
  if (!fs::is_directory(wanted.dir, ec)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--dir is '{}', which is no folder", wanted.dir));
  }
  GE_ASSIGN_OR_RETURN(const std::vector<File> files, FilesOf(wanted));
  const fs::path folder = fs::path(wanted.dir) / wanted.name;
  GE_RETURN_IF_ERROR(MakeFolder(folder, files));
  fmt::print("made the {} plugin '{}'; build, test and run it by\n{}", wanted.kind, wanted.name,
             CommandsOf(files, folder));
  return {};
}

}  // namespace

int MakeNewPlugin(const NewPlugin& wanted) {
  const Status status = Make(wanted);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
