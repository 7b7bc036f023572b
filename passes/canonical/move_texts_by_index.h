// move-texts-by-index: engines take no texts. An operator that moves elements without looking at
// them moves their numbers instead, in a tensor of the same shape, and a Gather, which the host
// runs, fetches the texts behind the numbers that come out:
//   y = Where(c, a, b)   becomes   y = Gather(a and b behind each other, Where(c, 0.., |a|..))
// Not operators that look at texts (Unique, Equal): the host has them. Not what would add texts or
// mix them (ScatterND with a reduction, Resize but to the nearest): those stay and are refused.
// Changes the graph through the Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class MoveTextsByIndex : public Pass {
 public:
  std::string_view name() const override { return "move-texts-by-index"; }
  std::string_view summary() const override {
    return "what moves texts moves their numbers; a Gather fetches the texts";
  }
  PassKind kind() const override { return PassKind::kLower; }
  uint8_t phases() const override { return kAtLoad; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
