#include "tools/ge/train/samples.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>

#include "ge/base/checked.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

namespace fs = std::filesystem;

constexpr char kFashion[] = "/usr/share/datasets/fashion-mnist";

// The file of MNIST's name in the folder, packed or not; empty = neither is there.
std::string IdxFile(const fs::path& folder, const std::string& name) {
  for (const char* end : {"", ".gz"}) {
    const fs::path path = folder / (name + end);
    if (fs::exists(path)) return path.string();
  }
  return {};
}

Result<Samples> ReadIdxPair(const fs::path& folder, const std::string& part) {
  const std::string x = IdxFile(folder, part + "-images-idx3-ubyte"),
                    y = IdxFile(folder, part + "-labels-idx1-ubyte");
  if (x.empty() || y.empty()) {
    return Status(Code::kIoError, fmt::format("'{}' has no {}-{}-ubyte or .gz", folder.string(),
                                              part, x.empty() ? "images-idx3" : "labels-idx1"));
  }
  Samples s;
  GE_ASSIGN_OR_RETURN(s.x, ReadIdx(x));
  GE_ASSIGN_OR_RETURN(s.y, ReadIdx(y));
  return s;
}

Result<Data> ReadIdxFolder(const fs::path& folder) {
  Data data;
  GE_ASSIGN_OR_RETURN(data.train, ReadIdxPair(folder, "train"));
  if (IdxFile(folder, "t10k-images-idx3-ubyte").empty()) return data;
  GE_ASSIGN_OR_RETURN(data.test, ReadIdxPair(folder, "t10k"));
  return data;
}

Result<Data> ReadAny(const std::string& source, int64_t channels) {
  if (source == "fashion-mnist") {
    if (fs::exists(kFashion)) return ReadIdxFolder(kFashion);
    return Status(Code::kIoError,
                  fmt::format("there is no {}; apt-get install dataset-fashion-mnist", kFashion));
  }
  if (!fs::exists(source)) {
    return Status(Code::kIoError,
                  fmt::format("--data is '{}', which is not there; wanted fashion-mnist, a folder "
                              "or a .npz file",
                              source));
  }
  if (!fs::is_directory(source)) return ReadNpz(source);
  if (!IdxFile(source, "train-images-idx3-ubyte").empty()) return ReadIdxFolder(source);
  return ReadPictures(source, channels);
}

Status CheckPart(const Samples& s, const std::string& what) {
  if (s.y.count == 0 || s.y.count == s.x.count) return {};
  return Status(Code::kInvalidArgument, fmt::format("{} has {} samples and {} labels, wanted one "
                                                    "for each",
                                                    what, s.x.count, s.y.count));
}

template <typename From, typename To>
void Convert(const std::byte* from, uint64_t n, double scale, std::byte* to) {
  for (uint64_t i = 0; i < n; ++i) {
    From v;
    std::memcpy(&v, from + i * sizeof v, sizeof v);
    const To made = scale == 1 ? static_cast<To>(v)
                               : static_cast<To>(static_cast<float>(v) / static_cast<float>(255));
    std::memcpy(to + i * sizeof made, &made, sizeof made);
  }
}

template <typename From>
bool ConvertFrom(const std::byte* from, uint64_t n, DType as, std::byte* to) {
  const double scale = sizeof(From) == 1 ? 255 : 1;
  const bool whole = std::is_integral_v<From>;
  if (as == DType::kFloat) return Convert<From, float>(from, n, scale, to), true;
  if (as == DType::kDouble) return Convert<From, double>(from, n, scale, to), true;
  if (as == DType::kInt64 && whole) return Convert<From, int64_t>(from, n, 1, to), true;
  if (as == DType::kInt32 && whole) return Convert<From, int32_t>(from, n, 1, to), true;
  return false;
}

