// The user's choice of plugins: globs over names, and a list of the only files that may be loaded.
// From the environment, but not in a setuid process. Any thread may call.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/plugin/plugin_file.h"

namespace ge {

// $GE_PLUGIN_ENABLE and $GE_PLUGIN_DISABLE: globs as of fnmatch(3), separated by commas. A plugin
// is left out when one of its names is disabled, or when some are enabled and none of its names is.
// They apply to searched plugins; a plugin named by its path is wanted.
struct PluginFilter {
  std::vector<std::string> enable, disable;  // an empty `enable` enables everything

  static PluginFilter OfEnvironment();
  // Why it is left out; empty where it is not. `names`: of the file, and of its contents as far as
  // known.
  std::string WhySkipped(const std::vector<std::string>& names) const;
};

// "a*,b" -> {"a*", "b"}, without empty items.
std::vector<std::string> SplitGlobs(std::string_view list);

// Digests of the only files that may be loaded. Lines as sha256sum prints them: 64 hexadecimal
// digits, then anything; empty lines and lines beginning with # are skipped. DATA_CORRUPT for any
// other, since half a list must not allow less, or more, than was meant. `path` for messages.
Result<std::set<std::string>> ParseAllowList(std::string_view text, const std::string& path);

// With $GE_PLUGIN_ALLOW set to such a list, FAILED_PRECONDITION unless the file's digest is on it.
// Strangers must not be able to write the list; an unreadable one allows nothing.
Status CheckAllowed(const TrustedFile& file, const std::string& path, const WritersRule& rule);

}  // namespace ge
