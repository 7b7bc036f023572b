#include "tools/adcheck/model.h"

#include <fmt/format.h>

#include <cstring>

#include "frontend/text/text.h"
#include "ge/api/capi.h"
#include "ge/infer/infer.h"
#include "ge/ops/defaults.h"
#include "ge/session/session.h"
#include "ge/verify/verify.h"

namespace ge::adcheck {
namespace {

constexpr int32_t kBool = 9, kI64 = 7, kI32 = 6, kF64 = 11, kF32 = 1;

ge_error NoError() {
  ge_error e{};
  e.size = sizeof e;
  return e;
}

Status Of(ge_status status, const ge_error& e) {
  if (status == GE_STATUS_OK) return {};
  return Status(static_cast<Code>(status), e.message);
}

size_t ElementSize(int32_t dtype) {
  return dtype == kBool ? 1 : dtype == kI32 || dtype == kF32 ? 4 : 8;
}

std::vector<char> BytesOf(const Array& a) {
  const size_t n = a.is_float() ? a.f.size() : a.i.size(), size = ElementSize(a.dtype);
  std::vector<char> bytes(std::max<size_t>(1, n * size));
  for (size_t k = 0; k < n; ++k) {
    if (a.dtype == kF64) std::memcpy(&bytes[k * size], &a.f[k], size);
    const auto narrow = static_cast<float>(a.dtype == kF32 ? a.f[k] : 0);
    if (a.dtype == kF32) std::memcpy(&bytes[k * size], &narrow, size);
    if (!a.is_float()) std::memcpy(&bytes[k * size], &a.i[k], size);  // the low bytes come first
  }
  return bytes;
}

ge_tensor Given(const Array& a, const std::vector<char>& bytes) {
  ge_tensor t{};
  t.size = sizeof t;
  t.dtype = a.dtype;
  t.rank = static_cast<int32_t>(a.dims.size());
  std::copy(a.dims.begin(), a.dims.end(), t.dims);
  t.data = const_cast<char*>(bytes.data());  // which the session reads alone
  t.bytes = static_cast<uint64_t>(Array::Count(a.dims)) * ElementSize(a.dtype);
  return t;
}

Result<Array> ArrayOf(const ge_tensor& t) {
  Array a;
  a.dtype = t.dtype;
  a.dims.assign(t.dims, t.dims + t.rank);
  const int64_t n = Array::Count(a.dims);
  for (int64_t k = 0; k < n; ++k) {
    const char* at =
        static_cast<const char*>(t.data) + static_cast<size_t>(k) * ElementSize(t.dtype);
    double f = 0;
    int64_t i = 0;
    int32_t narrow = 0;
    if (t.dtype == kF64) {
      std::memcpy(&f, at, sizeof f);
      a.f.push_back(f);
    } else if (t.dtype == kF32) {
      float single;
      std::memcpy(&single, at, sizeof single);
      a.f.push_back(single);
    } else if (t.dtype == kI64) {
      std::memcpy(&i, at, sizeof i);
      a.i.push_back(i);
    } else if (t.dtype == kI32) {
      std::memcpy(&narrow, at, sizeof narrow);
      a.i.push_back(narrow);
    } else if (t.dtype == kBool) {
      a.i.push_back(*at != 0);
    } else {
      return Status(Code::kUnsupported,
                    fmt::format("an output is of dtype {}, wanted float64, float32, int64, "
                                "int32 or bool",
                                t.dtype));
    }
  }
  return a;
}

}  // namespace

int64_t Array::Count(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

Array Array::Of(std::vector<int64_t> dims, int32_t dtype) {
  Array a;
  a.dtype = dtype;
  a.f.assign(static_cast<size_t>(Count(dims)), 0);
  a.dims = std::move(dims);
  return a;
}

Result<Graph> ParseAndInfer(const std::string& text) {
  GE_ASSIGN_OR_RETURN(Graph graph, ParseText(text, "model"));
  FillDefaults(&graph);
  GE_RETURN_IF_ERROR(Verify(graph));
  GE_RETURN_IF_ERROR(Infer(&graph));
  return graph;
}

Model::~Model() { ge_session_destroy(session_); }

Result<std::unique_ptr<Model>> Model::Load(const std::string& text, const std::string& pass,
                                           const ModelOptions& options) {
  ge_session_options o;
  ge_session_options_init(&o);
  o.engines = options.engines.c_str();
  if (options.threads != 0) o.threads = options.threads;
  o.prices = GE_PRICES_ANALYTIC;
  o.denormals = GE_KEEP_DENORMALS;
  if (!pass.empty()) {
    o.plugins = options.plugin.c_str();
    o.passes = pass.c_str();
  }
  ge_error e = NoError();
  ge_session* session = nullptr;
  GE_RETURN_IF_ERROR(Of(ge_session_create(&o, &session, &e), e));
  std::unique_ptr<Model> model(new Model(session));
  // What is checked takes milliseconds; a loop that does not end is told so, on a busy host too.
  constexpr uint64_t kLimitMs = 60000;
  ge_session_set_time_limit(session, kLimitMs);
  GE_RETURN_IF_ERROR(
      Of(ge_session_load_bytes(session, text.data(), text.size(), GE_FORMAT_TEXT, &e), e));
  return model;
}

Result<std::vector<std::string>> Model::Names(const std::string& entry, bool inputs) const {
  uint32_t n = 0;
  const auto count = inputs ? ge_session_input_count : ge_session_output_count;
  const auto info = inputs ? ge_session_input_info : ge_session_output_info;
  if (count(session_, entry.c_str(), &n) != GE_STATUS_OK) {
    return Status(Code::kInvalidArgument, fmt::format("there is no entry '{}'", entry));
  }
  std::vector<std::string> names;
  for (uint32_t i = 0; i < n; ++i) {
    ge_tensor_info t{};
    t.size = sizeof t;
    info(session_, entry.c_str(), i, &t);
    names.emplace_back(t.name == nullptr ? "" : t.name);
  }
  return names;
}

bool Model::HasInput(const std::string& entry, const std::string& name) const {
  const auto names = Names(entry, true);
  if (!names.ok()) return false;
  for (const std::string& n : *names) {
    if (n == name) return true;
  }
  return false;
}

Result<Arrays> Model::Run(const std::string& entry, const Arrays& inputs) const {
  GE_ASSIGN_OR_RETURN(const std::vector<std::string> in, Names(entry, true));
  GE_ASSIGN_OR_RETURN(const std::vector<std::string> out, Names(entry, false));
  std::vector<std::vector<char>> bytes;
  std::vector<ge_tensor> given(in.size()), got(out.size());
  for (size_t i = 0; i < in.size(); ++i) {
    const auto found = inputs.find(in[i]);
    if (found == inputs.end()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("entry '{}' takes '{}', which is not given", entry, in[i]));
    }
    bytes.push_back(BytesOf(found->second));
    given[i] = Given(found->second, bytes.back());
  }
  for (ge_tensor& t : got) t.size = sizeof t;
  ge_error e = NoError();
  const Status status =
      Of(ge_session_run(session_, entry.c_str(), given.data(), static_cast<uint32_t>(given.size()),
                        got.data(), static_cast<uint32_t>(got.size()), &e),
         e);
  Arrays made;
  Status bad = status;
  for (size_t k = 0; status.ok() && k < got.size(); ++k) {
    Result<Array> a = ArrayOf(got[k]);
    if (!a.ok()) bad = a.status();
    if (a.ok()) made[out[k]] = *std::move(a);
  }
  for (ge_tensor& t : got) ge_tensor_release(&t);
  if (!bad.ok()) return bad;
  return made;
}

Result<Arrays> Model::States() const {
  uint32_t n = 0;
  ge_session_state_count(session_, &n);
  Arrays states;
  for (uint32_t i = 0; i < n; ++i) {
    ge_tensor_info info{};
    info.size = sizeof info;
    ge_session_state_info(session_, i, &info);
    ge_tensor t{};
    t.size = sizeof t;
    ge_error e = NoError();
    GE_RETURN_IF_ERROR(Of(ge_session_get_state(session_, info.name, &t, &e), e));
    std::vector<char> bytes(std::max<uint64_t>(1, t.bytes));
    t.data = bytes.data();
    GE_RETURN_IF_ERROR(Of(ge_session_get_state(session_, info.name, &t, &e), e));
    GE_ASSIGN_OR_RETURN(states[info.name], ArrayOf(t));
  }
  return states;
}

Status Model::SetState(const std::string& name, const Array& value) {
  const std::vector<char> bytes = BytesOf(value);
  const ge_tensor t = Given(value, bytes);
  ge_error e = NoError();
  return Of(ge_session_set_state(session_, name.c_str(), &t, &e), e);
}

std::string Model::Metadata(const std::string& key) const {
  const char* text = nullptr;
  const bool there = ge_session_metadata(session_, key.c_str(), &text) == GE_STATUS_OK;
  return there && text != nullptr ? text : "";
}

Result<std::string> Model::Text() const {
  GE_ASSIGN_OR_RETURN(const Session* session, capi::GetLoaded(session_));
  return PrintText(session->graph());
}

}  // namespace ge::adcheck
