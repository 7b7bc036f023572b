// WebDataset's tar files: members KEY.EXT behind each other with the same KEY are a row, EXT is the
// column: pictures by .jpg, .png, .webp; arrays by .npy; .cls is a class; all else texts. Headers
// are read once; members stay where they lie. Formats: POSIX ustar and pax, GNU's long names.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "passes/data/sources/npy_head.h"
#include "passes/data/sources/readers.h"
#include "passes/data/sources/table.h"

namespace ge::data {
namespace {

constexpr uint64_t kTarBlock = 512, kMostName = 4096, kMostPax = 1 << 20;
constexpr size_t kMostTarColumns = 256;
constexpr std::string_view kPictureExtensions[] = {"jpg", "jpeg", "png", "webp", "bmp",
                                                   "tif", "tiff", "ppm", "pgm",  "jp2"};

struct TarMember {
  std::string name;
  uint64_t at = 0, bytes = 0;
};

// Walks the headers of a tar file.
class TarReader {
 public:
  TarReader(const std::string& path, std::span<const std::byte> file) : path_(path), file_(file) {}

  // The next regular file; none at the end.
  std::optional<TarMember> Next() {
    std::string long_name;
    for (std::optional<uint64_t> long_size;;) {
      if (file_.size() - at_ < kTarBlock) {
        throw Bad("it ends without the two blocks of zeros that end a tar file; it may be cut");
      }
      const char* head = Text(at_);
      if (std::all_of(head, head + kTarBlock, [](char c) { return c == 0; })) return {};
      CheckSum(head);
      TarMember m;
      m.bytes = long_size ? *long_size : Number(head + 124, 12, "size");
      m.name = long_name.empty() ? NameOf(head) : long_name;
      m.at = at_ + kTarBlock;
      if (m.bytes > file_.size() - m.at) {
        throw Bad(fmt::format("member '{}' wants {} bytes, {} are left; it is cut", Shown(m.name),
                              m.bytes, file_.size() - m.at));
      }
      at_ = std::min<uint64_t>(file_.size(),
                               m.at + (m.bytes + kTarBlock - 1) / kTarBlock * kTarBlock);
      const char type = head[156];
      if (type == 'L') {
        long_name = Held(m, kMostName).c_str();
        continue;
      }
      if (type == 'x') {
        ReadPax(Held(m, kMostPax), &long_name, &long_size);
        continue;
      }
      if (type == '0' || type == 0 || type == '7') {
        WantPlain(m.name);
        return m;
      }
      if (type != '5' && type != 'g' && type != 'V') {
        throw Bad(
            fmt::format("member '{}' is of type '{}', wanted regular files; write the tar file "
                        "without links",
                        Shown(m.name), Shown({&type, 1})));
      }
      long_name.clear();
      long_size.reset();
    }
  }

  Refusal Bad(const std::string& why) const {
    return Refusal{GE_DATA_LOSS, fmt::format("'{}' is not a usable tar file: {}", path_, why)};
  }

 private:
  const char* Text(uint64_t at) const { return reinterpret_cast<const char*>(file_.data()) + at; }

  std::string Held(const TarMember& m, uint64_t most) const {
    if (m.bytes > most)
      throw Bad(fmt::format("a header of {} bytes, wanted at most {}", m.bytes, most));
    return {Text(m.at), m.bytes};
  }

  uint64_t Number(const char* at, size_t size, const char* what) const {
    uint64_t n = 0;
    if ((at[0] & 0x80) != 0) {  // GNU: the rest is a big-endian number
      if (at[0] != static_cast<char>(0x80))
        throw Bad(fmt::format("a {} below 0 or beyond 2^63", what));
      for (size_t i = 1; i < size; ++i) {
        if (n >> 55 != 0) throw Bad(fmt::format("a {} beyond 2^63", what));
        n = n << 8 | static_cast<uint8_t>(at[i]);
      }
      return n;
    }
    const char* end = std::find_if(at, at + size, [](char c) { return c == 0; });
    while (at < end && *at == ' ') ++at;
    while (at < end && end[-1] == ' ') --end;
    const auto r = std::from_chars(at, end, n, 8);
    if (r.ptr != end || (at != end && r.ec != std::errc())) {
      throw Bad(fmt::format("a {} of '{}', wanted octal digits", what,
                            Shown({at, static_cast<size_t>(end - at)})));
    }
    return n;
  }

  void CheckSum(const char* head) const {
    uint64_t sum = 8 * ' ';
    for (uint64_t i = 0; i < kTarBlock; ++i) {
      if (i < 148 || i >= 156) sum += static_cast<uint8_t>(head[i]);
    }
    const uint64_t wanted = Number(head + 148, 8, "checksum");
    if (sum == wanted) return;
    throw Bad(fmt::format("the header at byte {} has the checksum {}, wanted {}; it is damaged",
                          at_, sum, wanted));
  }

