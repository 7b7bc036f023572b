#include "ge/engine/plugin/plugin_filter.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace ge {
namespace {

constexpr size_t kMostListBytes = size_t{1} << 20;  // 10,000 lines with long names
constexpr size_t kDigits = 64;

// The first of the globs that one of the names matches, empty for none.
std::string Matching(const std::vector<std::string>& globs, const std::vector<std::string>& names) {
  for (const std::string& glob : globs) {
    for (const std::string& name : names) {
      if (fnmatch(glob.c_str(), name.c_str(), 0) == 0) return glob;
    }
  }
  return "";
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::vector<std::string> SplitGlobs(std::string_view list) {
  std::vector<std::string> globs;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    if (end != 0) globs.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return globs;
}

PluginFilter PluginFilter::OfEnvironment() {
  const char* enable = secure_getenv("GE_PLUGIN_ENABLE");
  const char* disable = secure_getenv("GE_PLUGIN_DISABLE");
  return {SplitGlobs(enable ? enable : ""), SplitGlobs(disable ? disable : "")};
}

std::string PluginFilter::WhySkipped(const std::vector<std::string>& names) const {
  if (const std::string glob = Matching(disable, names); !glob.empty()) {
    return fmt::format("'{}' of $GE_PLUGIN_DISABLE leaves it out", glob);
  }
  if (enable.empty() || !Matching(enable, names).empty()) return "";
  return fmt::format("$GE_PLUGIN_ENABLE is '{}', which is none of its names ({})",
                     fmt::join(enable, ","), fmt::join(names, ", "));
}

Result<std::set<std::string>> ParseAllowList(std::string_view text, const std::string& path) {
  std::set<std::string> digests;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    line.remove_prefix(begin);
    const std::string digest = Lower(line.substr(0, line.find_first_of(" \t\r")));
    if (digest.size() != kDigits ||
        digest.find_first_not_of("0123456789abcdef") != std::string::npos) {
      return Status(Code::kDataCorrupt,
                    fmt::format("line {} of the list '{}' begins with '{:.80}', wanted a SHA-256 "
                                "digest of 64 hexadecimal digits, as sha256sum prints it",
                                number, path, digest));
    }
    digests.insert(digest);
  }
  return digests;
}

Status CheckAllowed(const TrustedFile& file, const std::string& path, const WritersRule& rule) {
  const char* list = secure_getenv("GE_PLUGIN_ALLOW");
  if (list == nullptr) return {};
  auto refuse = [&](const std::string& why) {
    return Status(Code::kFailedPrecondition, fmt::format("plugin '{}' is refused: {}", path, why));
  };
  std::error_code ec;
  const std::string real = std::filesystem::canonical(list, ec).string();
  if (ec) {
    return refuse(
        fmt::format("the list of allowed plugins '{}' ($GE_PLUGIN_ALLOW) cannot be read: "
                    "{}; name a file of SHA-256 digests, or unset it",
                    list, ec.message()));
  }
  auto opened = TrustedFile::Open("list of allowed plugins", real, rule);
  if (!opened.ok()) return refuse(opened.status().message());
  auto text = opened->Read(kMostListBytes);
  if (!text.ok()) return refuse(text.status().message());
  auto digests = ParseAllowList(*text, real);
  if (!digests.ok()) return refuse(digests.status().message());
  GE_ASSIGN_OR_RETURN(const std::string digest, file.Sha256());
  if (digests->count(digest) != 0) return {};
  return refuse(
      fmt::format("its SHA-256 {} is not in the list of allowed plugins '{}' "
                  "($GE_PLUGIN_ALLOW); if it is what you want there, run sha256sum {} >> "
                  "{}",
                  digest, real, path, real));
}

}  // namespace ge
