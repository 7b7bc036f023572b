#include "plugins/gpu/gpu_engine.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

#include "plugins/device/kind_table.h"
#include "plugins/units/movement/reshape.h"

namespace ge_engines::gpu {
namespace {

const device::KindTable<GpuKind>& Table() {
  static const device::KindTable<GpuKind> table = {
      PointwiseKinds(), MoveKinds(),      RowKinds(),        WindowKinds(), ProductKinds(),
      FoldKinds(),      IndexKinds(),     MakeKinds(),       WholeKinds(),  ResampleKinds(),
      TrainingKinds(),  RecurrentKinds(), ConvolutionKinds()};
  return table;
}

constexpr std::string_view kOptions[] = {"device", "memory", "libraries"};

bool MayRound(const ge_create_args& args) {
  constexpr size_t kWithPrecision = offsetof(ge_create_args, precision) + sizeof(args.precision);
  return args.h.size >= kWithPrecision && args.precision == GE_PRECISION_BF16;
}

}  // namespace

GpuEngine::GpuEngine(const ge_create_args& args, std::unique_ptr<CudaDriver> driver,
                     const std::string& libraries)
    : Engine(args, std::move(driver)),
      cuda_(static_cast<const CudaDriver&>(this->driver())),
      cublaslt_(cuda_, args.host, libraries),
      products_(cublaslt_, MayRound(args)),
      cudnn_(cuda_, args.host, libraries),
      convolutions_(cudnn_, MayRound(args)) {}

GpuEngine::~GpuEngine() {
  cublaslt_.Close();
  cudnn_.Close();
  CloseDevices();
}

std::unique_ptr<GpuEngine> GpuEngine::Make(const ge_create_args& args) {
  device::OnlyOptions(args.options, kOptions);
  return std::make_unique<GpuEngine>(args, std::make_unique<CudaDriver>(),
                                     std::string(gp::Option(args.options, "libraries", "")));
}

std::span<const UnitKind* const> GpuEngine::Kinds() const { return Table().kinds(); }

bool GpuEngine::Takes(const Unit& unit, const Parser& parser, Why* why) const {
  if (Is<ViewSpec, NothingSpec>(unit)) return true;
  if (convolutions_.Has(unit)) return convolutions_.Takes(unit, parser, why);
  const GpuKind* kind = Table().Find(unit);
  if (kind == nullptr) return why->Say(GE_WHY_OP, "no kernel");
  if (kind->takes == nullptr || kind->takes(unit, parser, why)) return true;
  if (Convolutions::Knows(unit)) why->text += "; " + cudnn_.why();
  return false;
}

bool GpuEngine::Rounds(const Unit& unit, const Parser& parser) const {
  return products_.Rounds(unit, parser) || convolutions_.Rounds(unit, parser);
}

device::Rates GpuEngine::RatesOf(int device) const {
  // Of an H100 they are those measured by others: 2 us from one kernel to the next of a stream, 3
  // us of the host for a launch.
  constexpr double kLanes = 128, kOpsOfLane = 2;  // of one processor in a clock
  constexpr double kReached = 0.8;                // of the peaks, by good kernels
  const DeviceSpeed speed = cuda_.SpeedOf(device);
  device::Rates r;
  r.flops_per_ns = kReached * speed.processors * speed.clock_ghz * kLanes * kOpsOfLane;
  r.bytes_per_ns = kReached * speed.memory_bytes_per_ns;
  r.kernel_ns = 2000;
  r.queue_ns = 3000;
  r.launch_ns = 500;
  r.copy_ns = 6000;
  r.pinned_bytes_per_ns = 50;  // PCIe 5.0 x16, less what its packets cost
  r.pageable_bytes_per_ns = 10;
  r.peer_bytes_per_ns = 200;
  return r;
}

device::Work GpuEngine::WorkFor(const Unit& unit, const Parser& parser) const {
  device::Work work = device::WorkOf(unit, parser);
  for (const PostOp& q : unit.post_ops) {
    constexpr uint64_t kAlign = 256;
    if (q.channel == nullptr) continue;
    work.packed += (4 * q.channel->size() + kAlign - 1) / kAlign * kAlign;
    work.bytes += 4 * static_cast<double>(q.channel->size());
  }
  if (convolutions_.Has(unit)) return convolutions_.WorkFor(unit, parser, work);
  if (Convolutions::Knows(unit)) work = convolutions_.PlainWork(work);
  const GpuKind* kind = Table().Find(unit);
  if (kind == nullptr || work.kernels == 0) return work;
  if (kind->kernels != nullptr) work.kernels = kind->kernels(unit);
  if (kind->flops != nullptr) work.flops += kind->flops(unit, parser);
  if (kind->reads_part != nullptr && kind->reads_part(unit)) {
    double made = 0;
    for (const uint32_t v : unit.out) made += v == 0 ? 0 : device::BytesOf(parser, v);
    work.bytes -= std::max(0.0, device::BytesOf(parser, unit.in[0]) - made);
  }
  if (LibraryProducts::Knows(unit)) products_.Price(unit, parser, &work);
  const auto behind = [&](const Unit& rest) {
    if (rest.post_ops.empty() && rest.bias.empty()) return;
    work.kernels += PostOpKernels(rest);
    work.bytes += 2 * device::BytesOf(parser, unit.out[0]);
  };
  if (products_.Has(unit, parser)) {
    behind(products_.Rest(unit, parser));
  } else if (unit.kind().post_ops != PostOps::kPlain) {  // those of plain ones are their kernel
    behind(unit);
  }
  return work;
}

void GpuEngine::Record(const Unit& unit, device::Recorder* recorder) const {
  const int device = this->device(recorder->device())->number();
  if (convolutions_.Has(unit)) return convolutions_.Record(unit, device, recorder);
  if (products_.Has(unit, recorder->parser()) && products_.Record(unit, device, recorder)) return;
  const GpuKind* kind = Table().Find(unit);
  if (kind == nullptr) throw std::runtime_error("no kernel");
  kind->record(unit, recorder);
}

}  // namespace ge_engines::gpu
