// A folder of pictures: one folder a class, named after it, classes in the order of their names.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ge/control/image_codecs.h"
#include "tools/ge/train/samples.h"

namespace ge::tool {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> Sorted(const fs::path& folder, bool folders) {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory() == folders && entry.path().filename().string()[0] != '.') {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

struct Picture {
  std::vector<uint8_t> pixels;  // rows, columns, channels
  int64_t height = 0, width = 0;
};

Result<Picture> Decode(const fs::path& path, int64_t channels) {
  GE_ASSIGN_OR_RETURN(const DecodeImageFn decode, ImageCodecs());
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in) return Status(Code::kIoError, fmt::format("cannot read '{}'", path.string()));
  Picture made;
  ge_image_request request{};
  request.bytes = reinterpret_cast<const uint8_t*>(bytes.data()), request.size = bytes.size();
  request.order = channels == 1 ? GE_IMAGE_GRAYSCALE : GE_IMAGE_RGB;
  request.self = &made;
  request.reserve = [](void* self, int64_t h, int64_t w, int64_t c) {
    auto* to = static_cast<Picture*>(self);
    to->height = h, to->width = w;
    to->pixels.resize(static_cast<size_t>(h * w * c));
    return to->pixels.data();
  };
  if (decode(&request) == GE_IMAGE_OK) return made;
  return Status(Code::kDataCorrupt, fmt::format("'{}' is no picture that can be decoded: {}",
                                                path.string(), request.why));
}

// Channels first, as nets take them.
void Append(const Picture& p, int64_t channels, Rows* rows) {
  const auto area = static_cast<size_t>(p.height * p.width), c = static_cast<size_t>(channels);
  const size_t had = rows->bytes.size();
  rows->bytes.resize(had + area * c);
  for (size_t k = 0; k < c; ++k) {
    for (size_t i = 0; i < area; ++i) {
      rows->bytes[had + k * area + i] = static_cast<std::byte>(p.pixels[i * c + k]);
    }
  }
  ++rows->count;
}

Result<Samples> ReadClasses(const fs::path& folder, const std::vector<std::string>& classes,
                            int64_t channels) {
  Samples s;
  s.x.dtype = DType::kUint8, s.y.dtype = DType::kInt64;
  for (size_t k = 0; k < classes.size(); ++k) {
    for (const fs::path& path : Sorted(folder / classes[k], false)) {
      GE_ASSIGN_OR_RETURN(const Picture picture, Decode(path, channels));
      const std::vector<int64_t> dims = {channels, picture.height, picture.width};
      if (s.x.count == 0) s.x.dims = dims;
      if (s.x.dims != dims) {
        return Status(Code::kInvalidArgument,
                      fmt::format("'{}' is {}x{} pixels, wanted {}x{} as the first one; make all "
                                  "pictures of one size",
                                  path.string(), dims[2], dims[1], s.x.dims[2], s.x.dims[1]));
      }
      Append(picture, channels, &s.x);
      const auto label = static_cast<int64_t>(k);
      s.y.bytes.resize(s.y.bytes.size() + 8), ++s.y.count;
      std::memcpy(s.y.bytes.data() + s.y.bytes.size() - 8, &label, 8);
    }
  }
  return s;
}

}  // namespace

Result<Data> ReadPictures(const std::string& folder, int64_t channels) {
  const bool parts = fs::is_directory(fs::path(folder) / "train");
  const fs::path train = parts ? fs::path(folder) / "train" : fs::path(folder),
                 test = fs::path(folder) / "test";
  std::vector<std::string> classes;
  for (const fs::path& path : Sorted(train, true)) classes.push_back(path.filename().string());
  Data data;
  GE_ASSIGN_OR_RETURN(data.train, ReadClasses(train, classes, channels));
  if (data.train.x.count == 0) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("'{}' has neither idx files nor a folder of pictures for each class", folder));
  }
  if (!parts || !fs::is_directory(test)) return data;
  for (const fs::path& path : Sorted(test, true)) {
    const std::string name = path.filename().string();
    if (std::find(classes.begin(), classes.end(), name) != classes.end()) continue;
    return Status(Code::kInvalidArgument, fmt::format("'{}' is of a class that '{}' does not have",
                                                      path.string(), train.string()));
  }
  GE_ASSIGN_OR_RETURN(data.test, ReadClasses(test, classes, channels));
  return data;
}

}  // namespace ge::tool
