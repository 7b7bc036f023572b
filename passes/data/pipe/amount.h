// Amount: a number of a step, or a state that the program sets between steps in its place, written
// @NAME or @NAME=FIRST.
#pragma once

#include <utility>

#include "passes/data/pipe/chain.h"

namespace ge::data {

struct Amount {
  double number = 0;
  Val state;  // f32[]; none = the number
};

// The step's only argument, above 0 and at most `most`; a state is kept within [0, most], whatever
// the program sets, and not read in a test part. RefuseStep.
Amount AmountOf(const Step& step, Chain* chain, double most, std::string_view wanted);

// A number is rounded where a state is, so that @NAME=0.1 and 0.1 give the same bits.
Amount Scaled(const Amount& amount, double scale);
Val Times(Val x, const Amount& amount);

// What numbers may be, and what a state is kept within, whatever the program sets.
struct Bounds {
  double least, most;
  double first;  // of a state without FIRST
};
// Of one word of a step; a state is read in a test part, too. RefuseStep.
Amount AmountIn(const Step& step, Chain* chain, const std::string& text, const Bounds& bounds,
                std::string_view wanted);
// LEAST..MOST, or one for both.
std::pair<Amount, Amount> AmountsIn(const Step& step, Chain* chain, const std::string& text,
                                    const Bounds& bounds, std::string_view wanted);
// f32[]
Val AsValue(Chain* chain, const Amount& amount);

}  // namespace ge::data
