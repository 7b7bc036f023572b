// A folder of pictures: one folder a class, named after it, classes in the order of their names.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "ge/base/checked.h"
#include "ge/base/read_file.h"
#include "ge/control/image_codecs.h"
#include "tools/ge/samples/samples.h"

namespace ge::tool {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostFileBytes = uint64_t{256} << 20;  // of an encoded picture

// What a folder holds, in the order of names; what begins with a dot is left out. Whether an entry
// is a folder is asked of what a link leads to; one that leads nowhere is none.
Result<std::vector<fs::path>> Sorted(const fs::path& folder, bool folders) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code none;
    if (at->is_directory(none) == folders && at->path().filename().string()[0] != '.') {
      found.push_back(at->path());
    }
  }
  if (error) {
    return Status(Code::kIoError,
                  fmt::format("cannot read the folder '{}': {}", folder.string(), error.message()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool IsFolder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

// How the net takes pictures: channels, 1 or 3, before rows and columns or behind them.
struct Kind {
  int64_t channels = 1;
  bool last = false;
};

Kind KindOf(const Wanted& wanted) {
  const std::vector<int64_t>& d = wanted.dims;
  if (d.size() != 3) return {};
  if (d[0] == 3) return {3, false};
  return d[0] != 1 && (d[2] == 3 || d[2] == 1) ? Kind{d[2], true} : Kind{};
}

std::vector<int64_t> RowDims(const Kind& kind, int64_t height, int64_t width) {
  if (kind.last) return {height, width, kind.channels};
  return {kind.channels, height, width};
}

class PictureReader {
 public:
  PictureReader(DataReader* reader, DecodeImageFn decode)
      : reader_(reader), decode_(decode), kind_(KindOf(reader->request().x[0])) {}
  Result<Samples> ReadClasses(const fs::path& folder, const std::vector<std::string>& classes);

 private:
  static uint8_t* Reserve(void* self, int64_t height, int64_t width, int64_t channels);
  Status CheckSize(int64_t height, int64_t width) const;
  Status Decode(const fs::path& path);
  void Append(Rows* rows) const;

  DataReader* reader_;
  DecodeImageFn decode_;
  Kind kind_;
  fs::path path_;                // of what is decoded
  std::vector<int64_t> first_;   // dims of the first picture
  std::vector<uint8_t> pixels_;  // rows, columns, channels
  int64_t height_ = 0, width_ = 0;
  Status refused_;  // by Reserve
};

// By its header alone, before anything of the picture's size is allocated.
Status PictureReader::CheckSize(int64_t height, int64_t width) const {
  const std::string what = "'" + path_.string() + "'";
  const std::vector<int64_t> dims = RowDims(kind_, height, width);
  if (!first_.empty() && dims != first_) {
    const size_t at = kind_.last ? 0 : 1;
    return Status(Code::kInvalidArgument,
                  fmt::format("{} is {}x{} pixels, wanted {}x{} as the first one; make all "
                              "pictures of one size",
                              what, width, height, first_[at + 1], first_[at]));
  }
  const Wanted& wanted = reader_->request().x[0];
  Rows head;
  head.dtype = DType::kUint8;
  head.dims = dims;
  if (FitRows(head, wanted, false, what).ok()) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("{} is a picture of {} ({}), wanted {} as the net's '{}'; bring all "
                            "pictures to that size",
                            what, DimsText(dims),
                            kind_.last ? "rows, columns, channels" : "channels, rows, columns",
                            DimsText(wanted.dims), wanted.name));
}

uint8_t* PictureReader::Reserve(void* self, int64_t height, int64_t width, int64_t channels) {
  auto* reader = static_cast<PictureReader*>(self);
  reader->refused_ = reader->CheckSize(height, width);
  if (!reader->refused_.ok()) return nullptr;
  reader->height_ = height;
  reader->width_ = width;
  reader->pixels_.resize(static_cast<size_t>(height * width * channels));
  return reader->pixels_.data();
}

Status PictureReader::Decode(const fs::path& path) {
  path_ = path;
  refused_ = {};
  GE_ASSIGN_OR_RETURN(const std::string bytes, ReadRegularFile(path.string(), kMostFileBytes));
  ge_image_request request{};
  request.bytes = reinterpret_cast<const uint8_t*>(bytes.data());
  request.size = bytes.size();
  request.order = kind_.channels == 1 ? GE_IMAGE_GRAYSCALE : GE_IMAGE_RGB;
  request.self = this;
  request.reserve = Reserve;
  if (decode_(&request) == GE_IMAGE_OK) return {};
  if (!refused_.ok()) return refused_;
  return Status(Code::kDataCorrupt, fmt::format("'{}' is no picture that can be decoded: {}",
                                                path.string(), request.why));
}

void PictureReader::Append(Rows* rows) const {
  const auto area = static_cast<size_t>(height_ * width_), c = static_cast<size_t>(kind_.channels);
  const size_t at = static_cast<size_t>(rows->count) * area * c;
  for (size_t k = 0; k < c; ++k) {
    for (size_t i = 0; i < area; ++i) {
      rows->bytes[at + (kind_.last ? i * c + k : k * area + i)] =
          static_cast<std::byte>(pixels_[i * c + k]);
    }
  }
  ++rows->count;
}

Result<Samples> PictureReader::ReadClasses(const fs::path& folder,
                                           const std::vector<std::string>& classes) {
  std::vector<std::pair<fs::path, int64_t>> all;
  for (size_t k = 0; k < classes.size(); ++k) {
    if (!IsFolder(folder / classes[k])) continue;  // a class may have no picture to test with
    GE_ASSIGN_OR_RETURN(const auto files, Sorted(folder / classes[k], false));
    for (const fs::path& path : files) all.emplace_back(path, static_cast<int64_t>(k));
  }
  Samples s;
  if (all.empty()) return s;
  const auto each =
      static_cast<uint64_t>(CheckedProduct(reader_->request().x[0].dims).value_or(INT64_MAX / 2));
  if (each > 0 && all.size() > UINT64_MAX / 2 / (each + 8)) {
    return Status(Code::kLimitExceeded, fmt::format("'{}' has too many pictures", folder.string()));
  }
  s.x.resize(1);
  Rows &x = s.x[0], &y = s.y;
  x.dtype = DType::kUint8;
  y.dtype = DType::kInt64;
  for (const auto& [path, label] : all) {
    GE_RETURN_IF_ERROR(Decode(path));
    if (x.count == 0) {
      first_ = x.dims = RowDims(kind_, height_, width_);
      const std::string what = fmt::format("'{}', of {} pictures,", folder.string(), all.size());
      GE_RETURN_IF_ERROR(reader_->Allocate(all.size() * each, what, &x.bytes));
      GE_RETURN_IF_ERROR(reader_->Allocate(all.size() * 8, what, &y.bytes));
    }
    Append(&x);
    std::memcpy(y.bytes.data() + y.count * 8, &label, 8);
    ++y.count;
  }
  return s;
}

}  // namespace

Result<Data> ReadPictures(const std::string& folder, DataReader* reader) {
  const fs::path root(folder), test = root / "test";
  const bool parts = IsFolder(root / "train");
  const fs::path train = parts ? root / "train" : root;
  Rows pixels, label;
  pixels.dtype = DType::kUint8;
  label.dtype = DType::kInt64;
  pixels.dims = reader->request().x[0].dims;
  GE_RETURN_IF_ERROR(
      FitRows(pixels, reader->request().x[0], false, fmt::format("a picture of '{}'", folder)));
  if (reader->request().y) {
    GE_RETURN_IF_ERROR(
        FitRows(label, *reader->request().y, false, fmt::format("a class of '{}'", folder)));
  }
  std::vector<std::string> classes;
  GE_ASSIGN_OR_RETURN(const auto folders, Sorted(train, true));
  for (const fs::path& path : folders) classes.push_back(path.filename().string());
  GE_ASSIGN_OR_RETURN(const DecodeImageFn decode, ImageCodecs());
  PictureReader pictures(reader, decode);
  Data data;
  GE_ASSIGN_OR_RETURN(data.train, pictures.ReadClasses(train, classes));
  if (data.train.count() == 0) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("'{}' has neither idx files nor a folder of pictures for each class", folder));
  }
  if (!reader->request().test || !parts || !IsFolder(test)) return data;
  GE_ASSIGN_OR_RETURN(const auto tested, Sorted(test, true));
  for (const fs::path& path : tested) {
    const std::string name = path.filename().string();
    if (std::find(classes.begin(), classes.end(), name) != classes.end()) continue;
    return Status(Code::kInvalidArgument, fmt::format("'{}' is of a class that '{}' does not have",
                                                      path.string(), train.string()));
  }
  GE_ASSIGN_OR_RETURN(data.test, pictures.ReadClasses(test, classes));
  return data;
}

}  // namespace ge::tool
