// GpuEngine: the engine gpu, over plugins/device and the CUDA driver. It prices units by a device's
// attributes and records kernels of kernels/ for them. Its options are those of plugins/device.
#pragma once

#include <memory>

#include "plugins/device/engine.h"
#include "plugins/gpu/cuda_driver.h"
#include "plugins/gpu/cudnn_library.h"
#include "plugins/gpu/families/convolutions.h"
#include "plugins/gpu/families/family.h"

namespace ge_engines::gpu {

class GpuEngine final : public device::Engine {
 public:
  GpuEngine(const ge_create_args& args, std::unique_ptr<CudaDriver> driver);
  static std::unique_ptr<GpuEngine> Make(const ge_create_args& args);
  ~GpuEngine() override;

  std::span<const UnitKind* const> Kinds() const override;
  bool Halves() const override { return true; }
  bool Takes(const Unit& unit, const Parser& parser, Why* why) const override;
  device::Rates RatesOf(int device) const override;
  device::Work WorkFor(const Unit& unit, const Parser& parser) const override;
  void Record(const Unit& unit, device::Recorder* recorder) const override;

 private:
  const CudaDriver& cuda_;
  CudnnLibrary cudnn_;
  mutable Convolutions convolutions_;  // its plans; compile is of one thread at a time
};

}  // namespace ge_engines::gpu
