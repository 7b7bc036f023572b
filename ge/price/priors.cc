#include "ge/price/priors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "ge/base/text/json_number.h"
#include "ge/base/text/json_text.h"
#include "ge/ge_plugin.h"
#include "ge/host/shipped.h"

namespace ge {
namespace {

constexpr uint32_t kPriorsFormat = 1;
constexpr const char* kWrongKind = "it is damaged: a field is missing or of another kind";
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
  for (const auto& [signature, row] : FieldsOf(rows)) {
    const auto& r = ListOf(row);
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

Result<std::vector<PriorBook>> PriorsFromText(const std::string& text,
                                              const MachineRecord& machine) {
  GE_ASSIGN_OR_RETURN(const nlohmann::json j, ParseJson(text));
  try {
    std::vector<PriorBook> books;
    if (WholeNumber<uint32_t>(j.at("format")) != kPriorsFormat) return books;
    const nlohmann::json* nearest = nullptr;
    for (const nlohmann::json& set : ListOf(j.at("sets"))) {
      if (!nearest || Unlike(set, machine) < Unlike(*nearest, machine)) nearest = &set;
    }
    if (!nearest) return books;
    for (const nlohmann::json& engine : ListOf(nearest->at("engines"))) {
      PriorBook book{
          engine.at("engine").get<std::string>(), engine.at("device").get<std::string>(), {}};
      ReadRows(engine.at("rows"), &book);
      books.push_back(std::move(book));
    }
    return books;
  } catch (const nlohmann::json::exception&) {  // its text may quote the file's bytes
    return Status(Code::kDataCorrupt, kWrongKind);
  }
}

namespace {

// The sets of `present`, but for those of this vendor and as many threads.
Result<nlohmann::json> OtherSets(const std::string& present, const MachineRecord& machine) {
  nlohmann::json j = {{"format", kPriorsFormat}, {"sets", nlohmann::json::array()}};
  if (present.empty()) return j;
  GE_ASSIGN_OR_RETURN(const nlohmann::json all, ParseJson(present));
  try {
    if (WholeNumber<uint32_t>(all.at("format")) != kPriorsFormat) return j;
    for (const nlohmann::json& set : ListOf(all.at("sets"))) {
      const bool same = set.at("vendor").get<std::string>() == CpuVendor() &&
                        WholeNumber<uint32_t>(set.at("threads")) == machine.threads;
      if (!same) j["sets"].push_back(set);
    }
    return j;
  } catch (const nlohmann::json::exception&) {
    return Status(Code::kDataCorrupt, kWrongKind);
  }
}

// Appends `j`: a list or object of single values on one line, so that a prior is a line; of any
// other each element begins a line.
void AppendLines(const nlohmann::json& j, std::string* out) {
  using nlohmann::json;
  const auto text = [](const json& value) {
    return value.dump(-1, ' ', false, json::error_handler_t::replace);
  };
  const bool single =
      std::none_of(j.begin(), j.end(), [](const json& e) { return !e.is_primitive(); });
  if (single) {
    *out += text(j);
    return;
  }
  const char* separator = j.is_object() ? "{\n" : "[\n";
  for (auto it = j.begin(); it != j.end(); ++it) {
    *out += separator;
    separator = ",\n";
    if (j.is_object()) *out += text(it.key()) + ": ";
    AppendLines(*it, out);
  }
  *out += j.is_object() ? "\n}" : "\n]";
}

}  // namespace

Result<std::string> WithPriors(const std::string& present, const MachineRecord& machine,
                               const std::vector<PriorBook>& books) {
  GE_ASSIGN_OR_RETURN(nlohmann::json j, OtherSets(present, machine));
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
  j["sets"].push_back({{"vendor", CpuVendor()},
                       {"cpu", machine.cpu},
                       {"threads", machine.threads},
                       {"engines", engines}});
  std::string text;
  AppendLines(j, &text);
  return text + "\n";
}

std::vector<PriorBook> ShippedPriors(const MachineRecord& machine) {
  if (machine.fixed) return {};
  // Of processors with the same best instruction set, else of the next newer ones, of older ones.
  std::vector<uint32_t> order;
  for (uint32_t best = BestIsa(machine); best <= GE_ISA_AVX512; ++best) order.push_back(best);
  for (uint32_t best = BestIsa(machine); best-- > machine.isa;) order.push_back(best);
  for (const uint32_t best : order) {
    const std::string name = PriorsFileName(machine, best);
    const auto text = ReadShippedFile(name);
    if (!text) continue;
    auto books = PriorsFromText(*text, machine);
    if (books.ok()) return *std::move(books);
    WarnOfShipped(name, books.status().message());
    return {};
  }
  return {};
}

}  // namespace ge
