// Analytic prices that the kinds of the engine `native` share: they name no kind. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/price.h"

namespace ge_engines::cpu::native {

// What a unit costs beside one step: ns of arithmetic by one thread, without its posts.
struct WorkCost {
  double ns = 0;
  std::optional<double> bytes = std::nullopt;     // read and made; absent: all of the unit's values
  std::optional<double> elements = std::nullopt;  // that threads share; absent: those of the result
  bool packs = true;                              // constants are laid out
};
Price WorkPrice(const Unit& unit, const Parser& parser, const Machine& machine,
                const WorkCost& cost);

// A loop over all of x and the result: ns an element of x beside the bytes, and elements of the
// result that are moved alone, by no vectors.
Price LoopPrice(const Unit& unit, const Parser& parser, const Machine& machine,
                double ns_per_element, int64_t moved_alone = 0);

// A view inside a segment, a copy at its border. `apart`: the copy's neighbours lie apart.
Price ViewPrice(const Unit& unit, const Parser& parser, const Machine& machine, bool apart);

// ns on all threads, with the posts done on its tiles. The caller states workspace and packs.
Price TiledPrice(const Unit& unit, const Parser& parser, const Machine& machine, double ns);

// Sums of convolutions, ns by one thread, which read weights as they come; `buffer`: bytes of one
// thread's.
Price SumsPrice(const Unit& unit, const Parser& parser, const Machine& machine, double ns,
                Finish finish, uint64_t buffer);

constexpr double kMovedApartNs = 1;  // an element that is moved alone, by no vectors

}  // namespace ge_engines::cpu::native
