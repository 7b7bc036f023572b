// MNIST's idx files, plain or gzipped: column x, and y where a file of labels stands beside one of
// images. Format: "THE IDX FILE FORMAT" at the foot of LeCun's MNIST page.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "ge/ge_plugin.hpp"
#include "passes/data/sources/arrays.h"
#include "passes/data/sources/inflate.h"
#include "passes/data/sources/readers.h"

namespace ge::data {
namespace {

constexpr uint64_t kMostIdxRank = 31;

struct IdxArray {
  int32_t dtype = 0;
  std::vector<int64_t> dims;
  const std::byte* first = nullptr;
};

int32_t TypeOfIdx(const std::string& path, unsigned code) {
  switch (code) {
    case 0x08:
      return GE_U8;
    case 0x09:
      return GE_I8;
    case 0x0B:
      return GE_I16;
    case 0x0C:
      return GE_I32;
    case 0x0D:
      return GE_F32;
    case 0x0E:
      return GE_F64;
    default:
      throw Refusal{GE_DATA_LOSS,
                    fmt::format("'{}' is not a usable idx file: its type is {:#04x}, wanted 0x08, "
                                "0x09 or 0x0b to 0x0e",
                                path, code)};
  }
}

void SwapBytes(std::byte* at, uint64_t bytes, uint64_t size, const OpenOptions& options) {
  for (uint64_t i = 0; i < bytes; i += size) {
    if (i % kStopBytes == 0) CheckStop(options);
    std::reverse(at + i, at + i + size);
  }
}

// Reads a file, plain where it lies or inflated; the source owns the bytes.
class IdxFile {
 public:
  IdxFile(const std::string& path, const OpenOptions& options, ArraySource* owner, Digest* digest)
      : path_(path), options_(options), file_(MappedData::Open(path)) {
    owner->Keep(file_);
    digest->Content(file_->bytes());
    const auto bytes = file_->bytes();
    if (bytes.size() > 1 && bytes[0] == std::byte{0x1f} && bytes[1] == std::byte{0x8b}) {
      packed_.emplace(fmt::format("'{}'", path), file_->bytes(), Inflater::Form::kGzip, options);
    }
  }

  IdxArray Array(ArraySource* owner) {
    uint8_t head[4] = {};
    Take(head, 4);
    const uint64_t rank = head[3];
    if (head[0] != 0 || head[1] != 0 || rank < 1 || rank > kMostIdxRank) {
      throw Bad(
          fmt::format("its first bytes are {:02x} {:02x} {:02x} {:02x}, wanted 00 00, a type "
                      "and 1 to {} axes",
                      head[0], head[1], head[2], head[3], kMostIdxRank));
    }
    IdxArray out;
    out.dtype = TypeOfIdx(path_, head[2]);
    const uint64_t size = plugin::ElementBits(out.dtype) / 8;
    uint64_t bytes = size;
    for (uint64_t i = 0; i < rank; ++i) {
      uint8_t d[4] = {};
      Take(d, 4);
      const uint64_t dim = uint64_t{d[0]} << 24 | d[1] << 16 | d[2] << 8 | d[3];
      out.dims.push_back(static_cast<int64_t>(dim));
      if (__builtin_mul_overflow(bytes, dim, &bytes)) throw Bad("its sizes do not fit 64 bits");
    }
    const uint64_t have = file_->bytes().size();
    if (!packed_ && bytes != have - at_) {
      throw Bad(fmt::format("its sizes want {} bytes, it has {}", bytes, have - at_));
    }
    if (packed_ && bytes / Inflater::kMost > have) {
      throw Bad(fmt::format("{} packed bytes cannot be the {} that its sizes want", have, bytes));
    }
    if (!packed_ && size == 1) {
      out.first = file_->bytes().data() + at_;
      return out;
    }
    std::byte* held = owner->Hold(bytes);
    Take(held, bytes);
    if (packed_) packed_->Finish();
    SwapBytes(held, bytes, size, options_);
    out.first = held;
    return out;
  }

 private:
  Refusal Bad(const std::string& why) const {
    return Refusal{GE_DATA_LOSS, fmt::format("'{}' is not a usable idx file: {}", path_, why)};
  }

