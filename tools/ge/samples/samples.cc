#include "tools/ge/samples/samples.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <filesystem>

#include "ge/base/checked.h"
#include "tools/ge/samples/convert.h"

namespace ge::tool {
namespace {

namespace fs = std::filesystem;

constexpr char kFashion[] = "/usr/share/datasets/fashion-mnist";

bool Exists(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The file of MNIST's name in the folder, packed or not; empty = neither is there.
std::string IdxFile(const fs::path& folder, const std::string& name) {
  for (const char* end : {"", ".gz"}) {
    const fs::path path = folder / (name + end);
    if (Exists(path)) return path.string();
  }
  return {};
}

Result<Samples> ReadIdxPair(const fs::path& folder, const std::string& part, DataReader* reader) {
  const DataRequest& r = reader->request();
  const std::string x = IdxFile(folder, part + "-images-idx3-ubyte"),
                    y = IdxFile(folder, part + "-labels-idx1-ubyte");
  if (x.empty() || (y.empty() && r.y)) {
    return Status(Code::kIoError, fmt::format("'{}' has no {}-{}-ubyte or .gz", folder.string(),
                                              part, x.empty() ? "images-idx3" : "labels-idx1"));
  }
  Samples s;
  s.x.resize(1);
  GE_ASSIGN_OR_RETURN(s.x[0], ReadIdx(x, r.x[0], reader));
  if (r.y) {
    GE_ASSIGN_OR_RETURN(s.y, ReadIdx(y, *r.y, reader));
  }
  return s;
}

Result<Data> ReadIdxFolder(const fs::path& folder, DataReader* reader) {
  Data data;
  GE_ASSIGN_OR_RETURN(data.train, ReadIdxPair(folder, "train", reader));
  if (!reader->request().test || IdxFile(folder, "t10k-images-idx3-ubyte").empty()) return data;
  GE_ASSIGN_OR_RETURN(data.test, ReadIdxPair(folder, "t10k", reader));
  return data;
}

// Folders give the samples of one input, in the net's own layout.
Status CheckFolder(const DataRequest& r) {
  if (r.x.size() > 1) {
    std::string names;
    for (const Wanted& w : r.x) {
      names += fmt::format("{}{}_train", names.empty() ? "" : ", ", w.name);
    }
    return Status(Code::kInvalidArgument,
                  fmt::format("the net has {} inputs, of which '{}' would give one; wanted a .npz "
                              "with the arrays {}",
                              r.x.size(), r.source, names));
  }
  if (!r.channels_last) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("--layout nhwc is of arrays in a .npz; '{}' is brought into the net's "
                            "layout as it is: leave it out",
                            r.source));
}

Status CheckLayout(const DataRequest& r) {
  const bool pictures =
      std::any_of(r.x.begin(), r.x.end(), [](const Wanted& w) { return w.dims.size() > 2; });
  if (!r.channels_last || pictures) return {};
  return Status(Code::kInvalidArgument,
                "--layout nhwc is of pictures, and no input of the net has channels, rows and "
                "columns; leave it out");
}

Result<Data> ReadAny(DataReader* reader) {
  const DataRequest& r = reader->request();
  GE_RETURN_IF_ERROR(CheckLayout(r));
  if (r.source == "fashion-mnist") {
    GE_RETURN_IF_ERROR(CheckFolder(r));
    if (Exists(kFashion)) return ReadIdxFolder(kFashion, reader);
    return Status(Code::kIoError,
                  fmt::format("there is no {}; apt-get install dataset-fashion-mnist", kFashion));
  }
  std::error_code error;
  if (!Exists(r.source)) {
    return Status(Code::kIoError,
                  fmt::format("--data is '{}', which is not there; wanted fashion-mnist, a folder "
                              "or a .npz file",
                              r.source));
  }
  if (!fs::is_directory(r.source, error)) return ReadNpz(r.source, reader);
  GE_RETURN_IF_ERROR(CheckFolder(r));
  if (!IdxFile(r.source, "train-images-idx3-ubyte").empty()) {
    return ReadIdxFolder(r.source, reader);
  }
  return ReadPictures(r.source, reader);
}

}  // namespace

uint64_t Rows::row_size() const { return static_cast<uint64_t>(CheckedProduct(dims).value_or(0)); }

DataReader::DataReader(const DataRequest& request) : request_(request), limit_(request.limit) {
  if (limit_ != 0) return;
  limit_ = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
           static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

Status DataReader::Take(uint64_t bytes, const std::string& what) {
  if (bytes <= limit_ - used_) {
    used_ += bytes;
    return {};
  }
  return Status(Code::kLimitExceeded,
                fmt::format("{} takes {} bytes of memory, and {} are left of the {} that data may "
                            "take ({}); give --data-limit with more, as 8GB, or fewer samples",
                            what, bytes, limit_ - used_, limit_,
                            request_.limit != 0 ? "--data-limit" : "half of the machine's memory"));
}

Status DataReader::Allocate(uint64_t bytes, const std::string& what, std::vector<std::byte>* to) {
  GE_RETURN_IF_ERROR(Take(bytes, what));
  try {
    to->resize(bytes);
  } catch (const std::exception&) {  // bad_alloc, or length_error
    return Status(Code::kResourceExhausted,
                  fmt::format("{} takes {} bytes, which the system does not have", what, bytes));
  }
  return {};
}

Status DataReader::TakeRows(const Wanted& wanted, const std::string& what, Rows* rows) {
  const bool labels = request_.y && &wanted == &*request_.y;
  GE_RETURN_IF_ERROR(FitRows(*rows, wanted, request_.channels_last && !labels, what));
  const auto count = CheckedMul(rows->count, static_cast<int64_t>(rows->row_size()));
  const auto bytes = count ? DTypeBytes(rows->dtype, *count) : std::nullopt;
  return Allocate(bytes ? static_cast<uint64_t>(*bytes) : UINT64_MAX, what, &rows->bytes);
}

Result<Data> ReadData(const DataRequest& request) {
  DataReader reader(request);
  GE_ASSIGN_OR_RETURN(Data data, ReadAny(&reader));
  if (!request.test) data.test = {};
  GE_RETURN_IF_ERROR(CheckSamples(request, "samples to train on", data.train));
  GE_RETURN_IF_ERROR(CheckSamples(request, "samples to test with", data.test));
  return data;
}

void Gather(const Rows& rows, std::span<const uint32_t> order, DType as, void* to) {
  const uint64_t bytes = rows.row_bytes(), n = rows.row_size();
  const auto made = static_cast<uint64_t>(*DTypeBytes(as, static_cast<int64_t>(n)));
  auto* out = static_cast<std::byte*>(to);
  for (const uint32_t i : order) {
    ConvertNumbers(rows.dtype, rows.bytes.data() + i * bytes, n, as, out);
    out += made;
  }
}

}  // namespace ge::tool
