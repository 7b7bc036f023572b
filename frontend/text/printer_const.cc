#include <fmt/format.h>

#include "frontend/text/elements.h"
#include "frontend/text/lexer.h"
#include "frontend/text/printer.h"

namespace ge::text {
namespace {

// `count` elements, comma-separated; false when one of them has no exact decimal form.
bool AppendElements(DType dtype, const std::byte* data, uint64_t count, std::string* out) {
  for (uint64_t i = 0; i < count; ++i) {
    if (i) *out += ", ";
    if (!AppendElement(dtype, data, i, out)) return false;
  }
  return true;
}

}  // namespace

std::string Printer::PayloadText(const Const& constant) const {
  if (!constant.external.file.empty()) {
    std::string out = fmt::format("external {} @{} +{}", Quote(constant.external.file),
                                  constant.external.offset, constant.external.length);
    if (!constant.external.sha256.empty())
      out += fmt::format(" sha256 {}", Quote(constant.external.sha256));
    return out;
  }
  const DType dtype = constant.type.is_tensor() ? constant.type.dtype : DType::kUndefined;
  const int bits = DTypeBits(dtype);
  if (!constant.splat.empty()) {
    std::string out = "splat ";
    if (bits == static_cast<int>(8 * constant.splat.size()) &&
        AppendElement(dtype, constant.splat.data(), 0, &out)) {
      return out;
    }
    return fmt::format("splat hex\"{}\"", ToHex(constant.splat.data(), constant.splat.size()));
  }
  if (dtype == DType::kString || !constant.strings.empty()) {
    if (options_.elide && constant.strings.size() > kReadableElements) {
      return fmt::format("elided {} strings", constant.strings.size());
    }
    std::string out = "[";
    for (const std::string& s : constant.strings) out += (out.size() > 1 ? ", " : "") + Quote(s);
    return out + "]";
  }
  if (!constant.data || constant.bytes == 0) return "[]";
  const uint64_t count = bits >= 8 ? constant.bytes / (bits / 8) : constant.bytes;
  const bool fits =
      constant.type.is_static() && ByteCount(constant.type) == static_cast<int64_t>(constant.bytes);
  if (count <= kReadableElements && fits) {
    const bool scalar = constant.type.rank() == 0;
    std::string out = scalar ? "" : "[";
    if (AppendElements(dtype, constant.data, count, &out)) return out + (scalar ? "" : "]");
  }
  if (options_.elide && count > kReadableElements)
    return fmt::format("elided {} bytes", constant.bytes);
  return fmt::format("hex\"{}\"", ToHex(constant.data, constant.bytes));
}

std::string Printer::ConstText(const Const& constant) {
  return fmt::format("{} = {}", TypeText(constant.type), PayloadText(constant));
}

}  // namespace ge::text