bool ConvertRow(DType dtype, const std::byte* from, uint64_t n, DType as, std::byte* to) {
  switch (dtype) {
    case DType::kUint8:
      return ConvertFrom<uint8_t>(from, n, as, to);
    case DType::kInt32:
      return ConvertFrom<int32_t>(from, n, as, to);
    case DType::kInt64:
      return ConvertFrom<int64_t>(from, n, as, to);
    case DType::kFloat:
      return ConvertFrom<float>(from, n, as, to);
    case DType::kDouble:
      return ConvertFrom<double>(from, n, as, to);
    default:
      return false;
  }
}

}  // namespace

Result<Data> ReadData(const std::string& source, int64_t channels) {
  GE_ASSIGN_OR_RETURN(Data data, ReadAny(source, channels));
  GE_RETURN_IF_ERROR(CheckPart(data.train, "'" + source + "', to train on,"));
  GE_RETURN_IF_ERROR(CheckPart(data.test, "'" + source + "', to test with,"));
  return data;
}

Result<Rows> ParseNpy(std::span<const std::byte> bytes, const std::string& what) {
  const auto bad = [&](const std::string& text) {
    return Status(Code::kDataCorrupt, fmt::format("'{}' is not a usable array: {}", what, text));
  };
  const auto at = [&](size_t i) { return std::to_integer<size_t>(bytes[i]); };
  if (bytes.size() < 12 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0) {
    return bad("it does not begin as a .npy file");
  }
  const size_t head = at(6) >= 2 ? 12 : 10;
  const size_t length = at(8) | at(9) << 8 | (head == 12 ? at(10) << 16 | at(11) << 24 : 0);
  if (bytes.size() - head < length) return bad("it ends inside its header");
  TensorView view;
  std::string header(reinterpret_cast<const char*>(bytes.data()) + head, length);
  // Messages repeat parts of it.
  for (char& c : header) c = c >= ' ' && c <= '~' ? c : '?';
  GE_RETURN_IF_ERROR(ParseNpyHeader(what, header, &view));
  const auto count = CheckedProduct(view.dims);
  const auto size = count ? DTypeBytes(view.dtype, *count) : std::nullopt;
  bytes = bytes.subspan(head + length);
  if (view.dims.empty()) return bad("it is one number, wanted rows along an axis");
  if (!size || static_cast<uint64_t>(*size) != bytes.size()) {
    return bad(fmt::format("its shape does not fit its {} bytes", bytes.size()));
  }
  Rows rows;
  rows.dtype = view.dtype, rows.count = view.dims[0];
  rows.dims.assign(view.dims.begin() + 1, view.dims.end());
  rows.bytes.assign(bytes.begin(), bytes.end());
  return rows;
}

Result<Rows> AsClasses(Rows y, const std::string& what) {
  Rows made;
  made.dtype = DType::kInt64, made.count = y.count, made.dims = y.dims;
  uint64_t each = 1;
  for (const int64_t d : y.dims) each *= static_cast<uint64_t>(d);
  const uint64_t n = each * static_cast<uint64_t>(y.count);
  made.bytes.resize(n * 8);
  if (ConvertRow(y.dtype, y.bytes.data(), n, DType::kInt64, made.bytes.data())) return made;
  return Status(Code::kInvalidArgument,
                fmt::format("labels of {} are {}, wanted whole numbers", what, DTypeName(y.dtype)));
}

Status Gather(const Rows& rows, std::span<const uint32_t> order, DType as, void* to) {
  const uint64_t bytes = rows.row_bytes();
  uint64_t each = 1;
  for (const int64_t d : rows.dims) each *= static_cast<uint64_t>(d);
  auto* out = static_cast<std::byte*>(to);
  const auto made = static_cast<uint64_t>(DTypeBytes(as, static_cast<int64_t>(each)).value_or(0));
  for (const uint32_t i : order) {
    const std::byte* from = rows.bytes.data() + i * bytes;
    if (rows.dtype == as) {
      std::memcpy(out, from, bytes);
    } else if (!ConvertRow(rows.dtype, from, each, as, out)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("the data are {} and cannot become the net's {}",
                                DTypeName(rows.dtype), DTypeName(as)));
    }
    out += made;
  }
  return {};
}

}  // namespace ge::tool
