#include "ge/capsule/store/member_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/base/text/utf8.h"
#include "ge/capsule/store/zip_directory.h"

namespace ge {
namespace {

constexpr size_t kMostBytes = 1024, kMostPartBytes = 128;

const char* FaultOf(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > kMostBytes) return "it has more than 1024 bytes";
  if (!IsUtf8(name)) return "it is no UTF-8";
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "it has a control character";
    if (c == '\\') return "it has a backslash";
  }
  for (size_t at = 0; at <= name.size();) {
    const size_t slash = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, slash - at);
    if (part.empty()) return "a part of the path is empty";
    if (part == "." || part == "..") return "it leads elsewhere by '.' or '..'";
    at = slash + 1;
  }
  return nullptr;
}

}  // namespace

Status CheckMemberName(std::string_view name) {
  const char* fault = FaultOf(name);
  if (fault == nullptr) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("'{}' is no name of a member: {}", ShownName(name), fault));
}

std::string MemberPart(std::string_view name) {
  std::string out(name.substr(0, kMostPartBytes));
  for (char& c : out) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-';
    if (!kept) c = '_';
  }
  return out.empty() || out[0] == '.' ? "_" + out : out;
}

}  // namespace ge
