#include "frontend/onnx/weight_scanner.h"

#include <fmt/format.h>

namespace ge {
namespace {

// The messages in which tensors, bodies or long lists of small items can lie.
enum Kind : uint8_t {
  kLeaf,  // not walked: copied as it is
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparse,
  kFunction,
  kTraining,
  kValueInfo,
  kType,
  kElement,
  kTensorType,
  kShape,
};

constexpr uint32_t kRawData = 9;
constexpr uint32_t kPayloadIndex = 400000;  // onnx_wire::Tensor.payload_index

Kind ChildKind(Kind parent, uint32_t field) {
  switch (parent) {
    case kModel:
      return field == 7 ? kGraph : field == 20 ? kTraining : field == 25 ? kFunction : kLeaf;
    case kGraph:
      if (field == 1) return kNode;
      if (field == 5) return kTensor;
      if (field == 15) return kSparse;
      return field >= 11 && field <= 13 ? kValueInfo : kLeaf;
    case kNode:
      return field == 5 ? kAttribute : kLeaf;
    case kAttribute:
      if (field == 5 || field == 10) return kTensor;
      if (field == 6 || field == 11) return kGraph;
      if (field == 14 || field == 15) return kType;
      return field == 22 || field == 23 ? kSparse : kLeaf;
    case kSparse:
      return field == 1 || field == 2 ? kTensor : kLeaf;
    case kFunction:
      if (field == 7) return kNode;
      return field == 11 ? kAttribute : field == 12 ? kValueInfo : kLeaf;
    case kTraining:
      return field == 1 || field == 2 ? kGraph : kLeaf;
    case kValueInfo:
      return field == 2 ? kType : kLeaf;
    case kType:
      if (field == 1 || field == 8) return kTensorType;
      if (field == 4 || field == 9) return kElement;
      return field == 5 ? kValueInfo : kLeaf;  // a map has its value's type where they have theirs
    case kElement:
      return field == 1 ? kType : kLeaf;
    case kTensorType:
      return field == 2 ? kShape : kLeaf;
    default:
      return kLeaf;
  }
}

class Scanner {
 public:
  Scanner(std::span<const std::byte> bytes, const ScanLimits& limits)
      : data_(reinterpret_cast<const uint8_t*>(bytes.data())),
        size_(bytes.size()),
        limits_(limits) {}

  Result<ModelSkeleton> Run() {
    GE_RETURN_IF_ERROR(Message(kModel, 0, size_, 1, 0));
    return std::move(out_);
  }

 private:
  struct Field {
    uint64_t start = 0;  // of the tag
    uint32_t number = 0, wire = 0;
    uint64_t body = 0, end = 0;  // of the value, the length prefix not included
  };

  Status Corrupt(uint64_t at, std::string what) const {
    return Status(
        Code::kDataCorrupt,
        fmt::format("byte {} of {}: {}; the file is damaged or no ONNX model", at, size_, what));
  }

  Status Varint(uint64_t* pos, uint64_t end, uint64_t* value) const {
    uint64_t start = *pos, result = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (*pos >= end) return Corrupt(start, "a number runs past the end of its message");
      uint8_t byte = data_[(*pos)++];
      if (shift == 63 && byte > 1) break;
      result |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) {
        *value = result;
        return {};
      }
    }
    return Corrupt(start, "a number has more than 64 bits");
  }

  Status ReadField(uint64_t pos, uint64_t end, Field* f) const {
    f->start = pos;
    uint64_t tag = 0;
    GE_RETURN_IF_ERROR(Varint(&pos, end, &tag));
    f->wire = static_cast<uint32_t>(tag & 7);
    if (tag >> 3 == 0 || tag >> 3 >= (uint64_t{1} << 29)) {
      return Corrupt(f->start, fmt::format("field number {}, wanted 1 to 2^29-1", tag >> 3));
    }
    f->number = static_cast<uint32_t>(tag >> 3);
    uint64_t length = 0;
    f->body = pos;
    switch (f->wire) {
      case 0:
        GE_RETURN_IF_ERROR(Varint(&pos, end, &length));
        f->end = pos;
        return {};
      case 1:
        length = 8;
        break;
      case 5:
        length = 4;
        break;
      case 2:
        GE_RETURN_IF_ERROR(Varint(&pos, end, &length));
        f->body = pos;
        break;
      default:
        return Corrupt(f->start, fmt::format("field {} has wire type {}, wanted 0, 1, 2 or 5",
                                             f->number, f->wire));
    }
    if (length > end - pos) {
      return Corrupt(f->start,
                     fmt::format("field {} claims {} bytes, but {} are left in its message",
                                 f->number, length, end - pos));
    }
    f->end = pos + length;
    return {};
  }

