// Source: the rows of files, by number. Its columns are arrays of one shape a row, encoded
// pictures, or texts. Made by OpenSource; any thread may read. Faults are thrown as Refusal, with
// the file, the row and the column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ge/ge_plugin.h"
#include "passes/data/sources/file.h"
#include "passes/kit/refusal.h"

namespace ge::data {

using passes::Refusal;

struct Column {
  enum class Kind { kArray, kPicture, kText };
  std::string name;
  Kind kind = Kind::kArray;
  int32_t dtype = 0;          // of an array: GE_F32 ...
  std::vector<int64_t> dims;  // of one row of an array
  // What the numbers of a column of classes stand for, sorted by bytes; else empty.
  std::vector<std::string> classes;
  uint64_t row_bytes() const;  // of an array
};

// "column 'x', f32[3,4]", for messages.
std::string KindOfColumn(const Column& column);

// A blob of a row: the owner's bytes where they lie still, else copied into `held`.
struct Blob {
  std::span<const std::byte> bytes;
  std::vector<std::byte> held;
};

struct Watched {
  std::string path;
  FileState state;
};

class Source {
 public:
  virtual ~Source() = default;
  int64_t rows() const { return rows_; }
  const std::vector<Column>& columns() const { return columns_; }
  // The path that it was opened by.
  const std::string& path() const { return path_; }
  void SetPath(std::string path) { path_ = std::move(path); }
  // The files and folders that were read, as they were then: the source is good while they are.
  const std::vector<Watched>& watched() const { return watched_; }
  void Watch(std::string path, const FileState& state) { watched_.push_back({path, state}); }
  // 16 hexadecimal digits: of the names, sizes and contents of the files (file.h).
  const std::string& digest() const { return digest_; }
  // By name; throws NOT_FOUND with the names that there are.
  size_t ColumnOf(std::string_view name) const;
  // A column of arrays: the rows one behind the other into `out`, row_bytes each. Each row is in
  // [0, rows()).
  virtual void Read(size_t column, std::span<const int64_t> rows, std::byte* out) const = 0;
  // A picture or a text.
  virtual Blob ReadBlob(size_t column, int64_t row) const;
  // "row 7 of 'FILE'", the file that holds it: for messages.
  virtual std::string NameOfRow(int64_t row) const;

 protected:
  int64_t rows_ = 0;
  std::vector<Column> columns_;
  std::string path_, digest_;
  std::vector<Watched> watched_;
};

enum class Part { kAny, kTrain, kTest };

// Thrown where a source has no such part: who can do without it catches this alone.
struct NoSuchPart : Refusal {};

struct OpenOptions {
  // Not 0 = give up with GE_CANCELLED; NULL: nobody can stop it.
  const uint32_t* stop = nullptr;
  // Of folders and archives with a training and a test part. kAny: the training part, where there
  // are parts. Set by the path's end: `PATH#test`, `PATH#train`.
  Part part = Part::kAny;
};
inline void CheckStop(const OpenOptions& options) { CheckStop(options.stop); }

// By the ending of the name, or by what the folder holds; `a-{00..07}.tar` is one table of all the
// files, which must exist and have the same columns; `PATH#test` is the test part. NOT_FOUND (also:
// no such part), INVALID_ARGUMENT (no such kind), GE_DATA_LOSS (damaged).
std::shared_ptr<const Source> OpenSource(const std::string& path, const OpenOptions& options);

// The same, shared by whoever opens the same path while its files stay as they are. Where `digest`
// is given and the files have another one: FAILED_PRECONDITION.
std::shared_ptr<const Source> SharedSource(const std::string& path, const std::string& digest,
                                           const OpenOptions& options);

}  // namespace ge::data
