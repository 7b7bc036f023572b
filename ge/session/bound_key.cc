#include "ge/session/bound_key.h"

#include <fmt/format.h>

#include <span>

#include "frontend/text/text.h"
#include "ge/base/sha256.h"
#include "ge/engine/resident/pack_hash.h"

namespace ge {

std::string BoundKey(const Graph& bound, FunctionId fn) {
  PrintOptions options;
  options.elide = true;
  const std::string text = PrintText(bound, options) + std::to_string(fn);
  return Sha256(std::as_bytes(std::span(text.data(), text.size()))).substr(0, 32);
}

std::string ExactKey(const Graph& bound, FunctionId fn) {
  std::string text = BoundKey(bound, fn);
  for (const Value& v : bound.fn(fn).values) {
    if (v.constant == 0) continue;
    const Const& c = bound.consts[v.constant];
    const auto bytes = c.data != nullptr ? std::span(c.data, c.bytes) : std::span(c.splat);
    text += fmt::format(" {:x}", PackHash(bytes));
  }
  return Sha256(std::as_bytes(std::span(text.data(), text.size()))).substr(0, 32);
}

}  // namespace ge
