// transpose-images: where Transpose and Reshape turn rows of channels [N,HW,C] into an image
// [N,C,H,W], or an image into such rows, moves the Reshape to the side of the rows and lets the
// Transpose move the image's axes. Such a Transpose is only another layout: a convolution may read
// and leave its image in it, and then nothing is moved. Changes the graph through the Transaction
// alone; holds no state between runs; one thread.
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
