#include "ge/tune/rehearsed.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "frontend/text/text.h"
#include "ge/base/json_number.h"
#include "ge/base/sha256.h"
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

nlohmann::json Parsed(const std::string& text) {
  nlohmann::json j = nlohmann::json::parse(text, nullptr, false);
  const bool good = j.is_object() && j.value("format", nlohmann::json()) == kFormat &&
                    j.contains("plans") && j["plans"].is_object();
  return good ? j : nlohmann::json{{"format", kFormat}, {"plans", nlohmann::json::object()}};
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
  for (const nlohmann::json& segment : cover) {
    PlaceSegment s{segment.at(0).get<std::string>(), {}};
    for (const nlohmann::json& o : segment.at(1)) {
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

PlaceOptions FindRehearsed(const std::string& question) {
  const auto text = ReadCacheFile(kFile);
  if (!text) return {};
  const nlohmann::json all = Parsed(*text);
  const auto it = all["plans"].find(question);
  if (it == all["plans"].end()) return {};
  try {
    PlaceOptions place;
    place.cover = CoverFrom(it->at("cover"));
    place.expanded = WholeNumbers<NodeId>(it->at("expanded"));
    return place;
  } catch (const nlohmann::json::exception&) {  // damaged: as if it were not there
    return {};
  }
}

void KeepRehearsed(const std::string& question, const Plan& plan,
                   const std::vector<NodeId>& expanded) {
  UpdateCacheFile(kFile, [&](const std::string& present) {
    nlohmann::json all = Parsed(present);
    all["plans"][question] = {{"cover", CoverJson(CoverOf(plan, plan.functions[0]))},
                              {"expanded", expanded},
                              {"at", SecondsNow()}};
    DropOldest(&all["plans"]);
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  });
}

}  // namespace ge
