#include "passes/data/sources/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <unordered_map>

namespace ge::data {
namespace {

// A column of texts is one of classes where it has at most so many different ones, of so many
// bytes.
constexpr size_t kMostClasses = 65536, kLongestClass = 64;
constexpr size_t kPolledRows = 4096;  // between two looks at the caller's stop

// Whether the shortest writing of the float nearest to `number` stands for the same number.
bool IsNarrow(double number) {
  const auto narrow = static_cast<float>(number);
  if (static_cast<double>(narrow) == number || std::isnan(number)) return true;
  if (!std::isfinite(narrow)) return false;
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, narrow).ptr;
  double again = 0;
  std::from_chars(text, end, again);
  return again == number;
}

template <class T>
void Append(std::vector<std::byte>* to, T value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  to->insert(to->end(), at, at + sizeof value);
}

}  // namespace

Cell ReadCell(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  Cell cell;
  if (text.empty()) {
    cell.kind = Cell::Kind::kEmpty;
    return cell;
  }
  const char* end = text.data() + text.size();
  const char* at = text.data() + (text.front() == '+' && text.size() > 1 && text[1] != '-' ? 1 : 0);
  const auto whole = std::from_chars(at, end, cell.whole);
  if (whole.ptr == end) {
    if (whole.ec != std::errc()) return cell;
    cell.kind = Cell::Kind::kWhole;
    cell.number = static_cast<double>(cell.whole);
    cell.narrow = static_cast<double>(static_cast<float>(cell.number)) == cell.number;
    return cell;
  }
  const auto number = std::from_chars(at, end, cell.number);
  if (number.ptr != end || number.ec != std::errc()) return cell;
  cell.kind = Cell::Kind::kNumber;
  cell.narrow = IsNarrow(cell.number);
  return cell;
}

void ColumnKind::Add(const Cell& cell) {
  text |= cell.kind == Cell::Kind::kText;
  number |= cell.kind == Cell::Kind::kNumber;
  empty |= cell.kind == Cell::Kind::kEmpty;
  any |= cell.kind != Cell::Kind::kEmpty;
  wide |= cell.kind != Cell::Kind::kEmpty && !cell.narrow;
}

int32_t ColumnKind::dtype() const {
  if (!number && !empty) return GE_I64;
  return wide ? GE_F64 : GE_F32;
}

TableSource::TableSource(std::string path, const std::vector<ColumnKind>& kinds, int64_t rows) {
  path_ = std::move(path);
  rows_ = rows;
  for (const ColumnKind& k : kinds) {
    Values& v = parts_.emplace_back();
    v.text = k.text || (!k.any && k.dims.empty());
    Column& c = columns_.emplace_back(Column{.name = k.name, .dims = k.dims});
    if (v.text) {
      c.kind = Column::Kind::kText;
      v.ends.reserve(static_cast<size_t>(rows));
    } else {
      c.dtype = k.dtype();
      v.bytes.reserve(static_cast<size_t>(rows) * c.row_bytes());
    }
  }
}

void TableSource::Add(size_t column, const Cell& cell) {
  std::vector<std::byte>* to = &parts_[column].bytes;
  const double number = cell.kind == Cell::Kind::kEmpty ? std::nan("") : cell.number;
  switch (columns_[column].dtype) {
    case GE_I64:
      return Append(to, cell.whole);
    case GE_F32:
      return Append(to, static_cast<float>(number));
    default:
      return Append(to, number);
  }
}

void TableSource::AddText(size_t column, std::string_view text) {
  Values& v = parts_[column];
  const auto* at = reinterpret_cast<const std::byte*>(text.data());
  v.bytes.insert(v.bytes.end(), at, at + text.size());
  v.ends.push_back(v.bytes.size());
}

std::string_view TableSource::TextOf(const Values& v, size_t row) const {
  const uint64_t from = row == 0 ? 0 : v.ends[row - 1];
  return {reinterpret_cast<const char*>(v.bytes.data()) + from, v.ends[row] - from};
}

void TableSource::Finish(const OpenOptions& options) {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].text) MakeClasses(i, options);
  }
}

void TableSource::MakeClasses(size_t column, const OpenOptions& options) {
  Values& v = parts_[column];
  std::unordered_map<std::string_view, int64_t> found;
  for (size_t row = 0; row < v.ends.size(); ++row) {
    if (row % kPolledRows == 0) CheckStop(options);
    const std::string_view text = TextOf(v, row);
    if (text.size() > kLongestClass) return;
    found.emplace(text, 0);
    if (found.size() > kMostClasses) return;
  }
  Column& c = columns_[column];
  for (const auto& [text, number] : found) c.classes.emplace_back(text);
  std::sort(c.classes.begin(), c.classes.end());
  for (size_t i = 0; i < c.classes.size(); ++i) {
    found[c.classes[i]] = static_cast<int64_t>(i);
  }
  std::vector<std::byte> numbers;
  numbers.reserve(v.ends.size() * sizeof(int64_t));
  for (size_t row = 0; row < v.ends.size(); ++row) {
    if (row % kPolledRows == 0) CheckStop(options);
    Append(&numbers, found[TextOf(v, row)]);
  }
  v = {};
  v.bytes = std::move(numbers);
  c.kind = Column::Kind::kArray;
  c.dtype = GE_I64;
}

void TableSource::Read(size_t column, std::span<const int64_t> rows, std::byte* out) const {
  const uint64_t bytes = columns_[column].row_bytes();
  const std::byte* from = parts_[column].bytes.data();
  for (const int64_t row : rows) {
    std::memcpy(out, from + static_cast<uint64_t>(row) * bytes, bytes);
    out += bytes;
  }
}

Blob TableSource::ReadBlob(size_t column, int64_t row) const {
  const std::string_view text = TextOf(parts_[column], static_cast<size_t>(row));
  return {.bytes = {reinterpret_cast<const std::byte*>(text.data()), text.size()}, .held = {}};
}

}  // namespace ge::data
