// Amount: how much a random step does: a number, or a state that the program sets between steps,
// written @NAME or @NAME=FIRST.
#pragma once

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

}  // namespace ge::data
