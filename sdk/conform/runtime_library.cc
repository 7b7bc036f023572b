#include "runtime_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstring>

#include "ge/ge.h"

namespace ge::conform {
namespace {

template <class Function>
Function* Find(void* handle, const char* name) {
  return reinterpret_cast<Function*>(dlsym(handle, name));
}

// The functions of ge.h that are used here.
struct Calls {
  decltype(ge_session_options_init_sized)* init = nullptr;
  decltype(ge_session_create)* create = nullptr;
  decltype(ge_session_destroy)* destroy = nullptr;
  decltype(ge_session_load_bytes)* load = nullptr;
  decltype(ge_session_run)* run = nullptr;
  decltype(ge_session_report)* report = nullptr;
  decltype(ge_tensor_release)* release = nullptr;
  decltype(ge_text_release)* release_text = nullptr;

  explicit Calls(void* h)
      : init(Find<decltype(ge_session_options_init_sized)>(h, "ge_session_options_init_sized")),
        create(Find<decltype(ge_session_create)>(h, "ge_session_create")),
        destroy(Find<decltype(ge_session_destroy)>(h, "ge_session_destroy")),
        load(Find<decltype(ge_session_load_bytes)>(h, "ge_session_load_bytes")),
        run(Find<decltype(ge_session_run)>(h, "ge_session_run")),
        report(Find<decltype(ge_session_report)>(h, "ge_session_report")),
        release(Find<decltype(ge_tensor_release)>(h, "ge_tensor_release")),
        release_text(Find<decltype(ge_text_release)>(h, "ge_text_release")) {}
  bool all() const {
    return init && create && destroy && load && run && report && release && release_text;
  }
};

ge_tensor TensorOf(const Tensor& t) {
  ge_tensor out = {};
  out.size = sizeof out;
  out.dtype = t.dtype;
  out.rank = static_cast<int32_t>(t.dims.size());
  for (size_t i = 0; i < t.dims.size(); ++i) out.dims[i] = t.dims[i];
  out.data = const_cast<unsigned char*>(t.bytes.data());
  out.bytes = t.bytes.size();
  return out;
}

}  // namespace

std::string RuntimeLibrary::Open(const std::string& path) {
  if (path.empty()) return "libgraphengine is not installed beside this program; see --library";
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) return fmt::format("libgraphengine: {}", dlerror());
  return Calls(handle_).all() ? "" : fmt::format("'{}' is no libgraphengine of this version", path);
}

std::string RuntimeLibrary::RunText(const std::string& text, const How& how,
                                    const std::vector<Tensor>& inputs, size_t outputs,
                                    Run* out) const {
  const Calls calls(handle_);
  ge_error error = {};
  error.size = sizeof error;
  ge_session_options options = {};
  calls.init(&options, sizeof options);
  options.engines = how.engines.c_str();
  options.threads = 1;
  if (!how.plugins.empty()) options.plugins = how.plugins.c_str();
  if (!how.passes.empty()) options.passes = how.passes.c_str();
  options.prices = GE_PRICES_ANALYTIC;
  options.numerics = GE_EXACT_NUMERICS;
  ge_session* session = nullptr;
  if (calls.create(&options, &session, &error) != GE_STATUS_OK) return error.message;
  std::vector<ge_tensor> in, found(outputs);
  for (const Tensor& t : inputs) in.push_back(TensorOf(t));
  for (ge_tensor& t : found) t.size = sizeof t;
  const bool ok =
      calls.load(session, text.data(), text.size(), GE_FORMAT_TEXT, &error) == GE_STATUS_OK &&
      calls.run(session, nullptr, in.data(), static_cast<uint32_t>(in.size()), found.data(),
                static_cast<uint32_t>(outputs), &error) == GE_STATUS_OK;
  for (ge_tensor& t : found) {
    if (ok) {
      Tensor copy(t.dtype, Dims(t.dims, t.dims + t.rank));
      if (t.data != nullptr) std::memcpy(copy.bytes.data(), t.data, copy.bytes.size());
      out->outputs.push_back(std::move(copy));
    }
    calls.release(&t);
  }
  char* report = nullptr;
  if (ok && calls.report(session, nullptr, &report, &error) == GE_STATUS_OK && report != nullptr) {
    out->report = report;
    calls.release_text(report);
  }
  calls.destroy(session);
  return ok ? "" : error.message;
}

}  // namespace ge::conform
