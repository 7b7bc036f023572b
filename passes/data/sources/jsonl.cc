// .jsonl: an object a line, all with the same fields. A field is a number, true or false (1 or 0),
// a text, or a list of numbers of one shape; null is NaN, or an empty text. Texts as in table.h.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "passes/data/sources/polled_text.h"
#include "passes/data/sources/readers.h"
#include "passes/data/sources/table.h"

namespace ge::data {
namespace {

constexpr size_t kMostFields = 65536, kMostDepth = 8;

struct Field {
  bool given = false, text = false;
  std::string said;           // a text
  std::vector<Cell> cells;    // a number, or those of a list
  std::vector<int64_t> dims;  // of a list
};

// Takes one line apart; nlohmann's reader calls it. It returns false to stop, with `why` set.
class LineParser {
 public:
  using Json = nlohmann::json;
  LineParser(std::vector<ColumnKind>* columns, bool first) : columns_(columns), first_(first) {
    if (!first) {
      for (size_t i = 0; i < columns->size(); ++i) index_.emplace((*columns)[i].name, i);
    }
  }
  std::vector<Field> fields;
  std::string why;

  // Of a further line: no name is new any more.
  void Begin() {
    first_ = columns_->empty();
    depth_ = 0;
    fields.resize(columns_->size());
    for (Field& f : fields) {
      f.given = f.text = false;
      f.said.clear();
      f.cells.clear();
      f.dims.clear();
    }
  }

  bool null() { return Take({.kind = Cell::Kind::kEmpty}); }
  bool boolean(bool b) { return number_integer(b ? 1 : 0); }
  bool number_integer(Json::number_integer_t n) {
    const auto number = static_cast<double>(n);
    return Take({.kind = Cell::Kind::kWhole,
                 .whole = n,
                 .number = number,
                 .narrow = static_cast<double>(static_cast<float>(number)) == number});
  }
  bool number_unsigned(Json::number_unsigned_t n) {
    if (n > INT64_MAX)
      return Stop(fmt::format("field '{}' is {}, wanted at most 2^63 - 1", Name(), n));
    return number_integer(static_cast<int64_t>(n));
  }
  bool number_float(Json::number_float_t, const Json::string_t& said) {
    return Take(ReadCell(said));
  }
  bool string(Json::string_t& said) {
    if (depth_ == 0) return Stop("no object; wanted {\"NAME\": VALUE, ...}");
    if (!list_.empty())
      return Stop(fmt::format("field '{}' is a list with a text, wanted numbers", Name()));
    fields[at_].text = true;
    fields[at_].said = said;
    return true;
  }
  bool binary(Json::binary_t&) { return Stop("binary"); }
  bool start_object(size_t) {
    if (depth_++ == 0) return true;
    return Stop(
        fmt::format("field '{}' is or holds an object, wanted numbers, texts or lists of "
                    "numbers",
                    Name()));
  }
  bool key(Json::string_t& name) {
    const auto found = index_.find(name);
    if (found != index_.end()) {
      at_ = found->second;
    } else if (!first_ || columns_->size() == kMostFields) {
      return Stop(fmt::format("it has a field '{}', which the first line has not", Shown(name)));
    } else {
      if (name.empty()) return Stop("a field has an empty name");
      at_ = columns_->size();
      index_.emplace(name, at_);
      columns_->push_back({.name = name});
    }
    if (fields.size() <= at_) fields.resize(at_ + 1);
    if (fields[at_].given) return Stop(fmt::format("field '{}' is given twice", Name()));
    fields[at_].given = true;
    list_.clear();
    return true;
  }
  bool end_object() { return true; }
  bool start_array(size_t) {
    if (depth_ == 0) return Stop("no object; wanted {\"NAME\": VALUE, ...}");
    if (list_.size() == kMostDepth) {
      return Stop(fmt::format("field '{}' has lists deeper than {}", Name(), kMostDepth));
    }
    list_.push_back(0);
    return true;
  }
  bool end_array() {
    Field& f = fields[at_];
    const size_t level = list_.size() - 1;
    if (f.dims.size() < list_.size()) {
      if (!f.cells.empty()) return Ragged();
      f.dims.resize(list_.size(), -1);
    }
    if (f.dims[level] != -1 && f.dims[level] != list_.back()) return Ragged();
    f.dims[level] = list_.back();
    list_.pop_back();
    if (!list_.empty()) ++list_.back();
    return true;
  }
  bool parse_error(size_t byte, const std::string&, const Json::exception&) {
    if (why.empty()) why = fmt::format("it is no JSON from its byte {} on", byte);
    return false;
  }

