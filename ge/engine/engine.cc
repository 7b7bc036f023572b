#include "ge/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace ge {
namespace {

std::string Text(ge_str s) { return s.p ? std::string(s.p, std::min<uint64_t>(s.n, 256)) : ""; }

std::string DomainId16(const uint8_t* id) {
  std::string out(reinterpret_cast<const char*>(id), 16);
  return out == std::string(16, '\0') ? "" : out;
}

// What a record of `size` bytes, at `p`, says; fields beyond it stay zero.
template <typename T>
T ReadRecord(const void* p) {
  T out{};
  uint32_t size = static_cast<const ge_hdr*>(p)->size;
  std::memcpy(static_cast<void*>(&out), p, std::min<size_t>(size, sizeof(T)));
  return out;
}

// What a plugin finds wrong with its own calls is no fault of the user's, apart from options.
Code CodeOf(std::string_view call, ge_rc rc) {
  switch (rc) {
    case GE_OUT_OF_MEMORY:
      return Code::kResourceExhausted;
    case GE_UNIMPLEMENTED:
      return Code::kUnsupported;
    case GE_CANCELLED:
      return Code::kCancelled;
    case GE_DEADLINE:
      return Code::kDeadlineExceeded;
    case GE_DEVICE_LOST:
      return Code::kDeviceLost;
    case GE_INVALID_ARGUMENT:
    case GE_OUT_OF_RANGE:
      return call == "engine_create" ? Code::kInvalidArgument : Code::kPluginError;
    default:
      return Code::kPluginError;
  }
}

}  // namespace

ge_err EmptyError() {
  ge_err err{};
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  err.node = UINT32_MAX;
  return err;
}

Status FromEngine(std::string_view engine, std::string_view call, ge_rc rc, const ge_err& err) {
  std::string_view text(err.msg, std::min<size_t>(err.msg_len, sizeof err.msg));
  return Status(CodeOf(call, rc), fmt::format("engine '{}' failed in {} (code {}): {}", engine,
                                              call, rc, text.empty() ? "no reason given" : text));
}

Result<std::unique_ptr<Engine>> Engine::Create(std::shared_ptr<const Plugin> plugin,
                                               const std::string& options,
                                               const EngineWords& words) {
  std::unique_ptr<Engine> e(new Engine);
  e->plugin_ = std::move(plugin);
  e->options_ = options;
  e->words_ = words;
  const ge_engine_api* table = e->plugin_->desc->engine;
  std::memcpy(static_cast<void*>(&e->api_), table, std::min<size_t>(table->h.size, sizeof e->api_));
  ge_create_args args{};
  args.h = GE_HDR(ge_create_args, GE_TAG_CREATE_ARGS);
  args.host = HostApi();
  args.options = {options.data(), options.size()};
  args.denormals = words.denormals, args.numerics = words.numerics;
  ge_err err = EmptyError();
  ge_rc rc = e->plugin_->desc->engine_create(&args, &e->handle_, &err);
  if (rc != GE_OK) return FromEngine(e->name(), "engine_create", rc, err);
  if (!e->handle_) {
    return Status(
        Code::kPluginError,
        fmt::format("engine '{}' answered OK to engine_create, but gave no engine; it has "
                    "to point *out to one",
                    e->name()));
  }
  GE_RETURN_IF_ERROR(e->ReadDevices());
  return e;
}

Engine::~Engine() {
  if (handle_ && plugin_->desc->engine_destroy) plugin_->desc->engine_destroy(handle_);
}

Status Engine::ReadDevices() {
  if (!api_.devices) {
    devices_.push_back({"cpu", "", 0, GE_MEM_HOST_VISIBLE, 1, 64, 0, 0, 0});
    return {};
  }
  ge_err err = EmptyError();
  const ge_device* device = nullptr;
  uint32_t n = 0, stride = 0;
  ge_rc rc = api_.devices(handle_, &device, &n, &stride, &err);
  if (rc != GE_OK) return FromEngine(name(), "devices", rc, err);
  if (n > 256 || (n > 0 && (!device || stride < sizeof(ge_hdr)))) {
    return Status(Code::kPluginError, fmt::format("engine '{}' lists {} devices with stride {}; "
                                                  "wanted at most 256 records",
                                                  name(), n, stride));
  }
  bool has_streams = api_.stream_create && api_.stream_destroy && api_.event_create &&
                     api_.event_destroy && api_.stream_wait && api_.stream_signal &&
                     api_.event_wait && api_.event_query;
  for (uint32_t i = 0; i < n; ++i) {
    auto d = ReadRecord<ge_device>(reinterpret_cast<const char*>(device) + uint64_t{i} * stride);
    EngineDevice out;
    out.name = Text(d.name);
    out.domain = DomainId16(d.domain);
    out.flags = d.flags, out.mem_flags = d.mem_flags;
    out.max_streams = std::clamp(d.max_streams, 1u, 64u);
    out.mem_align = d.mem_align ? static_cast<int64_t>(d.mem_align) : 64;
    out.mem_bytes = static_cast<int64_t>(std::min<uint64_t>(d.mem_bytes, INT64_MAX));
    out.flops_per_ns = d.flops_per_ns, out.bytes_per_ns = d.bytes_per_ns;
    if ((out.mem_align & (out.mem_align - 1)) != 0 || out.mem_align > (1 << 30)) {
      return Status(Code::kPluginError, fmt::format("engine '{}', device '{}': mem_align {} is not "
                                                    "a power of two",
                                                    name(), out.name, d.mem_align));
    }
    if ((d.flags & GE_DEVICE_ASYNC) && !has_streams) {
      return Status(Code::kPluginError,
                    fmt::format("engine '{}', device '{}' is asynchronous, but a stream or event "
                                "function is NULL; fill all of them",
                                name(), out.name));
    }
    if (!out.domain.empty() && (!api_.mem_alloc || !api_.mem_free || !api_.copy)) {
      return Status(Code::kPluginError,
                    fmt::format("engine '{}', device '{}' has its own memory, but mem_alloc, "
                                "mem_free or copy is NULL; fill all three",
                                name(), out.name));
    }
    devices_.push_back(std::move(out));
  }
  if (!api_.links) return {};
  const ge_link* link = nullptr;
  rc = api_.links(handle_, &link, &n, &stride, &err);
  if (rc != GE_OK) return FromEngine(name(), "links", rc, err);
  for (uint32_t i = 0; i < n && i < 4096 && link; ++i) {
    auto l = ReadRecord<ge_link>(reinterpret_cast<const char*>(link) + uint64_t{i} * stride);
    links_.push_back({DomainId16(l.from), DomainId16(l.to), static_cast<double>(l.latency_ns),
                      l.bytes_per_ns > 0 ? l.bytes_per_ns : 1.0});
  }
  return {};
}

}  // namespace ge
