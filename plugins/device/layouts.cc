#include "plugins/device/layouts.h"

#include <algorithm>

#include "plugins/device/engine.h"

namespace ge_engines::device {

bool IsImage(const Parser& parser, uint32_t value) {
  if (value == 0 || parser.constant(value) || !parser.IsReal(parser.dtype(value))) return false;
  const Dims d = parser.dims(value);
  return d.size() >= 3 && d.size() <= 5 && d[1] > 1 && Product(Dims(d.begin() + 2, d.end())) > 1;
}

bool IsLaidOut(const Unit& unit, const Parser& parser, uint32_t value) {
  if (!IsImage(parser, value)) return false;
  const size_t filter = unit.kind().filter != nullptr ? unit.kind().filter(unit) : 0;
  for (size_t i = 0; i < unit.in.size(); ++i) {
    if (unit.in[i] == value && (filter == 0 || i != filter)) return true;
  }
  if (std::count(unit.out.begin(), unit.out.end(), value) > 0) return true;
  return parser.dims(value) == unit.dims &&
         std::any_of(unit.post_ops.begin(), unit.post_ops.end(),
                     [value](const PostOp& q) { return q.operand == value; });
}

bool AllLaidOut(const Unit& unit, const Parser& parser) {
  const auto lies = [&](uint32_t v) { return IsLaidOut(unit, parser, v); };
  return lies(unit.in[0]) && lies(unit.out[0]) &&
         std::all_of(unit.bias.begin(), unit.bias.end(),
                     [&](uint32_t v) { return Product(parser.dims(v)) == unit.dims[1]; }) &&
         std::all_of(unit.post_ops.begin(), unit.post_ops.end(),
                     [&](const PostOp& q) { return q.operand == 0 || lies(q.operand); });
}

LayoutTag LayoutRead(const Unit& unit, const Parser& parser, const TagOfValue& tag) {
  const auto of = [&](uint32_t v) { return IsLaidOut(unit, parser, v) ? tag(v) : LayoutTag{}; };
  for (uint32_t v : unit.in) {
    if (const LayoutTag t = of(v); !t.plain()) return t;
  }
  for (const PostOp& q : unit.post_ops) {
    if (const LayoutTag t = of(q.operand); !t.plain()) return t;
  }
  return {};
}

LayoutTag LayoutOfWork(const Engine& engine, const Unit& unit, const Parser& parser,
                       const TagOfValue& tag) {
  if (engine.Layouts().empty()) return {};
  if (const auto liked = engine.Prefers(unit, parser)) return *liked;
  return engine.KeepsLayout(unit, parser) ? LayoutRead(unit, parser, tag) : LayoutTag{};
}

}  // namespace ge_engines::device
