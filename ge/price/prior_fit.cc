#include "ge/price/prior_fit.h"

#include <bit>
#include <cmath>

#include "ge/price/stable_hash.h"

namespace ge {

void PriorFit::Set(const PriceBook& book, std::vector<PriorRow> rows) {
  uint64_t id = 1;
  for (const PriorRow& row : rows) {
    id = StableHash(row.family, StableHash(row.signature, id));
    id = MixedHash(MixedHash(id, std::bit_cast<uint64_t>(row.size)),
                   std::bit_cast<uint64_t>(row.log_error));
  }
  books_[book] = {std::move(rows), id};
  fit_.reset();
}

uint64_t PriorFit::Id(const PriceBook& book) const {
  const auto it = books_.find(book);
  return it == books_.end() ? 0 : it->second.id;
}

std::optional<double> PriorFit::Log(const PriceBook& book, const WorkName& work) {
  constexpr int kAlone = static_cast<int>(PriceKind::kAlone);
  if (!fit_) {
    fit_.emplace();
    for (const auto& [name, known] : books_) {
      for (const PriorRow& row : known.rows) {
        fit_->Add(name, {row.signature, row.family, row.size}, kAlone, row.log_error);
      }
    }
  }
  const Correction found = fit_->Find(book, work, kAlone, 0, false);
  if (found.rows == 0) return std::nullopt;
  return std::log(found.factor);
}

}  // namespace ge
