#include "ge/session/bound_key.h"

#include <span>

#include "frontend/text/text.h"
#include "ge/base/sha256.h"

namespace ge {

std::string BoundKey(const Graph& bound, FunctionId fn) {
  PrintOptions options;
  options.elide = true;
  const std::string text = PrintText(bound, options) + std::to_string(fn);
  return Sha256(std::as_bytes(std::span(text.data(), text.size()))).substr(0, 32);
}

}  // namespace ge
