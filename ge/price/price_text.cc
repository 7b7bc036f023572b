#include "ge/price/price_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ge/base/text/json_number.h"
#include "ge/base/text/json_text.h"

namespace ge {
namespace {

// 1 had a bucket of three binary digits for the size and knew no doubt; it is read.
constexpr uint32_t kFormat = 2;

}  // namespace

std::string_view SignatureOf(std::string_view key) { return key.substr(0, key.rfind('|')); }

std::string_view ShapeOf(std::string_view key) {
  const size_t bar = key.rfind('|');
  return bar == key.npos ? std::string_view() : key.substr(bar + 1);
}

std::string PricesText(const PriceBooks& books, const MachineRecord& machine) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [book, known] : books) {
    nlohmann::json out = nlohmann::json::object();
    for (const auto& [key, r] : known) {
      const uint32_t doubts = (r.alone.doubtful ? 1 : 0) + (r.inside.doubtful ? 2 : 0);
      out[key] = {
          r.family,          r.size,      r.day,          r.asked_ns, r.alone.ns, r.alone.count,
          r.asked_inside_ns, r.inside.ns, r.inside.count, doubts};
    }
    list.push_back({{"plugin", book.plugin_hash}, {"device", book.device}, {"rows", out}});
  }
  nlohmann::json j = {{"format", kFormat},
                      {"cpu", machine.cpu},
                      {"isa", machine.isa},
                      {"threads", machine.threads},
                      {"engines", list}};
  // Names of operators come from models and need not be UTF-8.
  return j.dump(0, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<PriceBooks> PricesFromText(const std::string& text, const MachineRecord& machine) {
  GE_ASSIGN_OR_RETURN(const nlohmann::json j, ParseJson(text));
  try {
    const auto found = WholeNumber<uint32_t>(j.at("format"));
    if (found == 0 || found > kFormat) {
      return Status(Code::kFailedPrecondition,
                    fmt::format("its format is {}, this version reads 1 to {}", found, kFormat));
    }
    if (j.at("cpu") != machine.cpu || WholeNumber<uint32_t>(j.at("isa")) != machine.isa ||
        WholeNumber<uint32_t>(j.at("threads")) != machine.threads) {
      return Status(
          Code::kFailedPrecondition,
          fmt::format("it is about {}, isa {}, {} threads; this is {}, isa {}, {} threads",
                      j.at("cpu").get<std::string>(), WholeNumber<uint32_t>(j.at("isa")),
                      WholeNumber<uint32_t>(j.at("threads")), machine.cpu, machine.isa,
                      machine.threads));
    }
    PriceBooks books;
    for (const nlohmann::json& engine : ListOf(j.at("engines"))) {
      PriceBook book{engine.at("plugin").get<std::string>(),
                     engine.at("device").get<std::string>()};
      for (const auto& [key, r] : FieldsOf(engine.at("rows"))) {
        PriceRow row;
        row.family = r.at(0).get<std::string>();
        row.size = r.at(1).get<double>();
        if (found == 1) row.size = 3 * row.size + 1.5;
        row.day = WholeNumber<uint32_t>(r.at(2));
        row.asked_ns = r.at(3).get<double>();
        const uint32_t doubts = found == 1 ? 0 : WholeNumber<uint32_t>(r.at(9));
        row.alone = {r.at(4).get<double>(), WholeNumber<uint32_t>(r.at(5)), (doubts & 1) != 0};
        row.asked_inside_ns = r.at(6).get<double>();
        row.inside = {r.at(7).get<double>(), WholeNumber<uint32_t>(r.at(8)), (doubts & 2) != 0};
        if (!row.IsSane()) {
          return Status(Code::kDataCorrupt, fmt::format("a price of '{}' is out of range", key));
        }
        books[book].emplace(key, std::move(row));
      }
    }
    return books;
  } catch (const nlohmann::json::exception&) {  // Its text may quote the file's bytes.
    return Status(Code::kDataCorrupt, "it is damaged: a field is missing or of another kind");
  }
}

}  // namespace ge
