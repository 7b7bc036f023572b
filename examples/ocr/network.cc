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

struct Error {
  ge_error e{};
  Error() { e.size = sizeof e; }
  void Check(ge_status status) const {
    if (status != GE_STATUS_OK) throw std::runtime_error(e.message);
  }
};

}  // namespace

Network::Network(const std::string& path, const std::string& engines, uint32_t threads) {
  Error error;
  ge_session_options options;
  ge_session_options_init(&options);
  options.engines = engines.empty() ? nullptr : engines.c_str();
  options.threads = threads;
  ge_session* session = nullptr;
  error.Check(ge_session_create(&options, &session, &error.e));
  session_.reset(session);
  error.Check(ge_session_load_file(session, path.c_str(), GE_FORMAT_ONNX, &error.e));
}

Blob Network::Run(const Blob& input) {
  Error error;
  ge_tensor in{}, out{};
  in.size = sizeof in, out.size = sizeof out;
  in.dtype = 1;
  in.rank = static_cast<int32_t>(input.dims.size());
  std::copy(input.dims.begin(), input.dims.end(), in.dims);
  in.data = const_cast<float*>(input.data.data());
  in.bytes = input.data.size() * sizeof(float);
  double start = NowMs();
  error.Check(ge_session_compile(session_.get(), nullptr, &in, 1, &error.e));
  double compiled = NowMs();
  error.Check(ge_session_run(session_.get(), nullptr, &in, 1, &out, 1, &error.e));
  compile_ms_ += compiled - start, run_ms_ += NowMs() - compiled, ++runs_;
  Blob result;
  result.dims.assign(out.dims, out.dims + out.rank);
  const float* data = static_cast<const float*>(out.data);
  result.data.assign(data, data + out.bytes / sizeof(float));
  ge_tensor_release(&out);
  return result;
}

std::string Network::Metadata(const char* key) const {
  const char* text = nullptr;
  ge_session_metadata(session_.get(), key, &text);
  return text ? text : "";
}

std::string Network::Report() const {
  Error error;
  char* text = nullptr;
  error.Check(ge_session_report(session_.get(), nullptr, &text, &error.e));
  std::string out = text;
  ge_text_release(text);
  return out;
}

}  // namespace ocr
