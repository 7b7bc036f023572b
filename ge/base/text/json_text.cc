#include "ge/base/text/json_text.h"

#include <fmt/format.h>

#include <new>

namespace ge {
namespace {

// Up to the first error of syntax brackets and strings are what the parser takes them for.
Status CheckBounds(std::string_view text, const JsonLimits& limits) {
  size_t depth = 0, values = 1;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    values += c == '[' || c == '{' || c == ',';
    if (depth > limits.depth) {
      return Status(Code::kDataCorrupt,
                    fmt::format("it nests deeper than {} levels at byte {}", limits.depth, i + 1));
    }
    if (values > limits.values) {
      return Status(Code::kDataCorrupt,
                    fmt::format("it holds more than {} values at byte {}", limits.values, i + 1));
    }
  }
  return {};
}

}  // namespace

Result<nlohmann::json> ParseJson(std::string_view text, const JsonLimits& limits) {
  GE_RETURN_IF_ERROR(CheckBounds(text, limits));
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    return Status(Code::kDataCorrupt, fmt::format("it is damaged at byte {}", e.byte));
  } catch (const nlohmann::json::exception&) {  // its text may quote the file's bytes
    return Status(Code::kDataCorrupt, "it holds a number beyond all that a double can hold");
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for the JSON of {} bytes", text.size()));
  }
}

}  // namespace ge
