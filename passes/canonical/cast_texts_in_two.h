// cast-texts-in-two: a Cast or CastLike between texts and floats below 32 bits goes by way of a
// wider type: the host reads texts as f64 and writes them from f32, and an engine does the rest
// with its own rounding and saturation. Not casts of other types, which the host does alone.
// Changes the graph through the Transaction alone; holds no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class CastTextsInTwo : public Pass {
 public:
  std::string_view name() const override { return "cast-texts-in-two"; }
  std::string_view summary() const override {
    return "texts become floats below 32 bits, and these texts, by way of a wider type";
  }
  PassKind kind() const override { return PassKind::kLower; }
  uint8_t phases() const override { return kAtLoad; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
