#include "plugins/ascend/ascend_engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "plugins/ascend/api/data_types.h"
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

bool AscendEngine::HasTypes(const Unit& unit, const Parser& parser, bool one_float,
                            Why* why) const {
  const int32_t made = parser.dtype(unit.out[0] != 0 ? unit.out[0] : unit.in[0]);
  if (one_float && !parser.IsReal(made)) return why->Say(GE_WHY_DTYPE, "only floats");
  const auto has = [&](uint32_t v) {
    acl::DataType type;
    if (v == 0) return true;
    const int32_t dtype = parser.dtype(v);
    if (!FindDataType(dtype, &type)) return why->Say(GE_WHY_DTYPE, "no operator for this dtype");
    if (dtype == GE_BF16 && !ascend_.api().facts().bf16) {
      return why->Say(GE_WHY_DTYPE, "the chip has no bfloat16");
    }
    return !one_float || dtype == made || why->Say(GE_WHY_DTYPE, "its tensors have several dtypes");
  };
  for (const Ids* values : {&unit.in, &unit.out, &unit.bias}) {
    if (!std::all_of(values->begin(), values->end(), has)) return false;
  }
  return std::all_of(unit.post_ops.begin(), unit.post_ops.end(),
                     [&](const PostOp& q) { return has(q.operand); });
}

bool AscendEngine::Takes(const Unit& unit, const Parser& parser, Why* why) const {
  if (Is<ViewSpec, NothingSpec>(unit)) return true;
  const AscendKind* kind = KindOf(unit);
  if (kind == nullptr) return why->Say(GE_WHY_OP, "no operator");
  if (!ascend_.api().Ready()) return why->Say(GE_WHY_OTHER, ascend_.api().why());
  if (!HasTypes(unit, parser, kind->one_float, why)) return false;
  try {
    Calls rehearsal(ascend_, parser, nullptr);
    kind->record(unit, &rehearsal);
    return true;
  } catch (const Declined& declined) {
    return why->Say(declined.code, declined.what());
  }
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
  if (kind == nullptr || work.kernels == 0) return work;
  Calls rehearsal(ascend_, parser, nullptr);
  kind->record(unit, &rehearsal);
  work.kernels = rehearsal.count();
  return work;
}

void AscendEngine::Record(const Unit& unit, device::Recorder* recorder) const {
  const AscendKind* kind = KindOf(unit);
  if (kind == nullptr) throw std::runtime_error("no operator");
  Calls calls(ascend_, recorder->parser(), recorder);
  kind->record(unit, &calls);
}

}  // namespace ge_engines::ascend
