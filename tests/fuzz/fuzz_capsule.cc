// Bytes as a capsule: all that its readers take from it (manifest, outcome, plans, tensors, pieces,
// statistics, the index of a compiled model), then its graph through all of load.
#include "ge/capsule/compiled_index.h"
#include "ge/capsule/manifest.h"
#include "ge/capsule/pieces.h"
#include "ge/capsule/plan_members.h"
#include "ge/capsule/statistics.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/capsule/tensor_members.h"
#include "tests/fuzz/load_model.h"

namespace {

void ReadTensors(const ge::CapsuleReader& capsule, const std::vector<ge::CapsuleTensor>& tensors) {
  for (const ge::CapsuleTensor& t : tensors) {
    if (t.member.empty()) continue;
    const auto bytes = ge::ReadTensorMember(capsule, t);
    if (bytes.ok()) (void)ge::StatisticsOf(t.dtype, *bytes);
  }
}

void ReadAll(const ge::CapsuleReader& capsule) {
  (void)ge::ReadOutcome(capsule);
  (void)ge::ReadStatistics(capsule);
  (void)ge::ReadCompiledIndex(capsule);
  for (const ge::CapsuleReader::Member& m : capsule.members()) {
    if (m.name.starts_with("plan/")) (void)ge::ReadPlanMember(capsule, m.name);
  }
  const auto manifest = ge::ReadManifest(capsule);
  if (manifest.ok()) {
    for (const auto* list :
         {&manifest->inputs, &manifest->states, &manifest->values, &manifest->outputs}) {
      ReadTensors(capsule, *list);
    }
  }
  const auto pieces = ge::ReadPieces(capsule);
  if (!pieces.ok()) return;
  for (const ge::CapsuleExecution& e : pieces->executions) {
    for (const auto* list : {&e.inputs, &e.outputs, &e.values}) ReadTensors(capsule, *list);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto bytes = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  const auto capsule = ge::CapsuleReader::FromBytes(std::move(bytes), "fuzz");
  if (capsule.ok()) ReadAll(**capsule);
  ge::fuzz::LoadModel(data, size, GE_FORMAT_CAPSULE);
  return 0;
}
