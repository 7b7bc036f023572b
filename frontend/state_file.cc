#include "frontend/state_file.h"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "frontend/onnx/import.h"
#include "frontend/proto/proto.h"
#include "ge/base/mapped_file.h"
#include "ge/base/replace_file.h"

namespace ge {
namespace {

using Bytes = std::span<const std::byte>;
using Digest = std::array<std::byte, 16>;

// The last constant: its payload ends the file, and is the digest of all bytes before it.
constexpr std::string_view kDigestName = "xxh3-128 of all bytes before";
// The last constant of what was written before 2026-11-27: the digest of the values alone.
constexpr std::string_view kValuesDigestName = "xxh3-128 of all states";
// Of the last constant, what stands before its payload.
constexpr size_t kMostHead = 64;

class Hash {
 public:
  Hash() : state_(XXH3_createState()) { XXH3_128bits_reset(state_); }
  ~Hash() { XXH3_freeState(state_); }
  Hash(const Hash&) = delete;
  Hash& operator=(const Hash&) = delete;
  void Add(Bytes bytes) { XXH3_128bits_update(state_, bytes.data(), bytes.size()); }
  Digest Sum() const {
    XXH128_canonical_t text;
    XXH128_canonicalFromHash(&text, XXH3_128bits_digest(state_));
    Digest digest;
    std::memcpy(digest.data(), text.digest, digest.size());
    return digest;
  }

