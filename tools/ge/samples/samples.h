// Samples: a net's data for training and tests, in memory with the files' dtypes, and their
// readers. A reader compares each header with the net's inputs before it reads as many bytes as the
// header claims. Errors name the file: IO_ERROR for an unreadable or not regular file, DATA_CORRUPT
// for a damaged file, INVALID_ARGUMENT for data that does not fit, LIMIT_EXCEEDED for more than the
// budget. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/ir/dtype.h"

namespace ge::tool {

// Rows of one dtype and shape, one behind the other.
struct Rows {
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;  // of one row
  int64_t count = 0;
  std::vector<std::byte> bytes;
  uint64_t row_bytes() const { return count ? bytes.size() / static_cast<uint64_t>(count) : 0; }
  // Elements of one row.
  uint64_t row_size() const;
};

struct Samples {
  std::vector<Rows> x;  // one for each input of the net, of equal counts; empty = no samples
  Rows y;               // the labels, one for each sample; empty = there are none
  int64_t count() const { return x.empty() ? 0 : x[0].count; }
};

struct Data {
  Samples train, test;  // test may be empty
};

// An input of the net, as one sample has it.
struct Wanted {
  std::string name;
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;  // none is negative
};

struct DataRequest {
  // fashion-mnist (Debian's package dataset-fashion-mnist), a folder of idx files by the names of
  // MNIST (.gz too), a folder of pictures (train/CLASS/FILE and test/CLASS/FILE, or CLASS/FILE), or
  // a .npz with arrays named after the inputs.
  std::string source;
  std::vector<Wanted> x;       // at least one
  std::optional<Wanted> y;     // the labels; nothing = the loss takes none
  bool classifies = false;     // labels are classes by number
  int64_t classes = -1;        // how many; -1 = not known
  std::string loss;            // for messages
  bool channels_last = false;  // arrays of 3 axes and more a sample are transposed
  bool test = true;            // read the samples to test with, too
  uint64_t limit = 0;          // bytes of memory; 0 = half of the machine's
};

Result<Data> ReadData(const DataRequest& request);

// Copies the rows in `order`, converted to the dtype of an input; FitRows has allowed it.
void Gather(const Rows& rows, std::span<const uint32_t> order, DType as, void* to);

// ---- for the readers ----------------------------------------------------------------------------

inline constexpr uint64_t kMostInflated = 1032;  // bytes that one of deflate may give

class DataReader {
 public:
  explicit DataReader(const DataRequest& request);
  const DataRequest& request() const { return request_; }
  // Call it before allocating: LIMIT_EXCEEDED if `what` takes more than is left.
  Status Take(uint64_t bytes, const std::string& what);
  // Checks a header's rows against `wanted` and allocates memory for their bytes. `what` names the
  // array or file.
  Status TakeRows(const Wanted& wanted, const std::string& what, Rows* rows);
  // LIMIT_EXCEEDED as Take; RESOURCE_EXHAUSTED if the system lacks the memory.
  Status Allocate(uint64_t bytes, const std::string& what, std::vector<std::byte>* to);

 private:
  const DataRequest& request_;
  uint64_t limit_ = 0, used_ = 0;
};

Result<Rows> ReadIdx(const std::string& path, const Wanted& wanted, DataReader* reader);
Result<Data> ReadNpz(const std::string& path, DataReader* reader);
Result<Data> ReadPictures(const std::string& folder, DataReader* reader);

// INVALID_ARGUMENT with advice, unless rows of this dtype and shape fit the input: equal shapes but
// for axes of size 1, or either shape flattened to one axis. `channels_last`: the input's shape
// with its first axis moved to the end.
Status FitRows(const Rows& head, const Wanted& wanted, bool channels_last, const std::string& what);
// Moves channels from behind the other axes to before them, in each row.
void PutChannelsFirst(const Wanted& wanted, Rows* rows);
// Checks that samples are complete: equal counts, and labels, if the net takes any, that are
// classes of the net. `what`: "samples to train on".
Status CheckSamples(const DataRequest& request, const std::string& what, const Samples& samples);
std::string DimsText(std::span<const int64_t> dims);

}  // namespace ge::tool
