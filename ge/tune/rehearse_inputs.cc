#include "ge/tune/rehearse_inputs.h"

#include <cstring>

#include "ge/base/aligned.h"
#include "ge/run/tensor_view.h"

namespace ge {

bool RehearsalBuffers::Fill(const Compiled& plan, std::span<const TensorView> inputs) {
  in.assign(inputs.begin(), inputs.end());
  bool enough = true;
  auto own = [&](uint64_t bytes) {
    memory.push_back(AllocateAligned(bytes, 64));
    if (memory.back()) std::memset(memory.back().get(), 0, bytes);
    enough = enough && memory.back();
    return memory.back().get();
  };
  for (size_t i = 0; i < in.size(); ++i) {
    const Compiled::Port& port = plan.inputs[i];
    in[i].dtype = port.dtype;
    if (in[i].data) continue;
    in[i].bytes = port.bytes;
    in[i].data = own(port.bytes);
    auto* x = static_cast<float*>(in[i].data);
    const size_t n = port.dtype == DType::kFloat && x ? port.bytes / sizeof(float) : 0;
    for (size_t k = 0; k < n; ++k) x[k] = static_cast<float>(k * 7 % 23) / 23.0f - 0.5f;
  }
  for (const Compiled::Port& port : plan.outputs) {
    out.push_back({port.dtype, port.dims, own(port.bytes), port.bytes});
  }
  return enough;
}

}  // namespace ge
