#include <fmt/format.h>
#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>

#include <cstring>
#include <set>

#include "frontend/proto/reader.h"
#include "ge/base/log.h"

namespace ge {
namespace proto {

std::string Reader::Place() const {
  std::string out;
  if (!function_.empty()) out += fmt::format("function '{}': ", function_);
  if (!node_.empty()) out += fmt::format("node '{}': ", node_);
  return out;
}

Status Reader::Invalid(const std::string& text) const {
  return Status(Code::kInvalidGraph, Place() + text).AtNode(node_);
}

Status Reader::CheckId(const char* what, uint64_t id, uint64_t size, bool optional) const {
  if (id <= size && (optional || id > 0)) return Status();
  if (size == 0) return Invalid(fmt::format("{} {} is named, but the file has none", what, id));
  return Invalid(fmt::format("{} {} is named, but the file has {}..{}{}", what, id, 1, size,
                             optional ? " (0 = absent)" : ""));
}

Status Reader::CheckEnum(const char* what, int found, int greatest) const {
  if (found >= 0 && found <= greatest) return Status();
  return Invalid(
      fmt::format("{} has the number {}, but this version knows 0..{}; the file comes "
                  "from a newer version",
                  what, found, greatest));
}

Status Reader::Count(uint64_t items) {
  items_ += items;
  if (items_ <= options_.max_items) return Status();
  return Status(Code::kLimitExceeded,
                fmt::format("{}the file holds more than {} nodes, values and other items; raise "
                            "the limit if it is to be trusted",
                            Place(), options_.max_items));
}

Status Reader::ReadVersion() {
  if (m_.magic() != kMagic) {
    return Status(Code::kDataCorrupt,
                  fmt::format("this is not a GraphEngine graph: it begins with {:#010x}, wanted "
                              "{:#010x}; is it the right file?",
                              m_.magic(), kMagic));
  }
  if (m_.ir_version() > kIrVersion) {
    return Status(Code::kUnsupported,
                  fmt::format("the graph has ir_version {}, this version reads up to {}; update "
                              "GraphEngine, or write the graph with the older version",
                              m_.ir_version(), kIrVersion));
  }
  if (m_.ir_version() < 1) {
    return Status(Code::kDataCorrupt, fmt::format("the graph has ir_version {}, wanted 1..{}",
                                                  m_.ir_version(), kIrVersion));
  }
  return Status();
}

Status Reader::ReadSymbols() {
  GE_RETURN_IF_ERROR(Count(m_.symbols_size()));
  for (const pb::Symbol& s : m_.symbols()) {
    Symbol out;
    out.name = s.name();
    out.min = s.min();
    out.max = s.max() == 0 ? INT64_MAX : s.max();
    out.multiple_of = s.multiple_of() == 0 ? 1 : s.multiple_of();
    out.origin = s.origin();
    out.data_dependent = s.data_dependent();
    if (out.name.empty()) return Invalid("a symbol has no name");
    if (out.min < 0 || out.max < out.min || out.multiple_of < 1) {
      return Invalid(
          fmt::format("symbol '{}' has the range {}..{} in multiples of {}; wanted "
                      "0 <= min <= max and a positive multiple",
                      out.name, out.min, out.max, out.multiple_of));
    }
    if (g_.dims.FindSymbol(out.name) != 0) {
      return Invalid(fmt::format("two symbols are named '{}'", out.name));
    }
    g_.dims.AddSymbol(out);
  }
  return Status();
}

Status Reader::ReadLocs() {
  GE_RETURN_IF_ERROR(Count(m_.locs_size()));
  for (const pb::Loc& l : m_.locs()) {
    GE_RETURN_IF_ERROR(CheckId("source file", l.file(), m_.files_size(), true));
    const uint64_t self = g_.locs.size();
    // Callers come first, so that a walk up the chain ends.
    if (l.caller() >= self) {
      return Invalid(fmt::format("location {} has caller {}; a caller must have a smaller number",
                                 self, l.caller()));
    }
    Loc& out = g_.locs.emplace_back();
    if (l.file() != 0) out.file = m_.files(static_cast<int>(l.file()) - 1);
    out.line = l.line();
    out.col = l.col();
    out.end_line = l.end_line();
    out.end_col = l.end_col();
    out.scope = l.scope();
    out.caller = l.caller();
  }
  return Status();
}

Status Reader::ReadConsts(const std::vector<ConstPiece>& consts) {
  GE_RETURN_IF_ERROR(Count(consts.size()));
  g_.consts.reserve(consts.size() + 1);
  for (const ConstPiece& piece : consts) {
    GE_RETURN_IF_ERROR(ReadConst(piece, static_cast<uint32_t>(g_.consts.size())));
  }
  return Status();
}

Status Reader::ReadConst(const ConstPiece& piece, uint32_t index) {
  google::protobuf::Arena arena;  // or else a failed allocation leaks
  auto& c = *google::protobuf::Arena::CreateMessage<pb::Const>(&arena);
  if (!c.ParseFromString(piece.skeleton)) {
    return Status(Code::kDataCorrupt,
                  fmt::format("constant {} of the graph file does not parse; the file was changed "
                              "after it was written",
                              index));
  }
  Const out;
  out.name = c.name();
  node_ = c.name().empty() ? fmt::format("constant {}", index) : c.name();
  out.unknown_fields = UnknownFields(c);
  if (c.has_type()) GE_RETURN_IF_ERROR(ReadType(c.type(), &out.type, 0));
  GE_RETURN_IF_ERROR(ReadPayload(c, piece, &out));
  node_.clear();
  g_.consts.push_back(std::move(out));
  return Status();
}

Status Reader::ReadPayload(const pb::Const& constant, const ConstPiece& piece, Const* out) {
  if (piece.has_payload && constant.payload_case() != pb::Const::PAYLOAD_NOT_SET) {
    return Invalid("the constant has two payloads, wanted one");
  }
  switch (constant.payload_case()) {
    case pb::Const::kSplat: {
      const auto* p = reinterpret_cast<const std::byte*>(constant.splat().data());
      out->splat.assign(p, p + constant.splat().size());
      return Status();
    }
    case pb::Const::kExternal:
      out->external.file = constant.external().file();
      out->external.offset = constant.external().offset();
      out->external.length = constant.external().length();
      out->external.sha256 = constant.external().sha256();
      if (out->external.file.empty()) return Invalid("the external constant names no file");
      return Status();
    case pb::Const::kStrings:
      GE_RETURN_IF_ERROR(Count(constant.strings().v_size()));
      out->strings.assign(constant.strings().v().begin(), constant.strings().v().end());
      return Status();
    default:
      break;
  }
  if (!piece.has_payload) return Status();  // an empty tensor
  if (!options_.owner) {
    Const copy = MakeConst(Type(), piece.payload.data(), piece.payload.size());
    out->owner = copy.owner;
    out->data = copy.data;
    out->bytes = copy.bytes;
    return Status();
  }
  out->owner = options_.owner;
  out->data = piece.payload.data();
  out->bytes = piece.payload.size();
  out->mapped = options_.mapped;
  return Status();
}

Status Reader::ReadStates() {
  GE_RETURN_IF_ERROR(Count(m_.states_size()));
  for (const pb::State& s : m_.states()) {
    node_ = s.name();
    State out;
    out.name = s.name();
    out.unknown_fields = UnknownFields(s);
    if (s.has_type()) GE_RETURN_IF_ERROR(ReadType(s.type(), &out.type, 0));
    GE_RETURN_IF_ERROR(CheckEnum("the kind of the state", s.kind(), pb::STATE_STEP));
    out.kind = static_cast<State::Kind>(s.kind());
    out.trainable = s.trainable();
    GE_RETURN_IF_ERROR(CheckId("constant", s.init(), g_.consts.size() - 1, true));
    GE_RETURN_IF_ERROR(CheckId("function", s.init_fn(), function_count(), true));
    GE_RETURN_IF_ERROR(CheckId("state", s.master_of(), m_.states_size(), true));
    out.init = s.init();
    out.init_fn = s.init_fn();
    out.alias_group = s.alias_group();
    out.master_of = s.master_of();
    node_.clear();
    g_.states.push_back(std::move(out));
  }
  return Status();
}

Status Reader::ReadEntries() {
  GE_RETURN_IF_ERROR(Count(m_.entries_size()));
  for (const pb::Entry& e : m_.entries()) {
    Entry out;
    out.name = e.name();
    out.unknown_fields = UnknownFields(e);
    GE_RETURN_IF_ERROR(CheckId("function of an entry", e.fn(), function_count(), false));
    GE_RETURN_IF_ERROR(CheckEnum("the role of an entry", e.role(), pb::ROLE_DATA));
    out.fn = e.fn();
    out.role = static_cast<Entry::Role>(e.role());
    g_.entries.push_back(std::move(out));
  }
  return Status();
}

Status Reader::Run(const std::vector<ConstPiece>& consts) {
  GE_RETURN_IF_ERROR(ReadVersion());
  g_.ir_version = m_.ir_version();
  g_.name = m_.name();
  g_.producer = m_.producer();
  g_.unknown_fields = UnknownFields(m_);
  for (const pb::Opset& o : m_.opset()) g_.opsets[o.domain()] = o.version();
  for (const pb::Meta& kv : m_.meta()) g_.meta[kv.key()] = kv.value();
  GE_RETURN_IF_ERROR(ReadSymbols());
  GE_RETURN_IF_ERROR(ReadLocs());
  GE_RETURN_IF_ERROR(ReadConsts(consts));
  GE_RETURN_IF_ERROR(ReadStates());
  GE_RETURN_IF_ERROR(ReadFunctions());
  if (spread_) {
    LogLine(1, fmt::format("graph '{}': types say how they are spread over a mesh, which is left "
                           "out; values are local now: split it with the pass parallel",
                           g_.name));
  }
  return ReadEntries();
}

}  // namespace proto

bool LooksLikeProto(std::span<const std::byte> bytes) {
  static constexpr char kStart[] = "\x0dGEIR";
  return bytes.size() >= 5 && std::memcmp(bytes.data(), kStart, 5) == 0;
}

Result<Graph> ReadProto(std::span<const std::byte> bytes, const ReadOptions& options) {
  // protobuf counts in int; the rest of the range is for its own bookkeeping.
  const uint64_t most = std::min<uint64_t>(options.max_skeleton_bytes, INT32_MAX - 64);
  GE_ASSIGN_OR_RETURN(proto::ModulePieces pieces,
                      proto::ScanModule(bytes, most, options.max_items));
  google::protobuf::Arena arena;
  auto& module = *google::protobuf::Arena::CreateMessage<proto::pb::Module>(&arena);
  {
    google::protobuf::io::CodedInputStream in(
        reinterpret_cast<const uint8_t*>(pieces.skeleton.data()),
        static_cast<int>(pieces.skeleton.size()));
    // A nested type costs two levels of messages, a dimension two, and the module four.
    in.SetRecursionLimit(4 * options.max_depth + 16);
    if (!module.ParseFromCodedStream(&in) || !in.ConsumedEntireMessage()) {
      return Status(Code::kDataCorrupt,
                    "the graph file does not parse: a message in it is damaged or nests too "
                    "deeply; it was changed after it was written");
    }
  }
  std::string().swap(pieces.skeleton);
  proto::Reader reader(module, options);
  GE_RETURN_IF_ERROR(reader.Run(pieces.consts));
  return reader.TakeGraph();
}

}  // namespace ge
