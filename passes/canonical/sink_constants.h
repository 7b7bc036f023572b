// sink-constants: a constant captured by a body becomes the body's own, if all callers of the body
// hand it the same. Then shapes follow from it, and weights are known where they are packed; the
// parameter stays, unread. Exporters write constants outside of the loops using them. Changes the
// graph through the Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class SinkConstants : public Pass {
 public:
  std::string_view name() const override { return "sink-constants"; }
  std::string_view summary() const override {
    return "a constant that every call of a body hands to it becomes the body's own";
  }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
