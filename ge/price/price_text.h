// Prices of a machine as text: JSON, a row a list. Releases up to format 2 kept their files so; a
// cache reads such a file once and makes its own of it. Stateless.
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "ge/base/status.h"
#include "ge/host/probe.h"
#include "ge/price/price_fit.h"
#include "ge/price/price_row.h"

namespace ge {

// Rows of an engine by signature, a bar, shape.
using PriceRows = std::unordered_map<std::string, PriceRow>;
using PriceBooks = std::map<PriceBook, PriceRows>;

std::string PricesText(const PriceBooks& books, const MachineRecord& machine);
// DATA_CORRUPT, beginning with "it", or FAILED_PRECONDITION (another format or machine).
Result<PriceBooks> PricesFromText(const std::string& text, const MachineRecord& machine);

// The parts of a row's key.
std::string_view SignatureOf(std::string_view key);
std::string_view ShapeOf(std::string_view key);

}  // namespace ge
