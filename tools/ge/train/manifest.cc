#include "tools/ge/train/manifest.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "ge/base/read_file.h"
#include "ge/base/text/json_text.h"
#include "tools/ge/train/digest.h"

namespace ge::tool {
namespace {

using Json = nlohmann::json;

// 1 had no digests, 2 no pipe and another order of samples; 4 has states in shares.
constexpr uint64_t kVersion = 3, kOfShares = 4;
constexpr uint64_t kMostBytes = uint64_t{1} << 26;
constexpr JsonLimits kLimits = {8, 4'000'000};
constexpr uint64_t kMostNumber = INT64_MAX;

Status Corrupt(const std::string& path, const std::string& text) {
  return Status(Code::kDataCorrupt, fmt::format("'{}' is no usable checkpoint: {}", path, text));
}

// JSON has no number that is none.
Json SumJson(double v) { return std::isfinite(v) ? Json(v) : Json(fmt::format("{}", v)); }

// A part of the manifest, as a message quotes it.
std::string Quoted(const Json& j) {
  const std::string text = j.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() <= 100 ? text : text.substr(0, 100) + "...";
}

Json RunJson(const RunFacts& run) {
  return {{"model", run.model}, {"data", run.data},     {"pass", run.pass},
          {"pipe", run.pipe},   {"layout", run.layout}, {"samples", run.samples},
          {"seed", run.seed},   {"batch", run.batch},   {"shuffle", run.shuffle}};
}

// Reads fields of one object. The first one that is not as wanted makes `status`; the others then
// count for nothing.
class Fields {
 public:
  Fields(const std::string& path, const Json& object, std::string prefix, Status* status)
      : path_(path), object_(object), prefix_(std::move(prefix)), status_(status) {}

  void Text(const char* name, std::string* to) {
    if (const Json* j = Find(name, "a text", [](const Json& v) { return v.is_string(); })) {
      *to = j->get<std::string>();
    }
  }
  void Hex(const char* name, size_t digits, std::string* to) {
    const auto fits = [&](const Json& v) {
      const auto* text = v.get_ptr<const std::string*>();
      return text != nullptr && text->size() == digits &&
             text->find_first_not_of("0123456789abcdef") == std::string::npos;
    };
    if (const Json* j = Find(name, fmt::format("a digest of {} digits", digits), fits)) {
      *to = j->get<std::string>();
    }
  }
  void Whole(const char* name, uint64_t least, uint64_t most, uint64_t* to) {
    const auto fits = [&](const Json& v) {
      return v.is_number_unsigned() && v.get<uint64_t>() >= least && v.get<uint64_t>() <= most;
    };
    if (const Json* j =
            Find(name, fmt::format("a whole number from {} to {}", least, most), fits)) {
      *to = j->get<uint64_t>();
    }
  }
  void Sum(const char* name, double* to) {
    const auto fits = [](const Json& v) {
      return v.is_number() || v == "nan" || v == "-nan" || v == "inf" || v == "-inf";
    };
    const Json* j = Find(name, "a number", fits);
    if (j == nullptr) return;
    *to = j->is_number() ? j->get<double>() : std::stod(j->get<std::string>());
  }
  void Flag(const char* name, bool* to) {
    if (const Json* j = Find(name, "true or false", [](const Json& v) { return v.is_boolean(); })) {
      *to = j->get<bool>();
    }
  }
  Json Object(const char* name) {
    const Json* j = Find(name, "an object", [](const Json& v) { return v.is_object(); });
    return j != nullptr ? *j : Json::object();
  }

 private:
  template <typename Fits>
  const Json* Find(const char* name, const std::string& wanted, Fits fits) {
    if (!status_->ok()) return nullptr;
    const auto found = object_.find(name);
    if (found != object_.end() && fits(*found)) return &*found;
    *status_ =
        Corrupt(path_, fmt::format("its {}{} is {}, wanted {}", prefix_, name,
                                   found == object_.end() ? "missing" : Quoted(*found), wanted));
    return nullptr;
  }

