// drop-identity: removes nodes that hand their input on unchanged: Identity, a Cast to the
// present type, a Reshape and the like to the present shape, a Transpose that keeps the order, a
// Concat of one tensor. It keeps nodes giving a parameter or a result a second name: the user
// asked for both names. Changes the graph through the Transaction alone; holds no state between
// runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class DropIdentity : public Pass {
 public:
  std::string_view name() const override { return "drop-identity"; }
  std::string_view summary() const override {
    return "what hands its input on as it is disappears; its readers read what it read";
  }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
