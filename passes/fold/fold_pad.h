// fold-pad: turns a Pad of spatial axes before Conv, MaxPool or AveragePool into pads of theirs:
// zeros before Conv, and before an AveragePool that had no pads or counted them; the least number
// before MaxPool. Exporters of "same" padding write so, where one end gets more than the other.
// Other readers of the Pad keep it. Changes the graph through the Transaction alone; holds no state
// between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class FoldPad : public Pass {
 public:
  std::string_view name() const override { return "fold-pad"; }
  std::string_view summary() const override {
    return "a Pad before a convolution or a pool becomes its own pads";
  }
  PassKind kind() const override { return PassKind::kLower; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
