// fold-taps: cuts off rows and columns of a convolution's constant weights that meet only padding
// at every position of the result, and the pads with them. So a dilation wider than the image
// leaves the middle of a 3x3 window: torchvision's DeepLab reaches 36 places to each side of 33 (a
// 520 pixels' image), and a window of nine that multiplies zeros with eight becomes one of one.
// Changes the graph through the Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class FoldTaps : public Pass {
 public:
  std::string_view name() const override { return "fold-taps"; }
  std::string_view summary() const override {
    return "weights of a convolution that only ever meet padding are cut off";
  }
  PassKind kind() const override { return PassKind::kLower; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
