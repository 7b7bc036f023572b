#include "ge/tune/rehearsed.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "frontend/text/text.h"
#include "ge/base/log.h"
#include "ge/base/sha256.h"
#include "ge/base/text/json_number.h"
#include "ge/base/text/json_text.h"
#include "ge/host/cache_folder.h"
#include "ge/host/machine.h"
#include "ge/host/probe.h"
#include "ge/place/placed.h"
#include "ge/price/correct.h"

namespace ge {
namespace {

constexpr const char* kFile = "plans.json";
constexpr int kFormat = 3;
// Plans kept, of 10 to 30 KB each, since each session reads the file; the oldest go first.
constexpr size_t kMost = 64;

// None of a file in another format. DATA_CORRUPT, beginning with "it".
Result<nlohmann::json> Parsed(const std::string& text) {
  const nlohmann::json none = {{"format", kFormat}, {"plans", nlohmann::json::object()}};
  if (text.empty()) return none;
  GE_ASSIGN_OR_RETURN(nlohmann::json j, ParseJson(text));
  try {
    if (WholeNumber<uint32_t>(j.at("format")) != kFormat) return none;
    (void)FieldsOf(j.at("plans"));
    return j;
  } catch (const nlohmann::json::exception&) {  // its text may quote the file's bytes
    return Status(Code::kDataCorrupt, "it is damaged: a field is missing or of another kind");
  }
}

std::string Printed(const nlohmann::json& all) {
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

int64_t SecondsNow() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// [[device, [[offer, choice, [node...]]...]]...]
nlohmann::json CoverJson(const std::vector<PlaceSegment>& cover) {
  nlohmann::json out = nlohmann::json::array();
  for (const PlaceSegment& segment : cover) {
    nlohmann::json offers = nlohmann::json::array();
    for (const PlaceSegment::Taken& o : segment.offers) {
      offers.push_back({o.offer, o.choice, o.nodes});
    }
    out.push_back({segment.device, offers});
  }
  return out;
}

std::vector<PlaceSegment> CoverFrom(const nlohmann::json& cover) {
  std::vector<PlaceSegment> out;
  for (const nlohmann::json& segment : ListOf(cover)) {
    PlaceSegment s{segment.at(0).get<std::string>(), {}};
    for (const nlohmann::json& o : ListOf(segment.at(1))) {
      s.offers.push_back({WholeNumber<uint32_t>(o.at(0)), WholeNumber<uint32_t>(o.at(1)),
                          WholeNumbers<uint32_t>(o.at(2))});
    }
    out.push_back(std::move(s));
  }
  return out;
}

// Of a damaged entry 0: it goes first.
int64_t KeptAt(const nlohmann::json& entry) {
  const auto at = entry.find("at");
  return at != entry.end() && at->is_number_integer() ? at->get<int64_t>() : 0;
}

void DropOldest(nlohmann::json* plans) {
  while (plans->size() > kMost) {
    plans->erase(std::min_element(plans->begin(), plans->end(), [](const auto& a, const auto& b) {
      return KeptAt(a) < KeptAt(b);
    }));
  }
}

}  // namespace

std::string QuestionOf(const Graph& bound, const EngineList& engines) {
  PrintOptions options;
  options.elide = true;
  std::string text = PrintText(bound, options);
  const MachineRecord machine = HostMachine();
  text += fmt::format("\n{} {} {}", machine.cpu, machine.isa, machine.threads);
  for (const auto& e : engines) {
    for (uint32_t d = 0; d < e->devices().size(); ++d) {
      const PriceBook book = BookOf(*e, d);
      text += fmt::format("\n{} {}", book.plugin_hash, book.device);
      if (e->words().precision != GE_PRECISION_F32) text += " rounds";
    }
  }
  return Sha256(std::as_bytes(std::span(text.data(), text.size()))).substr(0, 32);
}

bool AnyRehearsed() {
  const std::string folder = CacheFolder();
  std::error_code error;
  return !folder.empty() && std::filesystem::exists(folder + "/" + kFile, error);
}

namespace {

void ForgetRehearsed(const std::string& question) {
  LogLine(1, fmt::format("the plan that '{}/{}' keeps for this model is ignored: it is damaged, a "
                         "field is missing or of another kind; it is taken out",
                         CacheFolder(), kFile));
  UpdateCacheFile(kFile, [&](const std::string& present) -> Result<std::string> {
    GE_ASSIGN_OR_RETURN(nlohmann::json all, Parsed(present));
    all["plans"].erase(question);
    return Printed(all);
  });
}

}  // namespace

PlaceOptions FindRehearsed(const std::string& question) {
  const auto text = ReadCacheFile(kFile);
  if (!text) return {};
  const auto all = Parsed(*text);
  if (!all.ok()) {
    if (all.status().code() == Code::kDataCorrupt) {
      PutAsideCacheFile(kFile, *text, all.status().message());
    }
    return {};
  }
  const nlohmann::json& plans = all->at("plans");
  const auto it = plans.find(question);
  if (it == plans.end()) return {};
  try {
    PlaceOptions place;
    place.cover = CoverFrom(it->at("cover"));
    place.expanded = WholeNumbers<NodeId>(it->at("expanded"));
    return place;
  } catch (const nlohmann::json::exception&) {
    ForgetRehearsed(question);
    return {};
  }
}

void KeepRehearsed(const std::string& question, const Plan& plan,
                   const std::vector<NodeId>& expanded) {
  UpdateCacheFile(kFile, [&](const std::string& present) -> Result<std::string> {
    GE_ASSIGN_OR_RETURN(nlohmann::json all, Parsed(present));
    all["plans"][question] = {{"cover", CoverJson(CoverOf(plan, plan.functions[0]))},
                              {"expanded", expanded},
                              {"at", SecondsNow()}};
    DropOldest(&all["plans"]);
    return Printed(all);
  });
}

}  // namespace ge
