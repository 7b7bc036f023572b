// CIFAR's binary files: records of one label (CIFAR-10) or two (CIFAR-100: coarse, fine) and 32x32
// pixels by channel. Format: "Binary version" on Krizhevsky's page of the data sets.
#include <fmt/format.h>

#include <cstring>
#include <fstream>

#include "passes/data/sources/arrays.h"
#include "passes/data/sources/readers.h"

namespace ge::data {
namespace {

constexpr uint64_t kCifarPixels = 3072;

struct LabelKind {
  const char* name;
  uint64_t at;         // in a record
  int64_t classes;     // labels are below
  const char* listed;  // a file beside, with a name a line
};
constexpr LabelKind kTen[] = {{"label", 0, 10, "batches.meta.txt"}};
constexpr LabelKind kHundred[] = {{"label", 1, 100, "fine_label_names.txt"},
                                  {"coarse", 0, 20, "coarse_label_names.txt"}};

// Both divide files of 3,074 x 3,073 bytes and their multiples: there CIFAR-100 by its names.
bool IsHundred(const std::string& path, uint64_t bytes) {
  const bool ten = bytes % (kCifarPixels + 1) == 0, hundred = bytes % (kCifarPixels + 2) == 0;
  const std::string_view name = FileName(path);
  if (ten && hundred) return name == "train.bin" || name == "test.bin";
  if (ten || hundred) return hundred;
  throw Refusal{GE_DATA_LOSS,
                fmt::format("'{}' is not a usable CIFAR file: its {} bytes are no multiple of 3073 "
                            "(CIFAR-10) or 3074 (CIFAR-100)",
                            path, bytes)};
}

// The names of classes, where the file that lists them stands beside and has as many.
std::vector<std::string> Classes(const std::string& path, const LabelKind& kind) {
  const std::string folder = path.substr(0, path.size() - FileName(path).size());
  std::vector<std::string> out;
  if (!IsFile(folder + kind.listed)) return out;
  std::ifstream file(folder + kind.listed);
  std::string line;
  while (std::getline(file, line) && out.size() <= 200) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) out.push_back(line.substr(0, 100));
  }
  if (static_cast<int64_t>(out.size()) != kind.classes) out.clear();
  return out;
}

void AddLabels(const std::string& path, const LabelKind& kind, const std::byte* first,
               uint64_t record, int64_t rows, const OpenOptions& options, ArraySource* out) {
  std::byte* held = out->Hold(static_cast<uint64_t>(rows) * sizeof(int64_t));
  for (int64_t i = 0; i < rows; ++i) {
    if (i % 1024 == 0) CheckStop(options);
    const auto label = std::to_integer<int64_t>(first[static_cast<uint64_t>(i) * record + kind.at]);
    if (label >= kind.classes) {
      throw Refusal{GE_DATA_LOSS, fmt::format("'{}', row {}: column '{}' is {}, wanted 0 to {}",
                                              path, i, kind.name, label, kind.classes - 1)};
    }
    std::memcpy(held + static_cast<uint64_t>(i) * sizeof label, &label, sizeof label);
  }
  out->Add({.name = kind.name, .dtype = GE_I64, .classes = Classes(path, kind)}, rows, held,
           sizeof(int64_t));
}

}  // namespace

std::shared_ptr<Source> OpenCifar(const std::string& path, const OpenOptions& options) {
  auto out = std::make_shared<ArraySource>(path);
  const auto file = MappedData::Open(path);
  CheckStop(options);
  const bool hundred = IsHundred(path, file->bytes().size());
  const auto kinds = hundred ? std::span<const LabelKind>(kHundred) : kTen;
  const uint64_t record = kCifarPixels + kinds.size();
  const auto rows = static_cast<int64_t>(file->bytes().size() / record);
  const std::byte* first = file->bytes().data();
  const std::byte* pixels = rows > 0 ? first + kinds.size() : first;  // nothing is mapped at NULL
  out->Add({.name = "picture", .dtype = GE_U8, .dims = {3, 32, 32}}, rows, pixels, record);
  for (const LabelKind& kind : kinds)
    AddLabels(path, kind, first, record, rows, options, out.get());
  Digest digest(options.stop);
  digest.Content(file->bytes());
  out->SetDigest(digest.Hex());
  out->Keep(file);
  return out;
}

std::vector<std::string> CifarOfFolder(const std::string& path, const OpenOptions& options) {
  std::vector<std::string> train, test;
  const auto add = [&](const std::string& name, std::vector<std::string>* to) {
    const std::string file = fmt::format("{}/{}", path, name);
    if (IsFile(file)) to->push_back(file);
  };
  for (int i = 1; i <= 5; ++i) add(fmt::format("data_batch_{}.bin", i), &train);
  if (train.empty()) add("train.bin", &train);
  add("test_batch.bin", &test);
  if (test.empty()) add("test.bin", &test);
  const auto& wanted = options.part == Part::kTest ? test : train;
  if (wanted.empty() && !(train.empty() && test.empty())) {
    RefusePart(path, options.part, FileName(train.empty() ? test[0] : train[0]));
  }
  return wanted;
}

}  // namespace ge::data
