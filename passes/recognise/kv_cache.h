// recognise-kv-cache: turns the past of a decoder into states. The decoder takes its past keys and
// values as inputs, joins each with new rows (Concat) and gives it out again. The states are caches
// of a fixed capacity, to which ge.KvAppend adds rows, and their length. All shapes then have the
// capacity's size, the same for each token; row counts become arithmetic on the length, and
// operators adding up over rows are told the valid ones. Runs only on request, since inputs and
// outputs of the entry go. UNSUPPORTED, naming the node, for an operator without a rule for it.
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
