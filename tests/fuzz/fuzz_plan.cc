// Bytes as the text form of a plan, and the prover over whatever plan that gives.
#include <string>
#include <string_view>

#include "frontend/text/plan_text.h"
#include "ge/plan/check/check.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto plan = ge::ParsePlan(text, "fuzz");
  if (!plan.ok()) return 0;
  const bool safe = ge::Check(*plan).ok();
  const std::string printed = ge::PrintPlan(*plan);
  auto again = ge::ParsePlan(printed, "printed");
  REQUIRE(again.ok(), printed.c_str());
  REQUIRE(ge::PrintPlan(*again) == printed, printed.c_str());
  REQUIRE(ge::Check(*again).ok() == safe, printed.c_str());
  return 0;
}
