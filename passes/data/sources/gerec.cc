#include "passes/data/sources/gerec.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>

#include "passes/data/sources/inflate.h"
#include "passes/data/sources/npy_head.h"
#include "passes/data/sources/polled_text.h"
#include "passes/data/sources/zip.h"

namespace ge::data {
namespace {

using nlohmann::json;

constexpr uint64_t kSumBytes = 64 << 10, kAlign = 64, kMostMeta = uint64_t{256} << 20;
constexpr size_t kMostGerecColumns = 65536;

uint64_t WordAt(std::span<const std::byte> words, uint64_t i) {
  uint64_t n = 0;
  std::memcpy(&n, words.data() + i * sizeof n, sizeof n);
  return n;
}

struct GerecColumn {
  std::string stem;
  std::span<const std::byte> bytes;    // STEM.npy whole, or STEM.bin
  std::span<const std::byte> offsets;  // i64, of blobs
  std::span<const std::byte> sums;     // u64
  uint64_t head = 0;                   // of STEM.npy
  // A bit a part of an array: it was checked.
  mutable std::vector<std::atomic<uint64_t>> checked;
};

class GerecSource final : public Source {
 public:
  GerecSource(const std::string& path, const OpenOptions& options) : file_(MappedData::Open(path)) {
    path_ = path;
    Watch(path, file_->state());
    for (ZipMember& m : ReadZip(path, file_->bytes())) {
      if (m.deflated)
        throw Bad(fmt::format("member '{}' is deflated, wanted stored", Shown(m.name)));
      if (m.at % kAlign != 0) {
        throw Bad(fmt::format("member '{}' lies at byte {}, wanted a multiple of {}", Shown(m.name),
                              m.at, kAlign));
      }
      const std::string name = m.name;
      members_.emplace(name, std::move(m));
    }
    ReadMeta(options);
  }

  void Read(size_t column, std::span<const int64_t> rows, std::byte* out) const override {
    file_->Check();
    const GerecColumn& c = parts_[column];
    const uint64_t stride = columns_[column].row_bytes();
    for (const int64_t row : rows) {
      const uint64_t at = c.head + static_cast<uint64_t>(row) * stride;
      CheckParts(column, at, stride);
      std::memcpy(out, c.bytes.data() + at, stride);
      out += stride;
    }
  }

  Blob ReadBlob(size_t column, int64_t row) const override {
    file_->Check();
    const GerecColumn& c = parts_[column];
    const auto i = static_cast<uint64_t>(row);
    const uint64_t from = WordAt(c.offsets, i), to = WordAt(c.offsets, i + 1);
    if (from > to || to > c.bytes.size()) {
      throw Bad(
          fmt::format("column '{}', row {}: it lies at bytes {} to {}, wanted within the {} of "
                      "its column",
                      Shown(columns_[column].name), row, from, to, c.bytes.size()));
    }
    const auto bytes = c.bytes.subspan(from, to - from);
    const uint64_t sum = Xxh3(bytes), wanted = WordAt(c.sums, i);
    if (sum == wanted) return {.bytes = bytes, .held = {}};
    throw Refusal{
        GE_DATA_LOSS,
        fmt::format("'{}', column '{}', row {}: its {} bytes have the sum {:016x}, wanted "
                    "{:016x}; they are damaged, make the file again",
                    path_, Shown(columns_[column].name), row, bytes.size(), sum, wanted)};
  }

 private:
  Refusal Bad(const std::string& why) const {
    return Refusal{GE_DATA_LOSS, fmt::format("'{}' is no usable .gerec file: {}", path_, why)};
  }

  std::span<const std::byte> Member(const std::string& name) const {
    const auto at = members_.find(name);
    if (at == members_.end()) throw Bad(fmt::format("it has no member '{}'", Shown(name)));
    return file_->bytes().subspan(at->second.at, at->second.bytes);
  }

