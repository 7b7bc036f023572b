#include "ge/price/prior_scale.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace ge {
namespace {

// So many signatures weigh as much as what is known without them. Machines differ by about as much
// as the rows of one lie apart, engines and kinds of work on one machine by less.
constexpr double kDoubtOfKind = 4, kDoubtOfEngine = 4, kDoubtOfMachine = 2;
constexpr double kMostScaleLog = 1.3863;  // log 4: beyond, it is not the processor

double MedianPace(std::vector<double> logs) {
  const auto middle = logs.begin() + static_cast<int64_t>(logs.size() / 2);
  std::nth_element(logs.begin(), middle, logs.end());
  return *middle;
}

double BlendedScale(const std::vector<double>& logs, double doubt, double without) {
  if (logs.empty()) return without;
  const auto n = static_cast<double>(logs.size());
  const double log = (n * MedianPace(logs) + doubt * without) / (n + doubt);
  return std::clamp(log, -kMostScaleLog, kMostScaleLog);
}

std::string LeadOf(std::string_view family) {
  return std::string(family.substr(0, family.find('+')));
}

}  // namespace

void PriorScale::Add(const PriceBook& book, const WorkName& work, double log) {
  rows_[{{book, LeadOf(work.family)}, std::string(work.signature)}].push_back(log);
}

void PriorScale::Add(const PriceBook& book, const Term& term) {
  terms_.push_back({{book, term.lead}, term.log});
}

std::vector<PriorScale::Term> PriorScale::Terms(const PriceBook& book) const {
  std::vector<Term> out;
  for (const auto& [name, logs] : rows_) {
    if (name.first.first == book) out.push_back({name.first.second, MedianPace(logs)});
  }
  return out;
}

void PriorScale::Finish() {
  std::vector<double> all;
  std::map<PriceBook, std::vector<double>> of_book;
  std::map<Kind, std::vector<double>> of_kind;
  const auto count = [&](const Kind& kind, double log) {
    all.push_back(log);
    of_book[kind.first].push_back(log);
    of_kind[kind].push_back(log);
  };
  for (const auto& [name, logs] : rows_) count(name.first, MedianPace(logs));
  for (const auto& [kind, log] : terms_) count(kind, log);
  all_ = BlendedScale(all, kDoubtOfMachine, 0);
  for (const auto& [book, logs] : of_book)
    of_book_[book] = BlendedScale(logs, kDoubtOfEngine, all_);
  for (const auto& [kind, logs] : of_kind) {
    of_kind_[kind] = BlendedScale(logs, kDoubtOfKind, of_book_[kind.first]);
  }
}

double PriorScale::Of(const PriceBook& book, std::string_view family) const {
  if (const auto kind = of_kind_.find({book, LeadOf(family)}); kind != of_kind_.end()) {
    return kind->second;
  }
  const auto known = of_book_.find(book);
  return known == of_book_.end() ? all_ : known->second;
}

}  // namespace ge