 private:
  std::string Name() const { return Shown((*columns_)[at_].name); }
  bool Stop(std::string text) {
    why = std::move(text);
    return false;
  }
  bool Ragged() {
    return Stop(fmt::format("field '{}' is a list whose parts differ in length", Name()));
  }
  bool Take(const Cell& cell) {
    if (depth_ == 0) return Stop("no object; wanted {\"NAME\": VALUE, ...}");
    Field& f = fields[at_];
    if (cell.kind == Cell::Kind::kText) {
      return Stop(fmt::format("field '{}' is a number beyond a double's range", Name()));
    }
    if (!list_.empty()) {
      // All numbers of a list lie at its greatest depth.
      if (f.dims.size() > list_.size()) return Ragged();
      if (f.dims.size() < list_.size()) {
        if (!f.cells.empty()) return Ragged();
        f.dims.resize(list_.size(), -1);
      }
      ++list_.back();
    }
    f.cells.push_back(cell);
    return true;
  }

  std::vector<ColumnKind>* columns_;
  std::unordered_map<std::string, size_t> index_;
  bool first_;
  size_t at_ = 0;              // the field that is read
  size_t depth_ = 0;           // of objects
  std::vector<int64_t> list_;  // elements so far of the lists that are open
};

// Calls row(fields) for each line that is not blank.
template <class Row>
int64_t ForLines(const MappedData& file, std::vector<ColumnKind>* columns,
                 const OpenOptions& options, Row&& row) {
  std::string_view rest(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  LineParser parser(columns, columns->empty());
  int64_t rows = 0;
  for (uint64_t line = 1; !rest.empty(); ++line) {
    if (line % 256 == 0) CheckStop(options);
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    parser.Begin();
    const auto refuse = [&](const std::string& why) {
      throw Refusal{GE_DATA_LOSS, fmt::format("'{}', line {}: {}", file.path(), line, why)};
    };
    const PolledText begin(text.data(), options), end(text.data() + text.size(), options);
    if (!nlohmann::json::sax_parse(begin, end, &parser)) refuse(parser.why);
    CheckStop(options);
    if (columns->empty()) refuse("an object without fields");
    for (size_t i = 0; i < columns->size(); ++i) {
      if (!parser.fields[i].given) {
        refuse(fmt::format("it has no field '{}', which the first line has",
                           Shown((*columns)[i].name)));
      }
    }
    if (const std::string why = row(parser.fields, rows); !why.empty()) refuse(why);
    ++rows;
  }
  return rows;
}

std::string KindOfField(const Field& f) {
  if (f.text) return "a text";
  return f.dims.empty() ? "a number"
                        : fmt::format("a list of [{}] numbers", fmt::join(f.dims, ","));
}

// Takes a line's fields into the kinds of columns; says what does not fit the lines above.
std::string Learn(const std::vector<Field>& fields, int64_t row, std::vector<ColumnKind>* kinds,
                  std::vector<Field>* before) {
  if (before->size() < kinds->size()) before->resize(kinds->size());
  for (size_t i = 0; i < kinds->size(); ++i) {
    ColumnKind& k = (*kinds)[i];
    const Field& f = fields[i];
    const bool null = !f.text && f.dims.empty() && f.cells[0].kind == Cell::Kind::kEmpty;
    Field& b = (*before)[i];
    if (!null && !f.dims.empty() && row > 0 && !b.given) {
      return fmt::format("field '{}' is a list, and null above", Shown(k.name));
    }
    if (!null) {
      if (b.given && (b.text != f.text || b.dims != f.dims)) {
        return fmt::format("field '{}' is {}, wanted {} as above", Shown(k.name), KindOfField(f),
                           KindOfField(b));
      }
      b.given = true;
      b.text = f.text;
      b.dims = k.dims = f.dims;
    }
    if (null && !k.dims.empty()) {
      return fmt::format("field '{}' is null, wanted a list as above", Shown(k.name));
    }
    if (f.text) k.Add({.kind = Cell::Kind::kText});
    for (const Cell& c : f.cells) k.Add(c);
  }
  return "";
}

}  // namespace

std::shared_ptr<Source> OpenJsonl(const std::string& path, const OpenOptions& options) {
  const auto file = MappedData::Open(path);
  std::vector<ColumnKind> kinds;
  std::vector<Field> before;
  const int64_t rows = ForLines(*file, &kinds, options, [&](const auto& fields, int64_t row) {
    return Learn(fields, row, &kinds, &before);
  });
  auto out = std::make_shared<TableSource>(path, kinds, rows);
  ForLines(*file, &kinds, options, [&](const auto& fields, int64_t) {
    for (size_t i = 0; i < kinds.size(); ++i) {
      if (out->IsText(i)) {
        out->AddText(i, fields[i].said);
      } else {
        for (const Cell& c : fields[i].cells) out->Add(i, c);
      }
    }
    return std::string();
  });
  file->Check();
  out->Finish(options);
  Digest digest(options.stop);
  digest.Content(file->bytes());
  out->SetDigest(digest.Hex());
  out->Watch(path, file->state());
  return out;
}

}  // namespace ge::data