  // A member of sums or offsets, checked by its own sum in `meta`; its elements.
  std::span<const std::byte> Words(const std::string& column, const std::string& name,
                                   const json& sums, int32_t dtype, uint64_t count, Digest* digest,
                                   const uint32_t* stop) const {
    const auto bytes = Member(name);
    const std::string found = fmt::format("{:016x}", Xxh3(bytes, stop));
    const auto wanted = sums.find(name);
    if (wanted == sums.end() || *wanted != found) {
      throw Bad(
          fmt::format("column '{}', all rows: member '{}' has the sum {}, meta.json wants {}; "
                      "it is damaged",
                      Shown(column), Shown(name), found,
                      wanted == sums.end() ? "none" : Shown(wanted->dump())));
    }
    digest->Text(found);
    const NpyHead head = ReadNpyHead(fmt::format("{}' member '{}", path_, Shown(name)), bytes);
    if (head.dtype != dtype || head.dims != std::vector<int64_t>{static_cast<int64_t>(count)}) {
      throw Bad(fmt::format("member '{}' is of another dtype or shape, wanted {} words",
                            Shown(name), count));
    }
    return bytes.subspan(head.bytes);
  }

  void ReadMeta(const OpenOptions& options) {
    const auto text = Member("meta.json");
    if (text.size() > kMostMeta || Crc32(text, options) != members_["meta.json"].crc) {
      throw Bad("meta.json is damaged or larger than 256 MiB");
    }
    const auto* first = reinterpret_cast<const char*>(text.data());
    const json meta = json::parse(PolledText(first, options),
                                  PolledText(first + text.size(), options), nullptr, false);
    const auto whole = [&](const char* name) {
      return meta.is_object() && meta.contains(name) && meta[name].is_number_unsigned();
    };
    if (!whole("gerec") || !whole("rows") || !meta.contains("columns") ||
        !meta["columns"].is_array() || !meta.contains("sums") || !meta["sums"].is_object()) {
      throw Bad(
          "meta.json has not {\"gerec\": 1, \"rows\": N, \"columns\": [...], \"sums\": {...}}");
    }
    if (meta["gerec"] != 1) {
      throw Refusal{GE_UNIMPLEMENTED, fmt::format("'{}' is a .gerec file of version {}, wanted 1",
                                                  path_, meta["gerec"].get<uint64_t>())};
    }
    const auto rows = meta["rows"].get<uint64_t>();
    // Each row has a byte or more, of an array or of offsets.
    if (rows > file_->bytes().size() || meta["columns"].empty() ||
        meta["columns"].size() > kMostGerecColumns) {
      throw Bad(
          fmt::format("{} rows in {} columns, which it cannot hold", rows, meta["columns"].size()));
    }
    rows_ = static_cast<int64_t>(rows);
    Digest digest(options.stop);
    digest.Content(text);
    std::unordered_set<std::string> stems, names;
    for (const json& c : meta["columns"]) {
      CheckStop(options);
      AddColumn(c, meta["sums"], &digest, options.stop);
      if (!stems.insert(parts_.back().stem).second || !names.insert(columns_.back().name).second) {
        throw Bad(fmt::format("two columns are named '{}'", Shown(columns_.back().name)));
      }
    }
    digest_ = digest.Hex();
  }

  void AddColumn(const json& c, const json& sums, Digest* digest, const uint32_t* stop) {
    const auto text = [&](const char* name) {
      if (!c.is_object() || !c.contains(name) || !c[name].is_string()) {
        throw Bad(fmt::format("a column in meta.json has no \"{}\"", name));
      }
      return c[name].get<std::string>();
    };
    Column column{.name = text("name")};
    const std::string kind = text("kind");
    GerecColumn part;
    part.stem = text("member");
    const bool plain = std::all_of(part.stem.begin(), part.stem.end(), [](char x) {
      return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') || (x >= '0' && x <= '9') ||
             x == '_' || x == '-';
    });
    if (!plain || part.stem.empty() || column.name.empty()) {
      throw Bad(fmt::format("column '{}' has the member '{}', wanted [A-Za-z0-9_-]+",
                            Shown(column.name), Shown(part.stem)));
    }
    if (kind == "array") {
      AddArray(c, sums, digest, stop, &column, &part);
    } else if (kind == "picture" || kind == "text") {
      column.kind = kind == "picture" ? Column::Kind::kPicture : Column::Kind::kText;
      const auto rows = static_cast<uint64_t>(rows_);
      part.bytes = Member(part.stem + ".bin");
      part.offsets =
          Words(column.name, part.stem + ".offset.npy", sums, GE_I64, rows + 1, digest, stop);
      part.sums = Words(column.name, part.stem + ".xxh3.npy", sums, GE_U64, rows, digest, stop);
    } else {
      throw Bad(fmt::format("column '{}' is of kind '{}', wanted array, picture or text",
                            Shown(column.name), Shown(kind)));
    }
    columns_.push_back(std::move(column));
    parts_.push_back(std::move(part));
    if (kind == "array") CheckParts(columns_.size() - 1, 0, parts_.back().head);
  }

