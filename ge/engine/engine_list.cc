#include "ge/engine/engine_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/base/log.h"
#include "ge/engine/plugin/discovery.h"
#include "ge/engine/plugin/search_path.h"

namespace ge {

namespace {

// Reads an engine list from its begin.
class ListScanner {
 public:
  explicit ListScanner(std::string_view list) : list_(list) {}

  bool AtEnd() const { return at_ == list_.size(); }
  bool Accept(char c) {
    if (AtEnd() || list_[at_] != c) return false;
    ++at_;
    return true;
  }
  // What stands before the next of `stops`; between quotes they stop nothing.
  Result<std::string> Piece(std::string_view stops) {
    const size_t begin = at_;
    if (AtEnd() || (list_[at_] != '"' && list_[at_] != '\'')) {
      at_ = std::min(list_.find_first_of(stops, at_), list_.size());
      return std::string(list_.substr(begin, at_ - begin));
    }
    const size_t end = list_.find(list_[at_], at_ + 1);
    if (end == std::string_view::npos) {
      return Fail(fmt::format("a quote that does not end, from {}", list_.substr(begin)));
    }
    at_ = end + 1;
    if (!AtEnd() && stops.find(list_[at_]) == std::string_view::npos) {
      return Fail(fmt::format("text behind the quotes of {}", list_.substr(begin, at_ - begin)));
    }
    return std::string(list_.substr(begin + 1, end - begin - 1));
  }
  // "key=value;key=value" as it stands there, up to the next item.
  Result<std::string> Options() {
    const size_t begin = at_;
    do {
      const size_t option = at_;
      at_ = std::min(list_.find_first_of("=;,", at_), list_.size());
      const bool empty = at_ == option;  // behind a last ; or none at all
      if (empty && !AtEnd() && list_[at_] == '=') return Fail("an option without a key");
      if (!empty && !Accept('=')) {
        return Fail(fmt::format("the option '{}' without a value; write key=value",
                                list_.substr(option, at_ - option)));
      }
      if (!empty) GE_RETURN_IF_ERROR(Piece(";,").status());
    } while (Accept(';'));
    return std::string(list_.substr(begin, at_ - begin));
  }
  Status Fail(std::string_view what) const {
    return Status(Code::kInvalidArgument,
                  fmt::format("engine list '{}' has {}; write names separated by commas, as in "
                              "onednn,ref, and put quotes around what holds a comma, semicolon or "
                              "colon",
                              list_, what));
  }

 private:
  const std::string_view list_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<EngineSpec>> ParseEngineList(std::string_view list) {
  std::vector<EngineSpec> out;
  if (list.empty()) return out;
  ListScanner scanner(list);
  do {
    EngineSpec spec;
    GE_ASSIGN_OR_RETURN(spec.name, scanner.Piece(":,"));
    if (spec.name.empty()) return scanner.Fail("an empty item");
    if (scanner.Accept(':')) {
      GE_ASSIGN_OR_RETURN(spec.options, scanner.Options());
    }
    out.push_back(std::move(spec));
  } while (scanner.Accept(','));
  return out;
}

Result<Numerics> NumericsFromName(std::string_view name, std::string_view what) {
  if (name == "fast") return Numerics::kFast;
  if (name == "exact") return Numerics::kExact;
  return Status(Code::kInvalidArgument,
                fmt::format("{} is '{}', wanted fast or exact", what, name));
}

Result<Precision> PrecisionFromName(std::string_view name, std::string_view what) {
  if (name == "f32") return Precision::kF32;
  if (name == "bf16") return Precision::kBf16;
  if (name == "f16") {
    return Status(
        Code::kInvalidArgument,
        fmt::format("{} is 'f16', which no engine here multiplies in; wanted f32, or bf16, "
                    "which keeps the range of float32",
                    what));
  }
  return Status(Code::kInvalidArgument, fmt::format("{} is '{}', wanted f32 or bf16", what, name));
}

Result<EngineList> OpenEngines(const std::vector<EngineSpec>& list, const OpenEngine& open) {
  EngineList engines;
  std::vector<std::pair<std::shared_ptr<const Plugin>, std::string>> wanted;
  for (const EngineSpec& spec : list) {
    GE_ASSIGN_OR_RETURN(auto plugin, FindPlugin(spec.name, "engine", spec.options));
    if (!(plugin->desc->kinds & GE_KIND_ENGINE)) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("plugin '{}' has no engine; name it in the list of plugins, which "
                                "bring operators and passes",
                                plugin->path));
    }
    wanted.emplace_back(std::move(plugin), spec.options);
  }
  if (list.empty()) {
    std::string why;
    for (const Found& f : DiscoverPlugins()) {
      if (f.HasEngine()) wanted.emplace_back(f.plugin, "");
      if (!f.plugin && !f.why.empty()) why += fmt::format("; {}: {}", f.path, f.why);
      // Without it runs may take many times as long: whoever waits should know why.
      if (f.state == Found::State::kRefused) LogLine(1, f.why);
    }
    if (wanted.empty()) {
      if (const std::string missing = WhyNoBuiltIn(); !missing.empty()) why += "; " + missing;
      return Status(
          Code::kFailedPrecondition,
          "no engine plugin was found; set GE_PLUGIN_PATH to the folder of the engines" + why);
    }
  }
  Status refusal;
  for (auto& [plugin, text] : wanted) {
    auto engine = open(plugin, text);
    if (engine.ok()) {
      engines.push_back(std::move(*engine));
    } else if (!list.empty()) {
      return engine.status();
    } else {  // Nobody asked for this one: its library or device may not be here.
      refusal = engine.status();
      LogLine(refusal.code() == Code::kFailedPrecondition ? 2 : 1, refusal.ToString());
    }
  }
  if (engines.empty()) return refusal;
  return engines;
}

}  // namespace ge
