#include "frontend/proto/module_scanner.h"

#include <fmt/format.h>

namespace ge::proto {
namespace {

constexpr uint32_t kModuleConsts = 100;  // field numbers of graph.proto
constexpr uint32_t kConstInline = 6;

struct Field {
  uint32_t number = 0;
  uint32_t wire_type = 0;
  size_t begin = 0;  // of the tag
  size_t body = 0;   // of the content; after the length when there is one
  size_t end = 0;
};

Status Corrupt(size_t at, const char* what) {
  return Status(Code::kDataCorrupt,
                fmt::format("the graph file is damaged at byte {}: {}; it was cut short or changed "
                            "after it was written",
                            at, what));
}

// Reads fields one after the other from [at, end) of `bytes`.
class FieldReader {
 public:
  FieldReader(std::span<const std::byte> bytes, size_t at, size_t end)
      : bytes_(bytes), at_(at), end_(end) {}

  bool done() const { return at_ >= end_; }

  Status Next(Field* f) {
    f->begin = at_;
    uint64_t tag = 0;
    GE_RETURN_IF_ERROR(Varint(&tag));
    if (tag > UINT32_MAX || (tag >> 3) == 0) return Corrupt(f->begin, "a field number of 0");
    f->number = static_cast<uint32_t>(tag >> 3);
    f->wire_type = static_cast<uint32_t>(tag & 7);
    uint64_t length = 0;
    switch (f->wire_type) {
      case 0:
        f->body = at_;
        GE_RETURN_IF_ERROR(Varint(&length));
        f->end = at_;
        return Status();
      case 1:
        length = 8;
        break;
      case 2:
        GE_RETURN_IF_ERROR(Varint(&length));
        break;
      case 5:
        length = 4;
        break;
      default:
        return Corrupt(f->begin, "a field of a kind that the format does not use");
    }
    if (length > end_ - at_) return Corrupt(f->begin, "a field reaches past the end");
    f->body = at_;
    at_ += static_cast<size_t>(length);
    f->end = at_;
    return Status();
  }

 private:
  Status Varint(uint64_t* value) {
    *value = 0;
    const size_t begin = at_;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ >= end_) return Corrupt(begin, "a number reaches past the end");
      const uint64_t b = std::to_integer<uint64_t>(bytes_[at_++]);
      if (shift < 64) *value |= (b & 0x7f) << shift;
      if (!(b & 0x80)) return Status();
    }
    return Corrupt(begin, "a number of more than ten bytes");
  }

  std::span<const std::byte> bytes_;
  size_t at_, end_;
};

class Scanner {
 public:
  Scanner(std::span<const std::byte> bytes, uint64_t max_skeleton, uint64_t max_consts)
      : bytes_(bytes), max_skeleton_(max_skeleton), max_consts_(max_consts) {}

  Status Run(ModulePieces* out) {
    FieldReader reader(bytes_, 0, bytes_.size());
    while (!reader.done()) {
      Field f;
      GE_RETURN_IF_ERROR(reader.Next(&f));
      if (f.number == kModuleConsts && f.wire_type == 2) {
        if (out->consts.size() >= max_consts_) {
          return Status(Code::kLimitExceeded,
                        fmt::format("the graph file has more than {} constants; raise the limit "
                                    "if the file is to be trusted",
                                    max_consts_));
        }
        GE_RETURN_IF_ERROR(ScanConst(f, &out->consts.emplace_back()));
      } else {
        GE_RETURN_IF_ERROR(Keep(f, &out->skeleton));
      }
    }
    return Status();
  }

 private:
  Status ScanConst(const Field& message, ConstPiece* out) {
    FieldReader reader(bytes_, message.body, message.end);
    while (!reader.done()) {
      Field f;
      GE_RETURN_IF_ERROR(reader.Next(&f));
      if (f.number == kConstInline && f.wire_type == 2) {
        out->has_payload = true;
        out->payload = bytes_.subspan(f.body, f.end - f.body);
      } else {
        GE_RETURN_IF_ERROR(Keep(f, &out->skeleton));
      }
    }
    return Status();
  }

  Status Keep(const Field& f, std::string* skeleton) {
    kept_ += f.end - f.begin;
    if (kept_ > max_skeleton_) {
      return Status(Code::kLimitExceeded,
                    fmt::format("the graph file holds more than {} bytes beside the payloads of "
                                "its constants; raise the limit if the file is to be trusted",
                                max_skeleton_));
    }
    skeleton->append(reinterpret_cast<const char*>(bytes_.data()) + f.begin, f.end - f.begin);
    return Status();
  }

  std::span<const std::byte> bytes_;
  uint64_t max_skeleton_, max_consts_, kept_ = 0;
};

}  // namespace

Result<ModulePieces> ScanModule(std::span<const std::byte> bytes, uint64_t max_skeleton_bytes,
                                uint64_t max_consts) {
  ModulePieces out;
  GE_RETURN_IF_ERROR(Scanner(bytes, max_skeleton_bytes, max_consts).Run(&out));
  return out;
}

}  // namespace ge::proto
