#include "ge/price/priors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ge/base/json_number.h"
#include "ge/host/shipped.h"

namespace ge {
namespace {

constexpr uint32_t kPriorsFormat = 1;
constexpr double kMostLog = 12;  // beyond it a row is damaged

const char* IsaName(uint32_t isa) {
  static constexpr const char* kNames[] = {"native", "sse4.2", "avx2", "avx512"};
  return kNames[std::min<uint32_t>(isa, GE_ISA_AVX512)];
}

double Unlike(const nlohmann::json& set, const MachineRecord& machine) {
  const double threads = set.at("threads").get<double>();
  return std::abs(std::log2(threads) - std::log2(static_cast<double>(machine.threads))) +
         (set.at("vendor") == CpuVendor() ? 0 : 100);
}

// [family, size, log, size, log ...] by signature.
void ReadRows(const nlohmann::json& rows, PriorBook* book) {
  for (const auto& [signature, r] : rows.items()) {
    for (size_t i = 1; i + 1 < r.size(); i += 2) {
      PriorRow row{signature, r.at(0).get<std::string>(), r.at(i).get<double>(),
                   r.at(i + 1).get<double>()};
      const bool sane = row.size >= 0 && row.size < 64 && std::abs(row.log_error) < kMostLog;
      if (sane) book->rows.push_back(std::move(row));
    }
  }
}

}  // namespace

std::string PriorsFileName(const MachineRecord& machine, uint32_t best) {
  const char* threads = machine.threads == 1 ? "one" : "several";
  if (best <= machine.isa) return fmt::format("priors/{}-{}.json", IsaName(machine.isa), threads);
  return fmt::format("priors/{}-of-{}-{}.json", IsaName(machine.isa), IsaName(best), threads);
}

std::vector<PriorBook> PriorsFromText(const std::string& text, const MachineRecord& machine) {
  try {
    const nlohmann::json j = nlohmann::json::parse(text);
    if (WholeNumber<uint32_t>(j.at("format")) != kPriorsFormat) return {};
    const nlohmann::json* nearest = nullptr;
    for (const nlohmann::json& set : j.at("sets")) {
      if (!nearest || Unlike(set, machine) < Unlike(*nearest, machine)) nearest = &set;
    }
    std::vector<PriorBook> books;
    if (!nearest) return books;
    for (const nlohmann::json& engine : nearest->at("engines")) {
      PriorBook book{
          engine.at("engine").get<std::string>(), engine.at("device").get<std::string>(), {}};
      ReadRows(engine.at("rows"), &book);
      books.push_back(std::move(book));
    }
    return books;
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

std::string WithPriors(const std::string& present, const MachineRecord& machine,
                       const std::vector<PriorBook>& books) {
  nlohmann::json j = {{"format", kPriorsFormat}, {"sets", nlohmann::json::array()}};
  if (!present.empty()) {
    const auto parsed = nlohmann::json::parse(present, nullptr, false);
    if (parsed.is_object() && parsed.value("format", nlohmann::json()) == kPriorsFormat) j = parsed;
  }
  auto& sets = j["sets"];
  for (auto it = sets.begin(); it != sets.end();) {
    const bool same = it->value("vendor", "") == CpuVendor() &&
                      it->value("threads", nlohmann::json()) == machine.threads;
    it = same ? sets.erase(it) : std::next(it);
  }
  nlohmann::json engines = nlohmann::json::array();
  for (const PriorBook& book : books) {
    nlohmann::json rows = nlohmann::json::object();
    for (const PriorRow& r : book.rows) {
      auto [it, fresh] = rows.emplace(r.signature, nlohmann::json::array());
      if (fresh) it->push_back(r.family);
      it->push_back(std::round(r.size * 100) / 100);
      it->push_back(std::round(r.log_error * 100) / 100);
    }
    engines.push_back({{"engine", book.engine}, {"device", book.device}, {"rows", rows}});
  }
  sets.push_back({{"vendor", CpuVendor()},
                  {"cpu", machine.cpu},
                  {"threads", machine.threads},
                  {"engines", engines}});
  return j.dump(0, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::vector<PriorBook> ShippedPriors(const MachineRecord& machine) {
  if (machine.fixed) return {};
  // Of processors with the same best instruction set, else of the next newer ones, of older ones.
  std::vector<uint32_t> order;
  for (uint32_t best = BestIsa(machine); best <= GE_ISA_AVX512; ++best) order.push_back(best);
  for (uint32_t best = BestIsa(machine); best-- > machine.isa;) order.push_back(best);
  for (const uint32_t best : order) {
    const auto text = ReadShippedFile(PriorsFileName(machine, best));
    if (text) return PriorsFromText(*text, machine);
  }
  return {};
}

}  // namespace ge
