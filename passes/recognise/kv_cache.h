// recognise-kv-cache: a decoder that takes its past keys and values as inputs, joins each with new
// rows (Concat) and gives it out again, gets states in their place: caches of a fixed capacity that
// ge.KvAppend adds rows to, and their length. All shapes are then those of the capacity, the same
// for each token; what only counts rows becomes arithmetic on the length, and what adds up over
// rows is told which of them are there. Runs only where it is asked for, since inputs and outputs
// of the entry go. UNSUPPORTED, naming the node, where an operator has no rule for it.
// kv_cache_rewrite.h has the rules. Changes the graph through the Transaction; no state between
// runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class RecogniseKvCache : public Pass {
 public:
  std::string_view name() const override { return "recognise-kv-cache"; }
  std::string_view summary() const override {
    return "past keys and values that are inputs and outputs become states of a capacity";
  }
  PassKind kind() const override { return PassKind::kDerive; }
  uint8_t phases() const override { return kAtLoad | kWhenAsked; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
