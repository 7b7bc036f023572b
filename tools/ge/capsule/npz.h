// NumPy's .npz: named arrays in a ZIP, as numpy.savez writes them. Any thread may call.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ge/base/mapped_file.h"
#include "ge/base/status.h"
#include "ge/ir/dtype.h"

namespace ge::tool {

struct NpzArray {
  DType dtype = DType::kUndefined;
  std::vector<int64_t> dims;
  std::span<const std::byte> data;
};

struct Npz {
  std::shared_ptr<const MappedFile> file;  // of the data
  std::map<std::string, NpzArray> arrays;  // by name
};

// IO_ERROR, DATA_CORRUPT with the file, the array and the field; arrays of what are no numbers are
// left out. UNSUPPORTED where it is compressed.
Result<Npz> ReadNpz(const std::string& path);

}  // namespace ge::tool
