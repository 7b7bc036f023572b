// Convolutions: convolutions and their gradients, by cuDNN where it is. One unit is one operation
// graph: the convolution and as much of what follows as the library takes with it; a chain of our
// own does the rest. One thread at a time takes and records.
#pragma once

#include <span>
#include <string>

#include "plugins/device/rates.h"
#include "plugins/device/recorder.h"
#include "plugins/gpu/cudnn_library.h"
#include "plugins/gpu/cudnn_plan.h"
#include "plugins/gpu/families/family.h"
#include "plugins/units/unit.h"

namespace ge_engines::gpu {

class Convolutions {
 public:
  // `may_round`: what convolutions of float32 read.
  Convolutions(const CudnnLibrary& library, bool may_round)
      : library_(library), may_round_(may_round), plans_(library) {}

  static bool Knows(const Unit& unit);  // it is of these kinds
  // Whether the library makes such units; opens it at the first one.
  bool Has(const Unit& unit) const { return Knows(unit) && library_.Ready(); }
  bool Takes(const Unit& unit, const Parser& parser, Why* why) const;
  // Whether the library may round what such a unit reads, to tensor cores' TF32.
  bool Rounds(const Unit& unit, const Parser& parser) const;
  // Of a unit that it takes, out of what plugins/device says of it.
  device::Work WorkFor(const Unit& unit, const Parser& parser, device::Work work) const;
  // Our own kernel's work, which is the library's many times over.
  device::Work PlainWork(device::Work work) const;
  // Adds the kernels. Throws where the library has no engine for it.
  void Record(const Unit& unit, int device, device::Recorder* recorder);

 private:
  const CudnnLibrary& library_;
  const bool may_round_;
  CudnnPlans plans_;
};

// Kinds that nothing but the library makes.
std::span<const GpuKind> ConvolutionKinds();

}  // namespace ge_engines::gpu
