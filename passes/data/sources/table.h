// Columns of tables of text, .csv and .jsonl: whole numbers, numbers, or texts, as all their cells
// are. A file is read twice: TableShape finds the kinds, Table takes the values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "passes/data/sources/source.h"

namespace ge::data {

// One number, as JSON and CSV write it, with blanks around it.
struct Cell {
  enum class Kind { kEmpty, kWhole, kNumber, kText };
  Kind kind = Kind::kText;
  int64_t whole = 0;
  double number = 0;    // of kWhole also
  bool narrow = false;  // a float stands for it exactly: its shortest writing is this number
};
// `text` is a number, nothing, or else a text. Whole numbers beyond 63 bits are texts.
Cell ReadCell(std::string_view text);

// What the cells of a column have been so far.
struct ColumnKind {
  std::string name;
  std::vector<int64_t> dims;  // of a list of numbers
  bool text = false, number = false, wide = false, empty = false, any = false;
  void Add(const Cell& cell);
  // GE_I64; F32, or F64 where floats would lose something. Empty cells are NaN.
  int32_t dtype() const;
};

class TableSource final : public Source {
 public:
  TableSource(std::string path, const std::vector<ColumnKind>& kinds, int64_t rows);
  bool IsText(size_t column) const { return parts_[column].text; }
  // Row by row, in order; a list gives its cells one behind the other.
  void Add(size_t column, const Cell& cell);
  void AddText(size_t column, std::string_view text);
  // Texts that are few and short become classes.
  void Finish(const OpenOptions& options);
  void SetDigest(std::string digest) { digest_ = std::move(digest); }
  void Read(size_t column, std::span<const int64_t> rows, std::byte* out) const override;
  Blob ReadBlob(size_t column, int64_t row) const override;

 private:
  struct Values {
    bool text = false;
    std::vector<std::byte> bytes;  // numbers, or the texts' bytes
    std::vector<uint64_t> ends;    // of texts in `bytes`
  };
  std::string_view TextOf(const Values& v, size_t row) const;
  void MakeClasses(size_t column, const OpenOptions& options);
  std::vector<Values> parts_;
};

}  // namespace ge::data
