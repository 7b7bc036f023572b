// Samples: what a net is trained on and tested with, in memory as the files had it, and its
// readers. A reader holds each header against what the net takes before it reads what the header
// claims. It answers IO_ERROR for what cannot be read or is no regular file, DATA_CORRUPT for a
// damaged file, INVALID_ARGUMENT for data that does not fit, LIMIT_EXCEEDED for more than the
// budget, each naming the file. One thread.
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

// Rows of one dtype and shape behind each other.
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

// Copies rows, `order` says which, as the dtype of an input, which FitRows has allowed.
void Gather(const Rows& rows, std::span<const uint32_t> order, DType as, void* to);

// ---- for the readers ----------------------------------------------------------------------------

inline constexpr uint64_t kMostInflated = 1032;  // bytes that one of deflate may give

class DataReader {
 public:
  explicit DataReader(const DataRequest& request);
  const DataRequest& request() const { return request_; }
  // Before memory is allocated: LIMIT_EXCEEDED where `what` takes more than is left.
  Status Take(uint64_t bytes, const std::string& what);
  // Of a header: whether such rows become `wanted`. Then they have the memory for their bytes.
  // `what` names the array or file.
  Status TakeRows(const Wanted& wanted, const std::string& what, Rows* rows);
  // LIMIT_EXCEEDED as Take; RESOURCE_EXHAUSTED where the system has no such memory.
  Status Allocate(uint64_t bytes, const std::string& what, std::vector<std::byte>* to);

 private:
  const DataRequest& request_;
  uint64_t limit_ = 0, used_ = 0;
};

Result<Rows> ReadIdx(const std::string& path, const Wanted& wanted, DataReader* reader);
Result<Data> ReadNpz(const std::string& path, DataReader* reader);
Result<Data> ReadPictures(const std::string& folder, DataReader* reader);

// INVALID_ARGUMENT, with what to do, unless rows of this dtype and shape become the input's: of its
// shape but for axes of size 1, or with either of both in one axis. `channels_last`: of its shape
// with the first axis behind the others.
Status FitRows(const Rows& head, const Wanted& wanted, bool channels_last, const std::string& what);
// Channels from behind the other axes to before them, in each row.
void PutChannelsFirst(const Wanted& wanted, Rows* rows);
// That samples are complete: of equal counts, with labels where some are wanted, which are of the
// classes that the net has. `what`: "samples to train on".
Status CheckSamples(const DataRequest& request, const std::string& what, const Samples& samples);
std::string DimsText(std::span<const int64_t> dims);

}  // namespace ge::tool
