#include "ge/stage/pass.h"

namespace ge {

Status Pass::SetOptions(std::string_view options) {
  if (options.empty()) return {};
  return Status(Code::kInvalidArgument,
                PassLabel(*this) + " takes no options, found '" + std::string(options) + "'");
}

std::string PassLabel(const Pass& pass) {
  std::string out = "pass '" + std::string(pass.name()) + "'";
  if (!pass.plugin().empty()) out += " of plugin '" + std::string(pass.plugin()) + "'";
  return out;
}

}  // namespace ge
