// Bytes as files of a cache: prices of a machine, in records and as JSON, what a probe found of it,
// and what ships of both.
#include <string>

#include "ge/host/probe.h"
#include "ge/price/price_cache.h"
#include "ge/price/price_image.h"
#include "ge/price/price_record.h"
#include "ge/price/priors.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ge::MachineRecord machine = [] {  // that of the seeds
    ge::MachineRecord m;
    m.cpu = "fuzz";
    m.isa_mask = 3;
    m.isa = 1;
    m.threads = 1;
    return m;
  }();
  const std::string text(reinterpret_cast<const char*>(data), size);
  ge::PriceCache cache(machine);
  if (cache.FromText(text).ok()) {
    // What was read is written so that it is read again.
    const std::string printed = cache.ToText();
    ge::PriceCache again(machine);
    REQUIRE(again.FromText(printed).ok(), printed.c_str());
    ge::OfferName name;
    name.signature = "MatMul";
    name.family = "MatMul";
    name.size = 10;
    cache.CorrectionFor({"hash", "cpu"}, name, ge::PriceCache::Kind::kInside, 1);
  }
  ge::RecordReader reader(text);
  std::string whole;
  for (ge::RowView row; reader.Next(&row);) {
    REQUIRE(row.row.IsSane(), "a record of a row that cannot be");
    row.row.family = row.family;
    REQUIRE(ge::AppendRecord(row.book(), row.signature, row.shape, row.row, &whole),
            "a record that is read can be written");
  }
  REQUIRE(reader.lost() <= text.size(), "more is lost than there is");
  if (const auto begin = ge::BeginOf(text); begin.ok() && begin->head_bytes <= text.size()) {
    (void)ge::HeadOf(std::string_view(text).substr(0, begin->head_bytes));
  }
  ge::MachineRecord found;
  (void)ge::MachineFromText(text, machine, &found);
  (void)ge::MachineFromShipped(text, machine, &found);
  (void)ge::WithShippedMachine(text, machine);
  (void)ge::PriorsFromText(text, machine);
  (void)ge::WithPriors(text, machine, {});
  return 0;
}