  const std::string& path_;
  const Json& object_;
  std::string prefix_;
  Status* status_;
};

Json FileJson(const StatesFile& f) {
  return {{"file", f.name}, {"bytes", f.bytes}, {"digest", f.digest}};
}

void ReadFile(Fields* fields, StatesFile* to) {
  fields->Text("file", &to->name);
  fields->Hex("digest", 32, &to->digest);
  fields->Whole("bytes", 1, kMostNumber, &to->bytes);
}

Json SharesJson(const std::map<std::string, StoredState>& shares) {
  Json all = Json::object();
  for (const auto& [name, s] : shares) {
    Json parts = Json::array();
    for (const StoredState::Part& p : s.parts) {
      parts.push_back({{"file", p.file}, {"box", BoxJson(p.box)}});
    }
    all[name] = {{"dtype", DTypeName(s.dtype)}, {"dims", s.dims}, {"parts", std::move(parts)}};
  }
  return all;
}

std::optional<StoredState> StoredOf(const Json& j, size_t files) {
  if (!j.is_object() || !j.contains("dtype") || !j["dtype"].is_string()) return std::nullopt;
  const auto dtype = DTypeFromName(j["dtype"].get<std::string>());
  const auto dims = DimsOf(j.value("dims", Json()));
  const Json parts = j.value("parts", Json());
  if (!dtype || !dims || !parts.is_array()) return std::nullopt;
  StoredState s{*dtype, *dims, {}};
  for (const Json& p : parts) {
    if (!p.is_object()) return std::nullopt;
    const Json file = p.value("file", Json());
    const auto box = BoxOf(p.value("box", Json()), *dims);
    if (!box || !file.is_number_unsigned() || file.get<uint64_t>() >= files) return std::nullopt;
    s.parts.push_back({file.get<size_t>(), *box});
  }
  return s;
}

Status ReadShares(const std::string& path, const Json& j, size_t files,
                  std::map<std::string, StoredState>* to) {
  for (const auto& [name, state] : j.items()) {
    auto stored = StoredOf(state, files);
    if (!stored) return Corrupt(path, fmt::format("its states.tensors.{} is no state", name));
    (*to)[name] = std::move(*stored);
  }
  return {};
}

std::string DigestOfJson(Json j) {
  j.erase("digest");
  Digest digest;
  digest.Add(j.dump(-1, ' ', true, Json::error_handler_t::replace));
  return digest.Hex();
}

}  // namespace

std::string ManifestText(const Manifest& m) {
  Json states;
  if (m.shares.empty()) {
    states = FileJson(m.files.front());
  } else {
    for (const StatesFile& f : m.files) states["files"].push_back(FileJson(f));
    states["tensors"] = SharesJson(m.shares);
  }
  Json j = {{"version", m.shares.empty() ? kVersion : kOfShares},
            {"step", m.at.step},
            {"loss_sum", SumJson(m.at.loss_sum)},
            {"correct", SumJson(m.at.correct)},
            {"states", std::move(states)},
            {"run", RunJson(m.run)}};
  j["digest"] = DigestOfJson(j);
  return j.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string PieceText(const SharePiece& piece) {
  Json j = {
      {"step", piece.step}, {"file", FileJson(piece.file)}, {"tensors", SharesJson(piece.shares)}};
  return j.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

Result<SharePiece> ReadPiece(const std::string& path) {
  GE_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(path, kMostBytes));
  GE_ASSIGN_OR_RETURN(const Json j, ParseJson(text, kLimits));
  if (!j.is_object()) return Corrupt(path, "it is not what ge train writes");
  Status status;
  SharePiece piece;
  Fields top(path, j, "", &status);
  top.Whole("step", 1, kMostNumber, &piece.step);
  const Json file = top.Object("file"), tensors = top.Object("tensors");
  Fields fields(path, file, "file.", &status);
  ReadFile(&fields, &piece.file);
  GE_RETURN_IF_ERROR(status);
  GE_RETURN_IF_ERROR(ReadShares(path, tensors, 1, &piece.shares));
  return piece;
}

namespace {

// Of one file with all states, or of a file of each rank.
Status ReadStates(const std::string& path, const Json& j, uint64_t version, Manifest* m) {
  Status status;
  if (version == kVersion) {
    Fields fields(path, j, "states.", &status);
    ReadFile(&fields, &m->files.emplace_back());
    return status;
  }
  const Json files = j.value("files", Json()), tensors = j.value("tensors", Json());
  if (!files.is_array() || files.empty() || !tensors.is_object() || tensors.empty()) {
    return Corrupt(path, "its states have no files and tensors");
  }
  for (const Json& f : files) {
    if (!f.is_object()) return Corrupt(path, "its states.files are no files");
    Fields fields(path, f, "states.files.", &status);
    ReadFile(&fields, &m->files.emplace_back());
  }
  GE_RETURN_IF_ERROR(status);
  return ReadShares(path, tensors, m->files.size(), &m->shares);
}

}  // namespace

Result<Manifest> ReadManifest(const std::string& path) {
  GE_ASSIGN_OR_RETURN(const std::string text, ReadRegularFile(path, kMostBytes));
  const auto read = ParseJson(text, kLimits);
  if (!read.ok()) return Corrupt(path, read.status().message());
  const Json& j = *read;
  if (!j.is_object() || !j.contains("run")) {
    return Corrupt(path, "it is not what ge train writes");
  }
  Status status;
  uint64_t version = 0;
  Manifest m;
  Fields top(path, j, "", &status);
  top.Whole("version", 0, kMostNumber, &version);
  if (status.ok() && version != kVersion && version != kOfShares) {
    return Corrupt(
        path, fmt::format("it is of version {}, wanted {} or {}", version, kVersion, kOfShares));
  }
  top.Whole("step", 1, kMostNumber, &m.at.step);
  top.Sum("loss_sum", &m.at.loss_sum);
  top.Sum("correct", &m.at.correct);
  const Json states_json = top.Object("states"), run_json = top.Object("run");
  if (status.ok()) status = ReadStates(path, states_json, version, &m);
  Fields run(path, run_json, "run.", &status);
  run.Hex("model", 64, &m.run.model);
  run.Text("data", &m.run.data);
  run.Text("pipe", &m.run.pipe);
  run.Text("layout", &m.run.layout);
  run.Text("pass", &m.run.pass);
  run.Flag("shuffle", &m.run.shuffle);
  run.Whole("samples", 1, kMostNumber, &m.run.samples);
  run.Whole("batch", 1, UINT32_MAX, &m.run.batch);
  run.Whole("seed", 0, UINT64_MAX, &m.run.seed);
  std::string digest;
  top.Hex("digest", 32, &digest);
  GE_RETURN_IF_ERROR(status);
  if (digest != DigestOfJson(j)) {
    return Corrupt(path, "its digest is not that of its content, which was changed");
  }
  return m;
}

Status CompareRuns(const RunFacts& have, const RunFacts& wanted, const std::string& folder) {
  const Json theirs = RunJson(have), ours = RunJson(wanted);
  // What says most first: a seed is also in the options of the pass, another pipe has other data.
  for (const char* key :
       {"seed", "batch", "shuffle", "layout", "pipe", "data", "samples", "model", "pass"}) {
    const Json& value = ours[key];
    if (theirs[key] == value) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("the checkpoint in '{}' is of another run: its {} is {}, this one's "
                              "{}; use another folder, or the same arguments",
                              folder, key, theirs[key].dump(), value.dump()));
  }
  return {};
}

}  // namespace ge::tool
