// Analytic prices shared by the kinds of the engine `native`; they name no kind. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/price.h"

namespace ge_engines::cpu::native {

// Cost of a unit beside one step: ns of arithmetic by one thread, without its post-ops.
struct WorkCost {
  double ns = 0;
  std::optional<double> bytes = std::nullopt;     // read and made; absent: all of the unit's values
  std::optional<double> elements = std::nullopt;  // that threads share; absent: those of the result
  bool packs = true;                              // constants are laid out
};
Price WorkPrice(const Unit& unit, const Parser& parser, const Machine& machine,
                const WorkCost& cost);

// Price of a loop over all of x and the result: ns an element of x beside the bytes, and elements
// of the result moved one by one, without vectors.
Price LoopPrice(const Unit& unit, const Parser& parser, const Machine& machine,
                double ns_per_element, int64_t moved_alone = 0);

// A view inside a segment, a copy at its border. `apart`: the copy reads elements one by one.
Price ViewPrice(const Unit& unit, const Parser& parser, const Machine& machine, bool apart);

// Price of `ns` on all threads, with post-ops on tiles. The caller adds workspace and packs.
Price TiledPrice(const Unit& unit, const Parser& parser, const Machine& machine, double ns);

// Price of a convolution's sums, `ns` by one thread, with unpacked weights; `buffer`: bytes of one
// thread's buffer.
Price SumsPrice(const Unit& unit, const Parser& parser, const Machine& machine, double ns,
                Finish finish, uint64_t buffer);

constexpr double kMovedApartNs = 1;  // an element that is moved alone, by no vectors

}  // namespace ge_engines::cpu::native