  static std::string NameOf(const char* head) {
    const auto text = [&](size_t at, size_t most) {
      return std::string(head + at, strnlen(head + at, most));
    };
    const bool posix = std::memcmp(head + 257, "ustar\0", 6) == 0;
    const std::string prefix = posix ? text(345, 155) : "";
    return prefix.empty() ? text(0, 100) : prefix + "/" + text(0, 100);
  }

  // "LENGTH KEY=VALUE\n", of which path and size count.
  void ReadPax(std::string_view text, std::string* name, std::optional<uint64_t>* bytes) const {
    while (!text.empty()) {
      uint64_t length = 0;
      const auto r = std::from_chars(text.data(), text.data() + text.size(), length);
      const auto used = static_cast<uint64_t>(r.ptr - text.data());
      if (r.ec != std::errc() || length <= used + 1 || length > text.size()) {
        throw Bad("a pax header whose lengths do not fit it");
      }
      const std::string_view line = text.substr(used + 1, length - used - 2);
      if (line.starts_with("path=")) *name = line.substr(5);
      if (line.starts_with("size=")) {
        uint64_t n = 0;
        const auto s = std::from_chars(line.data() + 5, line.data() + line.size(), n);
        if (s.ec != std::errc() || s.ptr != line.data() + line.size())
          throw Bad("a pax size that is no number");
        *bytes = n;
      }
      text.remove_prefix(length);
    }
  }

  void WantPlain(std::string_view name) const {
    const std::string inside = fmt::format("/{}/", name);
    if (!name.empty() && name.size() <= kMostName && name[0] != '/' &&
        inside.find("/../") == std::string::npos && name.find('\0') == std::string_view::npos) {
      return;
    }
    throw Bad(fmt::format("member '{}' is named as a file outside it; wanted names below it",
                          Shown(name)));
  }

