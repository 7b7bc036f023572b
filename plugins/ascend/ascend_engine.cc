#include "plugins/ascend/ascend_engine.h"

#include <stdexcept>
#include <utility>
#include <vector>

#include "plugins/ascend/data_types.h"
#include "plugins/units/movement/reshape.h"

namespace ge_engines::ascend {
namespace {

const std::vector<const AscendKind*>& AllKinds() {
  static const std::vector<const AscendKind*> kinds = [] {
    std::vector<const AscendKind*> all;
    for (const auto family :
         {PointwiseKinds(), ProductKinds(), WindowKinds(), RowKinds(), MoveKinds(), IndexKinds()}) {
      for (const AscendKind& kind : family) all.push_back(&kind);
    }
    return all;
  }();
  return kinds;
}

// nullptr: the engine has no operators for such units.
const AscendKind* KindOf(const Unit& unit) {
  for (const AscendKind* kind : AllKinds()) {
    if (kind->kind == &unit.kind()) return kind;
  }
  return nullptr;
}

}  // namespace

AscendEngine::AscendEngine(const ge_create_args& args, std::unique_ptr<AscendDriver> driver)
    : Engine(args, std::move(driver)), ascend_(static_cast<const AscendDriver&>(this->driver())) {}

AscendEngine::~AscendEngine() { CloseDevices(); }

std::unique_ptr<AscendEngine> AscendEngine::Make(const ge_create_args& args) {
  std::string_view rest = gp::View(args.options);
  for (gp::OptionText t; gp::NextOption(&rest, &t);) {
    if (t.key == "device" || t.key == "memory" || t.key == "libraries") continue;
    throw device::Refusal(GE_INVALID_ARGUMENT, "it has no option '" + std::string(t.key) +
                                                   "'; wanted device, memory or libraries");
  }
  return std::make_unique<AscendEngine>(
      args, std::make_unique<AscendDriver>(std::string(gp::Option(args.options, "libraries", ""))));
}

std::span<const UnitKind* const> AscendEngine::Kinds() const {
  static const std::vector<const UnitKind*> kinds = [] {
    std::vector<const UnitKind*> all;
    for (const AscendKind* kind : AllKinds()) all.push_back(kind->kind);
    return all;
  }();
  return kinds;
}

bool AscendEngine::HasTypes(const Unit& unit, const Parser& parser, Why* why) const {
  const auto has = [&](uint32_t v) {
    acl::DataType type;
    return v == 0 || FindDataType(parser.dtype(v), &type);
  };
  for (const uint32_t v : unit.in) {
    if (!has(v)) return why->Say(GE_WHY_DTYPE, "no operator for this dtype");
  }
  for (const uint32_t v : unit.out) {
    if (!has(v)) return why->Say(GE_WHY_DTYPE, "no operator for this dtype");
  }
  return true;
}

bool AscendEngine::Takes(const Unit& unit, const Parser& parser, Why* why) const {
  if (Is<ViewSpec, NothingSpec>(unit)) return true;
  const AscendKind* kind = KindOf(unit);
  if (kind == nullptr) return why->Say(GE_WHY_OP, "no operator");
  if (!ascend_.api().Ready()) return why->Say(GE_WHY_OTHER, ascend_.api().why());
  if (!HasTypes(unit, parser, why)) return false;
  return kind->takes == nullptr || kind->takes(unit, parser, ascend_.api().operators(), why);
}

device::Rates AscendEngine::RatesOf(int) const {
  // Guesses: nobody here has such a chip. Times of runs take their place.
  device::Rates r;
  r.guessed = true;
  r.flops_per_ns = 50000;
  r.bytes_per_ns = 800;
  r.kernel_ns = 5000;
  r.queue_ns = 10000;  // both phases
  r.launch_ns = 500;
  r.copy_ns = 10000;
  r.pinned_bytes_per_ns = 20;
  r.pageable_bytes_per_ns = 8;
  r.peer_bytes_per_ns = 50;
  return r;
}

device::Work AscendEngine::WorkFor(const Unit& unit, const Parser& parser) const {
  device::Work work = device::WorkOf(unit, parser);
  const AscendKind* kind = KindOf(unit);
  if (kind != nullptr && kind->operators != nullptr) work.kernels = kind->operators(unit);
  return work;
}

void AscendEngine::Record(const Unit& unit, device::Recorder* recorder) const {
  const AscendKind* kind = KindOf(unit);
  if (kind == nullptr) throw std::runtime_error("no operator");
  Calls calls(ascend_, recorder);
  kind->record(unit, &calls);
}

}  // namespace ge_engines::ascend
