// split-dequantize: where several nodes read the floats of one DequantizeLinear and each quantizes
// its result again, gives every one of them a DequantizeLinear of its own, so an engine can take it
// with its quantized values as one pattern (see quantized_groups.h). Changes the graph through the
// Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class SplitDequantize : public Pass {
 public:
  std::string_view name() const override { return "split-dequantize"; }
  std::string_view summary() const override {
    return "who quantizes again what it makes of codes reads them through a DequantizeLinear alone";
  }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
