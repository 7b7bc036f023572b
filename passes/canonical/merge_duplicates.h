// merge-duplicates: common subexpressions. Not nodes with effects, random results or bodies, and
// not across different no_cse_group hints. Changes the graph through the Transaction alone; holds
// no state between runs; one thread.
#pragma once

#include "ge/stage/pass.h"

namespace ge {

class MergeDuplicates : public Pass {
 public:
  std::string_view name() const override { return "merge-duplicates"; }
  std::string_view summary() const override { return "two nodes that compute the same become one"; }
  Status Run(Transaction& transaction, const PassContext& context) override;
};

}  // namespace ge
