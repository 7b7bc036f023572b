#include "ge/engine/plugin/record.h"

#include <fmt/format.h>

namespace ge {

Status WantUnderstood(const ge_hdr& header, std::string_view what) {
  const ge_hdr* extension = ge_not_understood(&header, nullptr, 0);
  if (extension == nullptr) return {};
  if (!(extension->flags & GE_HDR_MUST_UNDERSTAND)) {
    return Status(
        Code::kPluginError,
        fmt::format("{} has more than 64 extensions; does its chain of `next` end?", what));
  }
  return Status(
      Code::kPluginError,
      fmt::format("{} carries extension {:#x}, which must be understood and which this "
                  "host (ABI {}.{}) does not know; use a newer host, or a plugin that can "
                  "do without",
                  what, extension->tag, GE_ABI_MAJOR, GE_ABI_MINOR));
}

Status WantFirstSize(const ge_hdr& header, uint32_t first, std::string_view what) {
  if (header.size >= first) return {};
  return Status(Code::kPluginError, fmt::format("{} says that it is {} bytes, wanted at least {}; "
                                                "initialise its header with GE_HDR",
                                                what, header.size, first));
}

}  // namespace ge
