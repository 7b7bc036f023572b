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

std::string Printer::PayloadText(const Const& c) const {
  if (!c.external.file.empty()) {
    std::string out = fmt::format("external {} @{} +{}", Quote(c.external.file), c.external.offset,
                                  c.external.length);
    if (!c.external.sha256.empty()) out += fmt::format(" sha256 {}", Quote(c.external.sha256));
    return out;
  }
  const DType dtype = c.type.is_tensor() ? c.type.dtype : DType::kUndefined;
  const int bits = DTypeBits(dtype);
  if (!c.splat.empty()) {
    std::string out = "splat ";
    if (bits == static_cast<int>(8 * c.splat.size()) &&
        AppendElement(dtype, c.splat.data(), 0, &out)) {
      return out;
    }
    return fmt::format("splat hex\"{}\"", ToHex(c.splat.data(), c.splat.size()));
  }
  if (dtype == DType::kString || !c.strings.empty()) {
    if (options_.elide && c.strings.size() > kReadableElements) {
      return fmt::format("elided {} strings", c.strings.size());
    }
    std::string out = "[";
    for (const std::string& s : c.strings) out += (out.size() > 1 ? ", " : "") + Quote(s);
    return out + "]";
  }
  if (!c.data || c.bytes == 0) return "[]";
  const uint64_t count = bits >= 8 ? c.bytes / (bits / 8) : c.bytes;
  const bool fits = c.type.is_static() && ByteCount(c.type) == static_cast<int64_t>(c.bytes);
  if (count <= kReadableElements && fits) {
    const bool scalar = c.type.rank() == 0;
    std::string out = scalar ? "" : "[";
    if (AppendElements(dtype, c.data, count, &out)) return out + (scalar ? "" : "]");
  }
  if (options_.elide && count > kReadableElements) return fmt::format("elided {} bytes", c.bytes);
  return fmt::format("hex\"{}\"", ToHex(c.data, c.bytes));
}

std::string Printer::ConstText(const Const& c) {
  return fmt::format("{} = {}", TypeText(c.type), PayloadText(c));
}

}  // namespace ge::text
