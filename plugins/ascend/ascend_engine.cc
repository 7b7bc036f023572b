#include "plugins/ascend/ascend_engine.h"

#include <algorithm>
#include <utility>

#include "plugins/ascend/api/data_types.h"
#include "plugins/device/kind_table.h"
#include "plugins/units/conv/conv.h"
#include "plugins/units/movement/reshape.h"
#include "plugins/units/reduce/pool.h"

namespace ge_engines::ascend {
namespace {

constexpr std::string_view kOptions[] = {"device", "memory", "libraries", "formats"};
constexpr LayoutTag kBlocks[] = {{.block = acl::kLanes}};

const device::KindTable<AscendKind>& Table() {
  // Moves before products, which parse transposes of matrices alone.
  static const device::KindTable<AscendKind> table = {PointwiseKinds(), MoveKinds(), ProductKinds(),
                                                      WindowKinds(),    RowKinds(),  IndexKinds()};
  return table;
}

// Whether the unit's calls work in NC1HWC0. The frame of uneven pads is a plain image.
bool Fits(const Unit& unit, const Parser& parser, Blocks how) {
  const AscendKind* kind = Table().Find(unit);
  if (kind == nullptr || kind->blocks != how) return false;
  return !Framed(unit) && unit.dims.size() == 4 && unit.bias.size() <= 1 && unit.bias_factor == 1 &&
         device::AllLaidOut(unit, parser);
}

}  // namespace

AscendEngine::AscendEngine(const ge_create_args& args, std::unique_ptr<AscendDriver> driver)
    : Engine(args, std::move(driver)),
      ascend_(static_cast<const AscendDriver&>(this->driver())),
      formats_(gp::Option(args.options, "formats", "")) {
  if (formats_.empty() || formats_ == "plain" || formats_ == "private") return;
  throw device::Refusal(GE_INVALID_ARGUMENT,
                        "option formats=" + formats_ + "; wanted plain or private");
}

AscendEngine::~AscendEngine() { CloseDevices(); }

std::unique_ptr<AscendEngine> AscendEngine::Make(const ge_create_args& args) {
  device::OnlyOptions(args.options, kOptions);
  return std::make_unique<AscendEngine>(
      args, std::make_unique<AscendDriver>(std::string(gp::Option(args.options, "libraries", ""))));
}

std::span<const UnitKind* const> AscendEngine::Kinds() const { return Table().kinds(); }

// ---- formats -----------------------------------------------------------------------------------

bool AscendEngine::HasFormats() const {
  const Api& api = ascend_.api();
  return api.facts().known && (formats_.empty() ? api.simulated() : formats_ == "private");
}

std::span<const LayoutTag> AscendEngine::Layouts() const {
  return HasFormats() ? std::span<const LayoutTag>(kBlocks) : std::span<const LayoutTag>();
}

std::optional<LayoutTag> AscendEngine::Prefers(const Unit& unit, const Parser& parser) const {
  return Fits(unit, parser, Blocks::kLikes) ? std::optional(kBlocks[0]) : std::nullopt;
}

bool AscendEngine::KeepsLayout(const Unit& unit, const Parser& parser) const {
  return Fits(unit, parser, Blocks::kKeeps);
}

void AscendEngine::RecordConversion(const device::Conversion& conversion, const device::Ref& from,
                                    const device::Ref& to, device::Recorder* recorder) const {
  Calls(ascend_, nullptr, false, recorder->parser(), recorder).Convert(conversion, from, to);
}

bool AscendEngine::HasTypes(const Unit& unit, const Parser& parser, Why* why) const {
  const auto has = [&](uint32_t v) {
    acl::DataType type;
    return v == 0 || (FindDataType(parser.dtype(v), &type) &&
                      (type != acl::kBf16 || ascend_.api().facts().bf16));
  };
  return (std::all_of(unit.in.begin(), unit.in.end(), has) &&
          std::all_of(unit.out.begin(), unit.out.end(), has)) ||
         why->Say(GE_WHY_DTYPE, "the chip has no operator for this dtype");
}

bool AscendEngine::Takes(const Unit& unit, const Parser& parser, Why* why) const {
  if (Is<ViewSpec, NothingSpec>(unit)) return true;
  const AscendKind* kind = Table().Find(unit);
  if (kind == nullptr) return why->Say(GE_WHY_OP, "no operator");
  if (!ascend_.api().Ready()) return why->Say(GE_WHY_OTHER, ascend_.api().why());
  if (!HasTypes(unit, parser, why)) return false;
  if (kind->one_float && !parser.OneReal(unit, why)) return false;
  try {
    (void)Added(unit, parser, nullptr);
    return true;
  } catch (const Declined& declined) {
    return why->Say(declined.code, declined.what());
  }
}

Calls AscendEngine::Added(const Unit& unit, const Parser& parser,
                          device::Recorder* recorder) const {
  const AscendKind* kind = Table().Find(unit);
  if (kind == nullptr || kind->record == nullptr) Calls::Refuse(GE_WHY_OP, "no operator");
  Calls calls(ascend_, &unit, HasFormats(), parser, recorder);
  kind->record(unit, &calls);
  return calls;
}

device::Rates AscendEngine::RatesOf(int) const {
  // Guesses: nobody here has such a chip. Times of runs take their place.
  device::Rates r;
  r.guessed = true;
  r.flops_per_ns = 50000;
  r.bytes_per_ns = 800;
  r.kernel_ns = 5000;
  r.queue_ns = 10000;  // both phases
  r.copy_ns = 10000;
  return r;
}

device::Work AscendEngine::WorkFor(const Unit& unit, const Parser& parser) const {
  device::Work work = device::WorkOf(unit, parser);
  if (work.kernels == 0) return work;
  const Calls rehearsal = Added(unit, parser, nullptr);
  work.kernels = rehearsal.count();
  work.packed += rehearsal.packed();
  return work;
}

}  // namespace ge_engines::ascend
