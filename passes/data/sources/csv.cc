// .csv and .tsv: a line of names, then a row a line. Quotes hold separators, line ends and doubled
// quotes, as RFC 4180 has them. Columns are whole numbers, numbers, classes or texts (table.h).
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "passes/data/sources/readers.h"
#include "passes/data/sources/table.h"

namespace ge::data {
namespace {

constexpr size_t kMostColumns = 65536;

// The rows of a file, a call of Next each. Cells are views of the file, or of `held` where a quote
// was doubled in them.
class CsvRows {
 public:
  CsvRows(const std::string& path, std::string_view text, char separator,
          const OpenOptions& options)
      : path_(path), rest_(text), separator_(separator), options_(options) {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);  // a mark of UTF-8
  }

  bool Next(std::vector<std::string_view>* cells) {
    line_ = next_line_;
    cells->clear();
    held_.clear();
    if (rest_.empty()) return false;
    blank_ = rest_[0] == '\n' || rest_[0] == '\r';
    for (bool more = true; more;) {
      if (cells->size() == kMostColumns) {
        throw Bad(fmt::format("more than {} columns", kMostColumns));
      }
      cells->push_back(!rest_.empty() && rest_[0] == '"' ? Quoted() : Plain());
      more = !rest_.empty() && rest_[0] == separator_;
      if (more) {
        rest_.remove_prefix(1);
      } else {
        EndLine();
      }
    }
    return true;
  }

  bool blank() const { return blank_; }  // the row is an empty line
  Refusal Bad(const std::string& why) const {
    return Refusal{GE_DATA_LOSS, fmt::format("'{}', line {}: {}", path_, line_, why)};
  }

 private:
  std::string_view Plain() {
    size_t end = 0;
    for (; end < rest_.size(); ++end) {
      const char c = rest_[end];
      if (end % kPolled == kPolled - 1) CheckStop(options_);
      if (c == separator_ || c == '\n' || c == '\r') break;
      if (c == 0) throw Bad("a byte 0, wanted text");
      if (c == '"') throw Bad("a quote inside a field; put quotes around it and double this one");
    }
    const std::string_view cell = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return cell;
  }

  std::string_view Quoted() {
    rest_.remove_prefix(1);
    const std::string_view whole = rest_;
    bool doubled = false;
    size_t end = 0;
    for (uint64_t i = 1;; ++end, ++i) {
      if (i % kPolled == 0) CheckStop(options_);
      end = whole.find('"', end);
      if (end == std::string_view::npos) throw Bad("a field whose quote has no end");
      if (end + 1 >= whole.size() || whole[end + 1] != '"') break;
      doubled = true;
      ++end;
    }
    const std::string_view cell = whole.substr(0, end);
    if (cell.find('\0') != std::string_view::npos) throw Bad("a byte 0, wanted text");
    next_line_ += static_cast<uint64_t>(std::count(cell.begin(), cell.end(), '\n'));
    rest_ = whole.substr(end + 1);
    if (!rest_.empty() && rest_[0] != separator_ && rest_[0] != '\n' && rest_[0] != '\r') {
      throw Bad(fmt::format("'{}' behind a closing quote, wanted '{}' or the line's end",
                            Shown(rest_.substr(0, 1)), separator_ == '\t' ? "tab" : ","));
    }
    if (!doubled) return cell;
    auto held = std::make_unique<std::string>();
    for (size_t i = 0; i < cell.size(); ++i) {
      if (i % kPolled == kPolled - 1) CheckStop(options_);
      *held += cell[i];
      if (cell[i] == '"') ++i;
    }
    return *held_.emplace_back(std::move(held));
  }

  void EndLine() {
    if (rest_.starts_with("\r\n")) rest_.remove_prefix(1);
    if (!rest_.empty()) rest_.remove_prefix(1);
    ++next_line_;
  }

  static constexpr uint64_t kPolled = 1 << 20;  // bytes, or quotes, of a long field: milliseconds

