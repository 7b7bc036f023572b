#include "examples/ocr/network.h"

#include <algorithm>
#include <chrono>

namespace ocr {
namespace {

double NowMs() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Network::Network(const std::string& path, const std::string& engines, uint32_t threads)
    : session_(engines, threads) {
  session_.Load(path, GE_FORMAT_ONNX);
}

Blob Network::Run(const Blob& input) {
  graphengine::Tensor in(1 /* float32 */, input.dims, const_cast<float*>(input.data.data()),
                         input.data.size() * sizeof(float));
  double start = NowMs();
  session_.Compile({&in});
  double compiled = NowMs();
  std::vector<graphengine::Tensor> out = session_.Run({&in});
  compile_ms_ += compiled - start;
  run_ms_ += NowMs() - compiled;
  ++runs_;
  const float* data = out.at(0).data<float>();
  return {out[0].dims(), std::vector<float>(data, data + out[0].bytes() / sizeof(float))};
}

std::string Network::Metadata(const char* key) const { return session_.Metadata(key); }

std::string Network::Report() const { return session_.Report(); }

}  // namespace ocr
