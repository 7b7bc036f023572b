// Bytes as a file of a data pipeline: it is opened by the reader that the name in $GE_FUZZ_FILE
// asks for (t.npy, t.csv ...), and some rows of each column are read.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "passes/data/sources/source.h"
#include "tests/fuzz/require.h"

namespace {

using ge::data::Column;
using ge::data::Source;

// The file in a folder of this process, which goes at its end.
class Scratch {
 public:
  Scratch() {
    std::string folder = std::filesystem::temp_directory_path() / "ge-fuzz-data-XXXXXX";
    const char* name = std::getenv("GE_FUZZ_FILE");
    REQUIRE(name != nullptr, "wanted GE_FUZZ_FILE=t.npy or another name whose ending has a reader");
    REQUIRE(mkdtemp(folder.data()) != nullptr, "no folder for temporary files");
    folder_ = folder;
    path_ = folder_ + "/" + name;
  }
  ~Scratch() {
    unlink(path_.c_str());
    rmdir(folder_.c_str());
  }
  // A new file each time: the last one may be mapped still.
  const std::string& Write(const uint8_t* data, size_t size) {
    unlink(path_.c_str());
    const int fd = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    REQUIRE(fd >= 0 && write(fd, data, size) == static_cast<ssize_t>(size),
            "cannot write the file");
    close(fd);
    return path_;
  }

 private:
  std::string folder_, path_;
};

constexpr uint64_t kMostRead = 1 << 20;  // bytes of a column's rows at once

void ReadColumn(const Source& source, size_t column) {
  const int64_t all = source.rows();
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < all && row < 40; ++row) rows.push_back(row);
  if (all == 0) return;
  rows.insert(rows.end(), {all - 1, all / 2});
  for (const int64_t row : rows) REQUIRE(!source.NameOfRow(row).empty(), "a row without a name");
  const Column& c = source.columns()[column];
  if (c.kind != Column::Kind::kArray) {
    uint64_t sum = 0;
    for (const int64_t row : rows) {
      for (const std::byte b : source.ReadBlob(column, row).bytes) sum += std::to_integer<int>(b);
    }
    REQUIRE(sum < UINT64_MAX, "so that bytes are read");
    return;
  }
  const uint64_t bytes = c.row_bytes();
  if (bytes > kMostRead)
    rows.resize(1);
  else if (bytes * rows.size() > kMostRead)
    rows.resize(kMostRead / bytes);
  std::vector<std::byte> out(bytes * rows.size() + 1);
  source.Read(column, rows, out.data());
  if (c.classes.empty() || c.dtype != GE_I64) return;
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t number = reinterpret_cast<const int64_t*>(out.data())[i];
    REQUIRE(number >= 0 && number < std::ssize(c.classes), "a class that there is not");
  }
}

template <class Body>
void OrRefused(const Body& body) {
  try {
    body();
  } catch (const ge::data::Refusal& r) {
    REQUIRE(!r.text.empty() && r.rc != GE_OK && r.rc != GE_INTERNAL, r.text.c_str());
  } catch (const std::bad_alloc&) {  // becomes GE_OUT_OF_MEMORY; the limit on memory watches
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Scratch scratch;
  const std::string& path = scratch.Write(data, size);
  OrRefused([&] {
    const auto source = ge::data::OpenSource(path, {});
    REQUIRE(source->rows() >= 0 && !source->digest().empty(), "no rows or digest");
    // A damaged column does not keep the others from being read.
    for (size_t i = 0; i < source->columns().size(); ++i) {
      OrRefused([&] { ReadColumn(*source, i); });
    }
  });
  return 0;
}