  const std::string& path_;
  std::string_view rest_;
  const char separator_;
  const OpenOptions& options_;
  uint64_t line_ = 1, next_line_ = 1;  // of the row, its first one
  bool blank_ = false;
  std::vector<std::unique_ptr<std::string>> held_;  // of this row
};

std::vector<ColumnKind> ReadNames(CsvRows* rows) {
  std::vector<std::string_view> cells;
  if (!rows->Next(&cells)) throw rows->Bad("nothing, wanted the names of the columns");
  std::vector<ColumnKind> out;
  std::unordered_set<std::string_view> names;
  bool numbers = true;
  for (std::string_view name : cells) {
    if (name.empty() && out.empty() && cells.size() > 1) name = "index";  // as pandas writes it
    if (name.empty()) {
      throw rows->Bad(fmt::format("column {} has no name; name all columns", out.size() + 1));
    }
    if (!names.insert(name).second) {
      throw rows->Bad(fmt::format("two columns are named '{}'", Shown(name)));
    }
    const Cell::Kind kind = ReadCell(name).kind;
    numbers &= kind == Cell::Kind::kWhole || kind == Cell::Kind::kNumber;
    out.push_back({.name = std::string(name)});
  }
  const size_t other = cells.size() == 1 ? cells[0].find_first_of(";\t|") : std::string::npos;
  if (other != std::string::npos) {
    throw rows->Bad(fmt::format(
        "one column, '{}', which looks like several parted by '{}'; a .csv "
        "has commas between columns, a .tsv tabs",
        Shown(cells[0]),
        cells[0][other] == '\t' ? std::string("tab") : std::string(1, cells[0][other])));
  }
  if (numbers) {
    throw rows->Bad(
        fmt::format("'{}' where the first column's name is wanted; put a line with the "
                    "names of the columns above the numbers",
                    Shown(cells[0])));
  }
  return out;
}

// Calls row(cells) for all rows under the names; they have as many cells. Empty lines are left out.
template <class Row>
void ForRows(CsvRows* rows, const std::vector<ColumnKind>& columns, const OpenOptions& options,
             Row&& row) {
  std::vector<std::string_view> cells;
  for (uint64_t i = 0; rows->Next(&cells); ++i) {
    if (i % 1024 == 0) CheckStop(options);
    if (rows->blank()) continue;
    if (cells.size() != columns.size()) {
      throw rows->Bad(fmt::format("{} fields, wanted {} as the first line names", cells.size(),
                                  columns.size()));
    }
    row(cells);
  }
}

std::shared_ptr<Source> OpenSeparated(const std::string& path, char separator,
                                      const OpenOptions& options) {
  const auto file = MappedData::Open(path);
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                              file->bytes().size());
  CsvRows first(path, text, separator, options);
  std::vector<ColumnKind> kinds = ReadNames(&first);
  int64_t rows = 0;
  ForRows(&first, kinds, options, [&](const std::vector<std::string_view>& cells) {
    ++rows;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!kinds[i].text) kinds[i].Add(ReadCell(cells[i]));
    }
  });
  auto out = std::make_shared<TableSource>(path, kinds, rows);
  CsvRows second(path, text, separator, options);
  ReadNames(&second);
  ForRows(&second, kinds, options, [&](const std::vector<std::string_view>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (out->IsText(i)) {
        out->AddText(i, cells[i]);
      } else {
        out->Add(i, ReadCell(cells[i]));
      }
    }
  });
  file->Check();
  out->Finish(options);
  Digest digest(options.stop);
  digest.Content(file->bytes());
  out->SetDigest(digest.Hex());
  out->Watch(path, file->state());
  return out;
}

}  // namespace

std::shared_ptr<Source> OpenCsv(const std::string& path, const OpenOptions& options) {
  return OpenSeparated(path, ',', options);
}

std::shared_ptr<Source> OpenTsv(const std::string& path, const OpenOptions& options) {
  return OpenSeparated(path, '\t', options);
}

}  // namespace ge::data