 private:
  XXH3_state_t* state_;
};

Digest DigestOf(Bytes bytes) {
  Hash hash;
  hash.Add(bytes);
  return hash.Sum();
}

Const Borrowed(std::string name, Type type, Bytes bytes) {
  Const c;
  c.name = std::move(name);
  c.type = std::move(type);
  c.data = bytes.data();
  c.bytes = bytes.size();
  return c;
}

Status Damaged(const std::string& path, const std::string& how) {
  return Status(Code::kDataCorrupt,
                fmt::format("'{}' is damaged: {}; restore from another copy", path, how));
}

Status Foreign(const std::string& path, const std::string& how) {
  return Status(Code::kInvalidArgument,
                fmt::format("'{}' holds no states of this model: {}", path, how));
}

bool HasDigestOfAll(Bytes file) {
  const Bytes end = file.last(std::min(file.size(), kMostHead + sizeof(Digest)));
  return std::string_view(reinterpret_cast<const char*>(end.data()), end.size())
             .find(kDigestName) != std::string_view::npos;
}

// Of such files no digest covers names, types and what else they say, so that all of it has to be
// just what was written then.
Status CheckValuesAlone(const Graph& file, const std::string& path) {
  bool plain = file.functions.size() == 1 && file.entries.empty() && file.locs.size() <= 1 &&
               file.meta.empty() && file.dims.symbol_count() == 0 && file.unknown_fields.empty() &&
               file.consts.size() == file.states.size() + 1;
  Hash hash;
  for (StateId s = 1; plain && s < file.states.size(); ++s) {
    const State& state = file.states[s];
    plain =
        state.init == s && state.unknown_fields.empty() && file.consts[s].unknown_fields.empty();
    hash.Add({file.consts[s].data, static_cast<size_t>(file.consts[s].bytes)});
  }
  if (!plain) return Damaged(path, "it holds more, less or something else than states");
  const Const& digest = file.consts.back();
  const Digest wanted = hash.Sum();
  if (digest.name == kValuesDigestName && digest.bytes == wanted.size() && digest.data != nullptr &&
      std::memcmp(digest.data, wanted.data(), wanted.size()) == 0) {
    return {};
  }
  return Damaged(path, "its digest is not that of its values");
}

// The value of a state that fits what the model declares.
Result<Const> ValueOf(const Graph& file, StateId s, const State& want, const DimTable& dims,
                      const std::string& path) {
  const State& have = file.states[s];
  if (have.name != want.name || !FitsDeclared(have.type, want.type)) {
    return Foreign(path, fmt::format("its state {} is '{}' of type {}, the model's '{}' of type {}",
                                     s, have.name, TypeToString(have.type, file.dims), want.name,
                                     TypeToString(want.type, dims)));
  }
  const Const* value = have.init != 0 ? &file.consts[have.init] : nullptr;
  const auto bytes = ByteCount(have.type);
  const bool there = value != nullptr && bytes && value->external.file.empty() &&
                     value->bytes == static_cast<uint64_t>(*bytes) &&
                     (value->data != nullptr || *bytes == 0);
  if (!there) return Damaged(path, fmt::format("state '{}' has no value", have.name));
  if (value->name != have.name || value->type != have.type) {
    return Damaged(path, fmt::format("state '{}' is {}, its value is '{}' of type {}", have.name,
                                     TypeToString(have.type, file.dims), value->name,
                                     TypeToString(value->type, file.dims)));
  }
  return *value;
}

Result<Graph> ReadAll(const std::shared_ptr<const MappedFile>& file, const std::string& path) {
  ReadOptions options;
  options.owner = file;
  options.mapped = true;
  auto graph = ReadProto(file->bytes(), options);
  if (graph.ok()) return graph;
  return Status(
      graph.status().code() == Code::kInvalidGraph ? Code::kDataCorrupt : graph.status().code(),
      fmt::format("'{}' cannot be read: {}", path, graph.status().message()));
}

}  // namespace

Status WriteStateFile(const Graph& graph, std::span<const Type> types,
                      std::span<const std::byte* const> values, const std::string& path) {
  Graph out;
  out.name = "states of " + graph.name;
  out.opsets = graph.opsets;
  for (StateId s = 1; s < graph.states.size(); ++s) {
    State state;
    state.name = graph.states[s].name;
    state.type = types[s];
    state.kind = graph.states[s].kind;
    const auto bytes = static_cast<size_t>(ByteCount(types[s]).value_or(0));
    state.init = out.AddConst(Borrowed(state.name, state.type, {values[s], bytes}));
    out.states.push_back(std::move(state));
  }
  const Digest none{};  // its place
  out.AddConst(Borrowed(std::string(kDigestName),
                        TensorType(DType::kUint8, std::vector<int64_t>{16}), none));
  GE_ASSIGN_OR_RETURN(std::string text, WriteProto(out));
  const Bytes written = std::as_bytes(std::span(text.data(), text.size()));
  const Bytes place = written.last(std::min(written.size(), none.size()));
  if (!HasDigestOfAll(written) || !std::equal(place.begin(), place.end(), none.begin())) {
    return Status(Code::kInternal, "a file of states does not end with its digest");
  }
  const Digest digest = DigestOf(written.first(written.size() - none.size()));
  std::memcpy(text.data() + text.size() - digest.size(), digest.data(), digest.size());
  return ReplaceFile(path, text, true);
}

Result<std::vector<Const>> ReadStateFile(const Graph& graph, const std::string& path) {
  GE_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> mapped,
                      MappedFile::Open(path, ImportOptions().max_file_bytes));
  const Bytes bytes = mapped->bytes();
  if (!LooksLikeProto(bytes)) {
    return Status(Code::kDataCorrupt,
                  fmt::format("'{}' is no file of states, or damaged at its beginning; give the "
                              "file that ge_session_save_states wrote",
                              path));
  }
  const bool covered = HasDigestOfAll(bytes);
  if (covered) {
    const Digest digest = DigestOf(bytes.first(bytes.size() - sizeof(Digest)));
    if (std::memcmp(digest.data(), bytes.last(sizeof(Digest)).data(), sizeof(Digest)) != 0) {
      return Damaged(path, "its digest is not that of what it holds");
    }
  }
  GE_ASSIGN_OR_RETURN(const Graph file, ReadAll(mapped, path));
  if (!covered && file.functions.size() > 1) {
    return Status(Code::kInvalidArgument,
                  fmt::format("'{}' is a model and no file of states; give the file that "
                              "ge_session_save_states wrote",
                              path));
  }
  if (!covered) GE_RETURN_IF_ERROR(CheckValuesAlone(file, path));
  if (file.states.size() != graph.states.size()) {
    return Foreign(path, fmt::format("it has {}, the model {}", file.states.size() - 1,
                                     graph.states.size() - 1));
  }
  std::vector<Const> values(1);
  for (StateId s = 1; s < graph.states.size(); ++s) {
    GE_ASSIGN_OR_RETURN(Const value, ValueOf(file, s, graph.states[s], graph.dims, path));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace ge
