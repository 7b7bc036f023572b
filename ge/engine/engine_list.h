// Parses the engine list of a session and opens its engines.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/engine/engine.h"

namespace ge {

struct EngineSpec {
  std::string name;     // or a path with a slash
  std::string options;  // "key=value;key=value", quoted as it was: see ge_create_args.options
};
// "onednn,devsim:wrap=ref;delay=3" -> specs. A path or a value with , ; or : in it begins and ends
// with " or ' and holds that character nowhere else: devsim:wrap="a;b,c";delay=3. INVALID_ARGUMENT
// on an empty item, on a quote that does not end or does not end the value, and on an option
// without key or value.
Result<std::vector<EngineSpec>> ParseEngineList(std::string_view list);

// Whether engines may transform operands where that is faster (Winograd); see docs/numerics.md.
enum class Numerics : uint8_t { kFast, kExact };
// "fast", "exact"; INVALID_ARGUMENT for anything else; `what` names its source.
Result<Numerics> NumericsFromName(std::string_view name, std::string_view what);

// Precision to which engines may round inputs of products; see docs/numerics.md.
enum class Precision : uint8_t { kF32, kBf16 };
// "f32", "bf16"; INVALID_ARGUMENT for anything else; `what` names its source.
Result<Precision> PrecisionFromName(std::string_view name, std::string_view what);

// Opens the engines of the list, in its order, by `open`. An empty list means every engine found;
// then one that fails to start is left out with a warning, and one whose device is not here
// (GE_UNAVAILABLE) with a line at level 2. FAILED_PRECONDITION where there is
// none.
using OpenEngine = std::function<Result<std::shared_ptr<Engine>>(
    const std::shared_ptr<const Plugin>& plugin, const std::string& options)>;
Result<EngineList> OpenEngines(const std::vector<EngineSpec>& list, const OpenEngine& open);

}  // namespace ge