  const std::string& path_;
  std::span<const std::byte> file_;
  uint64_t at_ = 0;
};

class TarSource final : public Source {
 public:
  TarSource(const std::string& path, const OpenOptions& options) : file_(MappedData::Open(path)) {
    path_ = path;
    Watch(path, file_->state());
    ReadMembers(options);
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].name == "cls") ReadClasses(i, options);
      if (columns_[i].name == "npy" || columns_[i].name.ends_with(".npy")) ReadArrays(i, options);
    }
    Digest digest(options.stop);
    digest.Content(file_->bytes());
    digest_ = digest.Hex();
  }

  void Read(size_t column, std::span<const int64_t> rows, std::byte* out) const override {
    file_->Check();
    const uint64_t bytes = columns_[column].row_bytes();
    for (const int64_t row : rows) {
      if (columns_[column].name == "cls") {
        std::memcpy(out, &classes_[static_cast<size_t>(row)], sizeof(int64_t));
      } else {
        const auto all = Bytes(column, row);
        std::memcpy(out, all.data() + all.size() - bytes, bytes);
      }
      out += bytes;
    }
  }
  Blob ReadBlob(size_t column, int64_t row) const override {
    file_->Check();
    return {.bytes = Bytes(column, row), .held = {}};
  }
  std::string NameOfRow(int64_t row) const override {
    return fmt::format("row {} ('{}') of '{}'", row, Shown(keys_[static_cast<size_t>(row)]), path_);
  }

 private:
  struct Place {
    uint64_t at = 0, bytes = 0;
    bool given = false;
  };

  void ReadMembers(const OpenOptions& options) {
    TarReader reader(path_, file_->bytes());
    for (uint64_t i = 0; const auto m = reader.Next(); ++i) {
      if (i % 1024 == 0) CheckStop(options);
      const std::string_view base = FileName(m->name);
      if (base.starts_with('.')) continue;  // "._x": what macOS adds
      const size_t dot = base.find('.');
      if (dot == std::string_view::npos || dot + 1 == base.size()) {
        throw reader.Bad(
            fmt::format("member '{}' has no extension; wanted KEY.EXT", Shown(m->name)));
      }
      AddMember(reader, *m, m->name.size() - base.size() + dot);
    }
    if (rows_ > 0) WantWhole(reader);
  }

  void AddMember(const TarReader& reader, const TarMember& m, size_t dot) {
    const std::string_view key = std::string_view(m.name).substr(0, dot);
    std::string column = m.name.substr(dot + 1);
    for (char& c : column) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (rows_ == 0 || key != keys_.back()) {
      if (rows_ > 0) WantWhole(reader);
      keys_.emplace_back(key);
      ++rows_;
      places_.resize(columns_.size() * static_cast<size_t>(rows_));
    }
    const auto at = std::find_if(columns_.begin(), columns_.end(),
                                 [&](const Column& c) { return c.name == column; });
    const auto index = static_cast<size_t>(at - columns_.begin());
    if (at == columns_.end()) {
      if (rows_ > 1 || columns_.size() == kMostTarColumns) {
        throw reader.Bad(
            fmt::format("row {} ('{}') has a member .{}, which the first row ('{}') has "
                        "not; rows have the same extensions",
                        rows_ - 1, Shown(key), Shown(column), Shown(keys_[0])));
      }
      const bool picture =
          std::find(std::begin(kPictureExtensions), std::end(kPictureExtensions),
                    column.substr(column.rfind('.') + 1)) != std::end(kPictureExtensions);
      columns_.push_back(
          {.name = column, .kind = picture ? Column::Kind::kPicture : Column::Kind::kText});
      places_.emplace_back();
    }
    Place& p = places_[places_.size() - columns_.size() + index];
    if (p.given) throw reader.Bad(fmt::format("two members are named '{}'", Shown(m.name)));
    p = {m.at, m.bytes, true};
  }

  void WantWhole(const TarReader& reader) const {
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (places_[places_.size() - columns_.size() + i].given) continue;
      throw reader.Bad(
          fmt::format("row {} ('{}') has no member .{}, which the first row ('{}') has; "
                      "members of a row stand behind each other",
                      rows_ - 1, Shown(keys_.back()), Shown(columns_[i].name), Shown(keys_[0])));
    }
  }

  std::span<const std::byte> Bytes(size_t column, int64_t row) const {
    const Place& p = places_[static_cast<size_t>(row) * columns_.size() + column];
    return file_->bytes().subspan(p.at, p.bytes);
  }

  // Whole numbers as they are; else the distinct texts, sorted, are the classes.
  void ReadClasses(size_t column, const OpenOptions& options) {
    constexpr size_t kLongest = 200;
    std::vector<std::string> texts;
    bool numbers = true;
    for (int64_t row = 0; row < rows_; ++row) {
      if (row % 1024 == 0) CheckStop(options);
      const auto bytes = Bytes(column, row);
      std::string text(reinterpret_cast<const char*>(bytes.data()),
                       std::min(bytes.size(), kLongest + 1));
      while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
      if (text.empty() || text.size() > kLongest) {
        throw Refusal{GE_DATA_LOSS,
                      fmt::format("{}: its .cls has {} bytes, wanted a class of 1 to {}",
                                  NameOfRow(row), bytes.size(), kLongest)};
      }
      const Cell cell = ReadCell(text);
      numbers &= cell.kind == Cell::Kind::kWhole;
      classes_.push_back(cell.whole);
      texts.push_back(std::move(text));
    }
    Column& c = columns_[column];
    c.kind = Column::Kind::kArray;
    c.dtype = GE_I64;
    if (numbers) return;
    c.classes = texts;
    std::sort(c.classes.begin(), c.classes.end());
    c.classes.erase(std::unique(c.classes.begin(), c.classes.end()), c.classes.end());
    for (size_t row = 0; row < texts.size(); ++row) {
      classes_[row] =
          std::lower_bound(c.classes.begin(), c.classes.end(), texts[row]) - c.classes.begin();
    }
  }

  void ReadArrays(size_t column, const OpenOptions& options) {
    Column& c = columns_[column];
    for (int64_t row = 0; row < rows_; ++row) {
      if (row % 1024 == 0) CheckStop(options);
      const NpyHead head = ReadNpyHead(
          fmt::format("{}' .{} of '{}", path_, c.name, Shown(keys_[static_cast<size_t>(row)])),
          Bytes(column, row));
      if (row == 0) {
        c.kind = Column::Kind::kArray;
        c.dtype = head.dtype;
        c.dims = head.dims;
      } else if (head.dtype != c.dtype || head.dims != c.dims) {
        Column found{.name = c.name, .dtype = head.dtype, .dims = head.dims};
        throw Refusal{GE_INVALID_ARGUMENT,
                      fmt::format("{}: {}, wanted {} as the first row has", NameOfRow(row),
                                  KindOfColumn(found), KindOfColumn(c))};
      }
    }
  }

  std::shared_ptr<const MappedData> file_;
  std::vector<std::string> keys_;  // by row
  std::vector<Place> places_;      // by row and column
  std::vector<int64_t> classes_;   // of the column cls, by row
};

}  // namespace

std::shared_ptr<Source> OpenTar(const std::string& path, const OpenOptions& options) {
  return std::make_shared<TarSource>(path, options);
}

}  // namespace ge::data