  Status Room(uint64_t wanted) const {
    if (out_.bytes.size() + wanted > limits_.max_skeleton_bytes) {
      return Status(Code::kLimitExceeded,
                    fmt::format("the model without its raw payloads has more than {} bytes; raise "
                                "the limit, or store tensors as raw_data or as external data",
                                limits_.max_skeleton_bytes));
    }
    return {};
  }

  Status Append(uint64_t begin, uint64_t end) {
    GE_RETURN_IF_ERROR(Room(end - begin));
    out_.bytes.append(reinterpret_cast<const char*>(data_) + begin, end - begin);
    return {};
  }

  void AppendVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.bytes.push_back(static_cast<char>(value | 0x80));
    out_.bytes.push_back(static_cast<char>(value));
  }

  // The child's new length is known only after it was written, so five bytes are kept for it; a
  // padded varint of that width is what protobuf accepts for a length.
  Status Child(const Field& f, Kind kind, uint32_t depth, uint32_t graphs) {
    if (depth > limits_.max_message_depth) {
      return Status(Code::kLimitExceeded,
                    fmt::format("byte {}: messages are nested more than {} deep", f.start,
                                limits_.max_message_depth));
    }
    if (kind == kGraph && ++graphs > limits_.max_graph_depth) {
      return Status(Code::kLimitExceeded,
                    fmt::format("byte {}: graphs are nested more than {} deep", f.start,
                                limits_.max_graph_depth));
    }
    GE_RETURN_IF_ERROR(Room(16));
    AppendVarint(uint64_t{f.number} << 3 | 2);
    size_t at = out_.bytes.size();
    out_.bytes.append(5, '\0');
    GE_RETURN_IF_ERROR(Message(kind, f.body, f.end, depth, graphs));
    uint64_t length = out_.bytes.size() - at - 5;
    for (int i = 0; i < 5; ++i, length >>= 7) {
      out_.bytes[at + i] = static_cast<char>((length & 0x7f) | (i < 4 ? 0x80 : 0));
    }
    return {};
  }

  Status Message(Kind kind, uint64_t pos, uint64_t end, uint32_t depth, uint32_t graphs) {
    bool has_payload = false;
    WeightPayload payload;
    while (pos < end) {
      Field f;
      GE_RETURN_IF_ERROR(ReadField(pos, end, &f));
      pos = f.end;
      Kind child = ChildKind(kind, f.number);
      bool raw = kind == kTensor && f.number == kRawData;
      if ((raw || child != kLeaf) && f.wire != 2) {
        return Corrupt(f.start,
                       fmt::format("field {} has wire type {}, wanted 2", f.number, f.wire));
      }
      if (f.wire == 2 && f.body == f.end && !raw && ++empty_ > limits_.max_empty_items) {
        return Status(Code::kLimitExceeded, fmt::format("byte {}: more than {} empty items",
                                                        f.start, limits_.max_empty_items));
      }
      if (raw) {
        payload = {f.body, f.end - f.body};  // the last one counts, as in any singular field
        has_payload = true;
      } else if (kind == kTensor && f.number == kPayloadIndex) {
        continue;
      } else if (child != kLeaf) {
        GE_RETURN_IF_ERROR(Child(f, child, depth + 1, graphs));
      } else {
        GE_RETURN_IF_ERROR(Append(f.start, f.end));
      }
    }
    if (has_payload) {
      AppendVarint(uint64_t{kPayloadIndex} << 3);
      AppendVarint(out_.payloads.size());
      out_.payloads.push_back(payload);
    }
    return {};
  }

  const uint8_t* data_;
  uint64_t size_;
  const ScanLimits& limits_;
  uint64_t empty_ = 0;
  ModelSkeleton out_;
};

}  // namespace

Result<ModelSkeleton> ScanWeights(std::span<const std::byte> bytes, const ScanLimits& limits) {
  return Scanner(bytes, limits).Run();
}

}  // namespace ge
