// GpuEngine: the engine gpu, over plugins/device and the CUDA driver. It prices units by a device's
// attributes and records kernels of kernels/ for them, and calls of libraries. Its options are
// those of plugins/device and
//   libraries=DIR    the folder of the vendor's libraries (where the linker looks)
#pragma once

#include <memory>
#include <string>

#include "plugins/device/engine.h"
#include "plugins/gpu/cublaslt_library.h"
#include "plugins/gpu/cuda_driver.h"
#include "plugins/gpu/cudnn_library.h"
#include "plugins/gpu/families/convolutions.h"
#include "plugins/gpu/families/family.h"
#include "plugins/gpu/families/library_products.h"

namespace ge_engines::gpu {

class GpuEngine final : public device::Engine {
 public:
  GpuEngine(const ge_create_args& args, std::unique_ptr<CudaDriver> driver,
            const std::string& libraries);
  static std::unique_ptr<GpuEngine> Make(const ge_create_args& args);
  ~GpuEngine() override;

  std::span<const UnitKind* const> Kinds() const override;
  bool Halves() const override { return true; }
  bool Takes(const Unit& unit, const Parser& parser, Why* why) const override;
  bool Rounds(const Unit& unit, const Parser& parser) const override;
  device::Rates RatesOf(int device) const override;
  device::Work WorkFor(const Unit& unit, const Parser& parser) const override;
  void Record(const Unit& unit, device::Recorder* recorder) const override;

 private:
  const CudaDriver& cuda_;
  CublasLtLibrary cublaslt_;
  LibraryProducts products_;
  CudnnLibrary cudnn_;
  mutable Convolutions convolutions_;  // its plans; compile is of one thread at a time
};

}  // namespace ge_engines::gpu