  void AddArray(const json& c, const json& sums, Digest* digest, const uint32_t* stop,
                Column* column, GerecColumn* part) {
    part->bytes = Member(part->stem + ".npy");
    const uint64_t blocks = (part->bytes.size() + kSumBytes - 1) / kSumBytes;
    part->sums = Words(column->name, part->stem + ".xxh3.npy", sums, GE_U64, blocks, digest, stop);
    part->checked = std::vector<std::atomic<uint64_t>>((blocks + 63) / 64);
    const NpyHead head = HeadOf(*column, *part);
    part->head = head.bytes;
    column->dtype = head.dtype;
    column->dims.assign(head.dims.begin() + 1, head.dims.end());
    if (!c.contains("classes")) return;
    if (!c["classes"].is_array()) throw Bad("classes in meta.json are no list");
    for (const json& name : c["classes"]) {
      if (!name.is_string()) throw Bad("a class in meta.json is no text");
      column->classes.push_back(name.get<std::string>());
    }
  }

  // The head lies in the first part. Where it cannot be read and that part is damaged, that is
  // said.
  NpyHead HeadOf(const Column& column, const GerecColumn& part) const {
    try {
      NpyHead head =
          ReadNpyHead(fmt::format("{}' column '{}", path_, Shown(column.name)), part.bytes);
      if (!head.dims.empty() && head.dims[0] == rows_) return head;
      throw Bad(
          fmt::format("column '{}' has not the {} rows of the file", Shown(column.name), rows_));
    } catch (const Refusal&) {
      const auto first = part.bytes.first(std::min<size_t>(kSumBytes, part.bytes.size()));
      if (first.empty() || Xxh3(first) == WordAt(part.sums, 0)) throw;
      throw Refusal{GE_DATA_LOSS,
                    fmt::format("'{}', column '{}', rows from 0 on: the first {} bytes of '{}.npy' "
                                "have not the sum that the file gives; they are damaged, make the "
                                "file again",
                                path_, Shown(column.name), first.size(), part.stem)};
    }
  }

  // The parts that hold [at, at + bytes) of an array, each once.
  void CheckParts(size_t column, uint64_t at, uint64_t bytes) const {
    const GerecColumn& c = parts_[column];
    for (uint64_t i = at / kSumBytes; i * kSumBytes < at + bytes; ++i) {
      const uint64_t bit = uint64_t{1} << i % 64;
      if ((c.checked[i / 64].load(std::memory_order_relaxed) & bit) != 0) continue;
      const uint64_t from = i * kSumBytes;
      const auto part = c.bytes.subspan(from, std::min(kSumBytes, c.bytes.size() - from));
      if (Xxh3(part) != WordAt(c.sums, i)) RefuseRows(column, from, part.size());
      c.checked[i / 64].fetch_or(bit, std::memory_order_relaxed);
    }
  }

  [[noreturn]] void RefuseRows(size_t column, uint64_t from, uint64_t bytes) const {
    const uint64_t stride = std::max<uint64_t>(1, columns_[column].row_bytes());
    const uint64_t head = parts_[column].head;
    const uint64_t first = from < head ? 0 : (from - head) / stride;
    const uint64_t end = from + bytes < head ? 0 : (from + bytes - head + stride - 1) / stride;
    throw Refusal{
        GE_DATA_LOSS,
        fmt::format("'{}', column '{}', rows {} to {}: their bytes have not the sum that "
                    "the file gives; they are damaged, make the file again",
                    path_, Shown(columns_[column].name), first, std::max<uint64_t>(end, 1) - 1)};
  }

  std::shared_ptr<const MappedData> file_;
  std::unordered_map<std::string, ZipMember> members_;
  std::vector<GerecColumn> parts_;  // by column
};

}  // namespace

std::shared_ptr<Source> OpenGerec(const std::string& path, const OpenOptions& options) {
  return std::make_shared<GerecSource>(path, options);
}

}  // namespace ge::data
