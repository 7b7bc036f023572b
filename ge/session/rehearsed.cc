#include "ge/session/rehearsed.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>

#include "frontend/text/text.h"
#include "ge/engine/cache_folder.h"
#include "ge/engine/correct.h"
#include "ge/engine/probe.h"
#include "ge/engine/sha256.h"

namespace ge {
namespace {

constexpr const char* kFile = "plans.json";
constexpr int kFormat = 1;
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
nlohmann::json CoverJson(const Plan& plan) {
  nlohmann::json cover = nlohmann::json::array();
  for (const PlanSegment& segment : plan.functions[0].segments) {
    if (segment.offers.empty()) continue;
    nlohmann::json offers = nlohmann::json::array();
    for (const PlanOffer& o : segment.offers) offers.push_back({o.offer_index, o.choice, o.nodes});
    cover.push_back({plan.devices[segment.device].name, offers});
  }
  return cover;
}

std::vector<PlaceSegment> CoverOf(const nlohmann::json& cover) {
  std::vector<PlaceSegment> out;
  for (const nlohmann::json& segment : cover) {
    PlaceSegment s{segment.at(0).get<std::string>(), {}};
    for (const nlohmann::json& o : segment.at(1)) {
      s.offers.push_back(
          {o.at(0).get<uint32_t>(), o.at(1).get<uint32_t>(), o.at(2).get<std::vector<uint32_t>>()});
    }
    out.push_back(std::move(s));
  }
  return out;
}

nlohmann::json ToJson(const PlaceOptions& placed_by, const Plan& plan) {
  nlohmann::json pins = nlohmann::json::array();
  if (placed_by.policy == PlacePolicy::kCost) {
    for (const NodeReport& r : plan.report) {
      if (r.chosen < 0) continue;
      const Bid& bid = r.bids[static_cast<size_t>(r.chosen)];
      pins.push_back({fmt::format("#{}", r.node), plan.devices[bid.device].name});
    }
  } else {
    for (const PlacePin& p : placed_by.pins) pins.push_back({p.node, p.target});
  }
  return {{"policy", placed_by.policy == PlacePolicy::kCost ? "cost" : "priority"},
          {"order", placed_by.order},
          {"fuse", placed_by.fuse},
          {"pins", pins},
          {"cover", CoverJson(plan)},
          {"at", SecondsNow()}};
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

std::string QuestionOf(const Graph& bound, const std::vector<std::unique_ptr<Engine>>& engines) {
  PrintOptions options;
  options.elide = true;
  std::string text = PrintText(bound, options);
  const MachineRecord machine = HostMachine();
  text += fmt::format("\n{} {} {}", machine.cpu, machine.isa, machine.threads);
  for (const auto& e : engines) {
    for (uint32_t d = 0; d < e->devices().size(); ++d) {
      const PriceBook book = BookOf(*e, d);
      text += fmt::format("\n{} {}", book.plugin_hash, book.device);
    }
  }
  return Sha256(std::as_bytes(std::span(text.data(), text.size()))).substr(0, 32);
}

std::optional<PlaceOptions> FindRehearsed(const std::string& question) {
  const auto text = ReadCacheFile(kFile);
  if (!text) return std::nullopt;
  const nlohmann::json all = Parsed(*text);
  const auto it = all["plans"].find(question);
  if (it == all["plans"].end()) return std::nullopt;
  try {
    PlaceOptions out;
    auto policy = PlacePolicyFromName(it->at("policy").get<std::string>());
    if (!policy.ok()) return std::nullopt;
    out.policy = *policy;
    out.order = it->at("order").get<std::vector<std::string>>();
    out.fuse = it->at("fuse").get<bool>();
    for (const nlohmann::json& pin : it->at("pins")) {
      out.pins.push_back({pin.at(0).get<std::string>(), pin.at(1).get<std::string>()});
    }
    out.cover = CoverOf(it->value("cover", nlohmann::json::array()));
    return out;
  } catch (const nlohmann::json::exception&) {  // damaged: as if it were not there
    return std::nullopt;
  }
}

void KeepRehearsed(const std::string& question, const PlaceOptions& placed_by, const Plan& plan) {
  UpdateCacheFile(kFile, [&](const std::string& present) {
    nlohmann::json all = Parsed(present);
    all["plans"][question] = ToJson(placed_by, plan);
    DropOldest(&all["plans"]);
    return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  });
}

void MovePin(const Plan& plan, NodeId node, const std::string& target, PlaceOptions* place) {
  place->cover.clear();
  std::vector<PlacePin>& pins = place->pins;
  for (const PlanSegment& segment : plan.functions[0].segments) {
    for (const PlanOffer& offer : segment.offers) {
      const auto& together = offer.nodes;
      if (std::find(together.begin(), together.end(), node) == together.end()) continue;
      for (NodeId other : together) {
        const std::string name = fmt::format("#{}", other);
        std::erase_if(pins, [&](const PlacePin& p) { return p.node == name; });
      }
    }
  }
  Repin({fmt::format("#{}", node), target}, &pins);
}

}  // namespace ge
