#include "tools/ge/train/manifest.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ge/base/read_file.h"
#include "ge/base/text/json_text.h"
#include "tools/ge/train/digest.h"

namespace ge::tool {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kVersion = 3;  // 1 had no digests, 2 no pipe and another order of samples
constexpr uint64_t kMostBytes = uint64_t{1} << 20;
constexpr JsonLimits kLimits = {4, 1000};
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

std::string DigestOfJson(Json j) {
  j.erase("digest");
  Digest digest;
  digest.Add(j.dump(-1, ' ', true, Json::error_handler_t::replace));
  return digest.Hex();
}

}  // namespace

std::string ManifestText(const Manifest& m) {
  Json j = {
      {"version", kVersion},
      {"step", m.at.step},
      {"loss_sum", SumJson(m.at.loss_sum)},
      {"correct", SumJson(m.at.correct)},
      {"states", {{"file", m.states}, {"bytes", m.states_bytes}, {"digest", m.states_digest}}},
      {"run", RunJson(m.run)}};
  j["digest"] = DigestOfJson(j);
  return j.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
}

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
  if (status.ok() && version != kVersion) {
    return Corrupt(path, fmt::format("it is of version {}, wanted {}", version, kVersion));
  }
  top.Whole("step", 1, kMostNumber, &m.at.step);
  top.Sum("loss_sum", &m.at.loss_sum);
  top.Sum("correct", &m.at.correct);
  const Json states_json = top.Object("states"), run_json = top.Object("run");
  Fields states(path, states_json, "states.", &status), run(path, run_json, "run.", &status);
  states.Text("file", &m.states);
  states.Hex("digest", 32, &m.states_digest);
  states.Whole("bytes", 1, kMostNumber, &m.states_bytes);
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
