// What the engine can do with each kind of unit, a table a family. Pure; one thread records.
#pragma once

#include <span>
#include <vector>

#include "plugins/device/rates.h"
#include "plugins/device/recorder.h"
#include "plugins/gpu/kernels/number.h"
#include "plugins/units/unit.h"

namespace ge_engines::gpu {

struct GpuKind {
  const UnitKind* kind;
  // Whether there are kernels for it; null: for all.
  bool (*takes)(const Unit& unit, const Parser& parser, Why* why);
  void (*record)(const Unit& unit, device::Recorder* recorder);
  // Of a unit; post-ops are one more.
  uint32_t (*kernels)(const Unit& unit);
  // Operations beside those that device::WorkOf counts; null: none.
  double (*flops)(const Unit& unit, const Parser& parser) = nullptr;
  // Of its first input it reads as much as it makes, and not all.
  bool (*reads_part)(const Unit& unit) = nullptr;
};

// What so many steps that wait for each other, each for memory, cost, in operations of a device
// that is busy: 0.1 us each, at 40,000 a ns.
constexpr double InARow(int64_t steps) { return 100.0 * 40000 * static_cast<double>(steps); }

std::span<const GpuKind> PointwiseKinds();
std::span<const GpuKind> MoveKinds();
std::span<const GpuKind> RowKinds();
std::span<const GpuKind> WindowKinds();
std::span<const GpuKind> ProductKinds();
std::span<const GpuKind> FoldKinds();
std::span<const GpuKind> IndexKinds();
std::span<const GpuKind> MakeKinds();
std::span<const GpuKind> WholeKinds();
std::span<const GpuKind> ResampleKinds();
std::span<const GpuKind> TrainingKinds();
std::span<const GpuKind> RecurrentKinds();

// Launches of a unit's bias and post-ops.
uint32_t PostOpKernels(const Unit& unit);
// Bias and post-ops of a unit over its result, in place, where it has any.
void RecordPostOps(const Unit& unit, const device::Ref& result, device::Recorder* recorder);

// What a main operator makes ahead of bias and post-ops.
struct MainResult {
  device::Ref place;
  Number of;
};
// The unit's result; where that has 16 bits and post-ops follow, a place in float32, so that it is
// rounded once.
MainResult ResultOfMain(const Unit& unit, const device::Ref& result, device::Recorder* recorder);
void RecordPostOps(const Unit& unit, const MainResult& main, const device::Ref& result,
                   device::Recorder* recorder);

}  // namespace ge_engines::gpu
