#include "passes/data/ops/ops.h"

#include <fmt/format.h>

#include <exception>
#include <mutex>

namespace ge::data {

ge_port Port(const char* name, uint64_t dtypes) {
  ge_port p{};
  p.name = ge_text(name);
  p.dtypes = dtypes;
  return p;
}

ge_port OptionalPort(const char* name, uint64_t dtypes) {
  ge_port p = Port(name, dtypes);
  p.flags = GE_PORT_OPTIONAL;
  return p;
}

ge_attr_def WantedAttr(const char* name, uint32_t kind) {
  ge_attr_def a{};
  a.value.name = ge_text(name);
  a.value.kind = kind;
  a.flags = GE_ATTR_REQUIRED;
  return a;
}

ge_attr_def IntAttr(const char* name, int64_t otherwise) {
  ge_attr_def a = WantedAttr(name, GE_ATTR_INT);
  a.value.i = otherwise;
  a.flags = GE_ATTR_HAS_DEFAULT;
  return a;
}

ge_attr_def FloatAttr(const char* name, double otherwise) {
  ge_attr_def a = WantedAttr(name, GE_ATTR_FLOAT);
  a.value.f = otherwise;
  a.flags = GE_ATTR_HAS_DEFAULT;
  return a;
}

ge_attr_def TextAttr(const char* name, const char* otherwise) {
  ge_attr_def a = WantedAttr(name, GE_ATTR_STRING);
  a.value.s = ge_text(otherwise);
  a.flags = GE_ATTR_HAS_DEFAULT;
  return a;
}

ge_op_def Record(const char* name, std::span<const ge_port> ports,
                 std::span<const ge_attr_def> attrs) {
  ge_op_def d{};
  d.h = GE_HDR(ge_op_def, GE_TAG_OP_DEF);
  d.domain = ge_text(kDomain);
  d.name = ge_text(name);
  d.version = 1;
  d.input = ports.data();
  d.output = &ports.back();
  d.attr = attrs.data();
  d.n_input = static_cast<uint32_t>(ports.size() - 1);
  d.n_output = 1;
  d.n_attr = static_cast<uint32_t>(attrs.size());
  return d;
}

void WantRows(std::span<const int64_t> rows, int64_t count, std::string_view op) {
  for (const int64_t row : rows) {
    if (row >= 0 && row < count) continue;
    throw passes::Refusal{GE_OUT_OF_RANGE,
                          fmt::format("{}: row {}, wanted 0 to {}", op, row, count - 1)};
  }
}

void Parallel(const ge_host_api* api, uint64_t n, const std::function<void(uint64_t)>& body) {
  struct Context {
    const std::function<void(uint64_t)>& body;
    std::mutex mutex;
    std::exception_ptr failed;
  } context{body, {}, {}};
  const auto call = [](void* at, uint64_t i) {
    auto& c = *static_cast<Context*>(at);
    try {
      c.body(i);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(c.mutex);
      if (!c.failed) c.failed = std::current_exception();
    }
  };
  if (n < 2 || api == nullptr) {
    for (uint64_t i = 0; i < n; ++i) body(i);
    return;
  }
  api->parallel_for(api->host, n, call, &context);
  if (context.failed) std::rethrow_exception(context.failed);
}

}  // namespace ge::data
