// Samples: what a net is trained on and tested with, in memory as the files had it, and its
// readers. A reader answers IO_ERROR for a file that cannot be read, DATA_CORRUPT for one that is
// damaged, INVALID_ARGUMENT for data that does not fit, each naming the file. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
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
};

struct Samples {
  Rows x, y;  // y: int64 classes of no axes, or numbers of any shape; empty = there are no labels
};

struct Data {
  Samples train, test;  // test may be empty
};

// `source`: fashion-mnist (Debian's package dataset-fashion-mnist), a folder of idx files by the
// names of MNIST (.gz too), a folder of pictures (train/CLASS/FILE and test/CLASS/FILE, or
// CLASS/FILE), or a .npz with x_train, y_train, x_test and y_test, or x and y. `channels`: of
// pictures, 1 or 3.
Result<Data> ReadData(const std::string& source, int64_t channels);

Result<Rows> ReadIdx(const std::string& path);  // .gz or not
Result<Data> ReadNpz(const std::string& path);
Result<Data> ReadPictures(const std::string& folder, int64_t channels);
// Of a class by number; INVALID_ARGUMENT unless they are whole numbers.
Result<Rows> AsClasses(Rows y, const std::string& what);

// One of a .npy file's bytes, of rows along its first axis.
Result<Rows> ParseNpy(std::span<const std::byte> bytes, const std::string& what);

// Copies rows, `order` says which, as the dtype of an input: whole numbers of 8 bits are divided by
// 255 where floats are wanted, else numbers keep their value. INVALID_ARGUMENT where a float would
// have to become a whole number.
Status Gather(const Rows& rows, std::span<const uint32_t> order, DType as, void* to);

}  // namespace ge::tool
