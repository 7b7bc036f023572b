// transpose-images: where rows of channels [N,HW,C] become an image [N,C,H,W] by Transpose and
// Reshape, or an image becomes such rows, the Reshape is done on the side of the rows and the
// Transpose moves the image's axes: that is only another layout, in which a convolution may read
// and leave its image, and then nothing is moved. Changes the graph through the Transaction alone;
// holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class TransposeImages : public Pass {
 public:
  std::string_view name() const override { return "transpose-images"; }
  std::string_view summary() const override {
    return "rows that are transposed into an image, and back, are transposed as the image";
  }
  PassKind kind() const override { return PassKind::kLower; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
