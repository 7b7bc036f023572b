// KernelCall: one launch of a kernel of kernels/ as a step of a program. Its arguments are made at
// compile; a launch fills in addresses alone, and so may be captured.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "plugins/device/recorder.h"
#include "plugins/gpu/kernels/args.h"
#include "plugins/gpu/kernels/kernel_ids.h"

namespace ge_engines::gpu {

class KernelCall final : public device::Kernel {
 public:
  // `args`: the kernel's struct; the engine's places become its own at each launch.
  KernelCall(KernelId id, const void* args, uint32_t bytes, int64_t work);
  device::Result Queue(const device::Call& call) const override;

 private:
  const KernelId id_;
  uint32_t grid_ = 1, block_ = 1;
  std::vector<unsigned char> args_;
};

// Adds a kernel over `uses`, in the order of its places.
template <class A>
void AddKernel(KernelId id, A args, int64_t work, std::vector<device::Use> uses,
               device::Recorder* recorder) {
  static_assert(std::is_trivially_copyable_v<A> && sizeof(A) <= kMostArgBytes);
  if (uses.size() > A::kMostPlaces) throw std::runtime_error("a kernel with too many places");
  args.head.places = static_cast<uint32_t>(uses.size());
  args.head.work = work;
  for (size_t k = 0; k < uses.size(); ++k) {
    if (uses[k].reads) args.head.reads |= 1u << k;
    if (uses[k].writes) args.head.writes |= 1u << k;
  }
  recorder->Add(std::make_unique<KernelCall>(id, &args, static_cast<uint32_t>(sizeof args), work),
                std::move(uses));
}

// Adds a copy of x to y, of the same bytes; nothing happens where they lie in one place.
void AddCopy(const device::Ref& y, const device::Ref& x, device::Recorder* recorder);

}  // namespace ge_engines::gpu