  void Take(void* out, uint64_t bytes) {
    if (packed_) {
      packed_->Read({static_cast<std::byte*>(out), bytes});
    } else if (bytes > file_->bytes().size() - at_) {
      throw Bad("its header does not end");
    } else {
      for (uint64_t i = 0; i < bytes; i += kStopBytes) {
        CheckStop(options_);
        std::memcpy(static_cast<std::byte*>(out) + i, file_->bytes().data() + at_ + i,
                    std::min(kStopBytes, bytes - i));
      }
    }
    at_ += bytes;
  }

  std::string path_;
  const OpenOptions& options_;
  std::shared_ptr<const MappedData> file_;
  std::optional<Inflater> packed_;
  uint64_t at_ = 0;
};

// Labels of one byte as i64, which losses and gathers take.
void AddLabels(const IdxArray& labels, const std::string& path, const OpenOptions& options,
               ArraySource* out) {
  if (labels.dims.size() != 1 || labels.dtype != GE_U8) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  fmt::format("'{}' holds no labels: wanted bytes along one axis", path)};
  }
  const auto rows = static_cast<uint64_t>(labels.dims[0]);
  std::byte* held = out->Hold(rows * sizeof(int64_t));
  for (uint64_t i = 0; i < rows; ++i) {
    if (i % kStopBytes == 0) CheckStop(options);
    const auto label = std::to_integer<int64_t>(labels.first[i]);
    std::memcpy(held + i * sizeof label, &label, sizeof label);
  }
  out->Add({.name = "y", .dtype = GE_I64}, labels.dims[0], held, sizeof(int64_t));
}

// "t10k-images-idx3-ubyte.gz" -> "t10k-labels-idx1-ubyte" with or without .gz, the first that is
// there; "" for none.
std::string LabelsBeside(const std::string& path) {
  const std::string_view name = FileName(path);
  const std::string folder = path.substr(0, path.size() - name.size());
  for (const char dash : {'-', '.'}) {
    const std::string images = fmt::format("images{}idx3", dash);
    const size_t at = name.find(images);
    if (at == std::string_view::npos) continue;
    std::string labels(name);
    labels.replace(at, images.size(), fmt::format("labels{}idx1", dash));
    const std::string packed = labels.ends_with(".gz") ? labels : labels + ".gz";
    const std::string plain = packed.substr(0, packed.size() - 3);
    for (const std::string& n : {labels, plain, packed}) {
      if (IsFile(folder + n)) return folder + n;
    }
  }
  return "";
}

}  // namespace

std::shared_ptr<Source> OpenIdx(const std::string& path, const OpenOptions& options) {
  auto out = std::make_shared<ArraySource>(path);
  Digest digest(options.stop);
  IdxFile file(path, options, out.get(), &digest);
  const IdxArray x = file.Array(out.get());
  Column column{.name = "x", .dtype = x.dtype, .dims = {x.dims.begin() + 1, x.dims.end()}};
  const uint64_t stride = column.row_bytes();
  out->Add(std::move(column), x.dims[0], x.first, stride);
  if (const std::string beside = LabelsBeside(path); !beside.empty()) {
    IdxFile labels(beside, options, out.get(), &digest);
    AddLabels(labels.Array(out.get()), beside, options, out.get());
  }
  out->SetDigest(digest.Hex());
  return out;
}

std::string IdxOfFolder(const std::string& path, const OpenOptions& options) {
  const auto images = [&](const char* part) -> std::string {
    for (const char* form : {"-images-idx3-ubyte", "-images.idx3-ubyte"}) {
      for (const char* packed : {"", ".gz"}) {
        const std::string file = fmt::format("{}/{}{}{}", path, part, form, packed);
        if (IsFile(file)) return file;
      }
    }
    return "";
  };
  const std::string train = images("train"), test = images("t10k");
  const std::string& wanted = options.part == Part::kTest ? test : train;
  if (wanted.empty() && train != test) {
    RefusePart(path, options.part, train.empty() ? "t10k-images-idx3-ubyte" : "train-images-*");
  }
  return wanted;
}

}  // namespace ge::data
