// NetColumns: which column of a pipe each input of a net takes, and the rows of a batch as the
// input has them. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ge/batches/batches.h"
#include "tools/ge/samples/fit.h"

namespace ge::tool {

struct NetInputs {
  std::vector<RowType> x;      // at least one
  std::optional<RowType> y;    // the labels; nothing = the loss takes none
  bool classifies = false;     // labels are classes by number
  int64_t classes = -1;        // how many; -1 = not known
  std::string loss;            // for messages
  bool channels_last = false;  // columns of 3 axes and more a row are transposed
};

class NetColumns {
 public:
  // By name; the first input also takes the column x, the labels y; what is left in order, where
  // there are as many columns as inputs. INVALID_ARGUMENT with the columns. `pipe`: for messages.
  static Result<NetColumns> Make(const NetInputs& inputs, const std::vector<RowType>& columns,
                                 const std::string& pipe);
  size_t count() const { return of_.size(); }
  // Copies the batch's rows for an input, the labels behind the others: `to` has room for them.
  // INVALID_ARGUMENT, with the position of the row: a label that is no class of the net, a number
  // that its dtype does not hold.
  Status Put(const Batch& batch, size_t input, std::byte* to) const;

 private:
  const RowType& Wanted(size_t input) const;
  bool IsLabels(size_t input) const { return input == inputs_.x.size(); }
  Status PairRest(const std::vector<RowType>& columns, std::vector<bool> used);
  Status CheckRows(const Batch& batch, size_t input) const;

  NetInputs inputs_;
  std::string pipe_;
  std::vector<size_t> of_;  // by input, the column
};

}  // namespace ge::tool
