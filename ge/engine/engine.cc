#include "ge/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ge/base/log.h"
#include "ge/engine/plugin/record.h"

namespace ge {
namespace {

std::string Text(ge_str s) { return s.p ? std::string(s.p, std::min<uint64_t>(s.n, 256)) : ""; }

std::string DomainId16(const uint8_t* id) {
  std::string out(reinterpret_cast<const char*>(id), 16);
  return out == std::string(16, '\0') ? "" : out;
}

// Record `i` of an array that is walked by a stride.
template <typename T>
Result<T> RecordAt(const T* array, uint32_t stride, uint32_t i, std::string_view what) {
  return ReadRecord(
      reinterpret_cast<const T*>(reinterpret_cast<const char*>(array) + uint64_t{i} * stride),
      what);
}

// UNSUPPORTED or PLUGIN_ERROR unless an array of at most `most` records can be walked.
Status CheckArray(std::string_view what, const void* array, uint32_t n, uint32_t stride,
                  uint32_t first, uint32_t most) {
  if (n == 0 || (n <= most && array && stride >= first)) return {};
  return Status(Code::kPluginError,
                fmt::format("{}: {} records{} with stride {}; wanted at most {}, with a stride of "
                            "at least {}",
                            what, n, array ? "" : " at NULL", stride, most, first));
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
    case GE_DATA_LOSS:  // of files that a kernel reads
      return Code::kDataCorrupt;
    case GE_UNAVAILABLE:  // its device or driver is not here
      return call == "engine_create" ? Code::kFailedPrecondition : Code::kPluginError;
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

std::string CallText(const Engine& engine, std::string_view call) {
  return fmt::format("engine '{}', {}", engine.name(), call);
}

Status FromEngine(std::string_view engine, std::string_view call, ge_rc rc, const ge_err& err) {
  std::string_view text(err.msg, std::min<size_t>(err.msg_len, sizeof err.msg));
  return Status(CodeOf(call, rc), fmt::format("engine '{}' failed in {} (code {}): {}", engine,
                                              call, rc, text.empty() ? "no reason given" : text));
}

Status FromEngine(const Engine& engine, uint32_t device, std::string_view call, ge_rc rc,
                  const ge_err& err) {
  const Status status = FromEngine(engine.name(), call, rc, err);
  const bool lost = rc == GE_DEVICE_LOST || (rc != GE_CANCELLED && err.scope >= GE_SCOPE_DEVICE);
  if (!lost) return status;
  engine.Lose(device, err.scope == GE_SCOPE_PLUGIN, status.message());
  return Status(Code::kDeviceLost, status.message());
}

void Engine::Lose(uint32_t device, bool all, const std::string& why) const {
  std::vector<uint32_t> out;
  const auto count = static_cast<uint32_t>(devices_.size());
  for (uint32_t d = 0; all && d < count; ++d) out.push_back(d);
  if (!all && count > 1 && !IsLost(device) && DeviceAnswers(api_, handle_, device)) {
    for (uint32_t d = 0; d < count; ++d) {
      if (d != device && !IsLost(d) && !DeviceAnswers(api_, handle_, d)) out.push_back(d);
    }
  }
  if (out.empty()) out.push_back(std::min(device, count - 1));
  for (const uint32_t d : out) {
    if (!losses_->Add(d, why)) continue;
    LogLine(1, fmt::format("engine '{}', device '{}' is lost and gets no more work: {}", name(),
                           devices_[d].name, why));
  }
}

bool Engine::AllLost() const {
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    if (!IsLost(d)) return false;
  }
  return !devices_.empty();
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
  args.denormals = words.denormals;
  args.numerics = words.numerics;
  args.precision = words.precision;
  const KernelsOf kernels{GE_HDR(KernelsOf, kTagKernelsOf), e->plugin_->kernels_of.get()};
  if (kernels.plugin) args.h.next = &kernels.h;
  ge_err err = EmptyError();
  const ge_rc rc = CallPlugin(CallText(*e, "engine_create"), &err, [&] {
    return e->plugin_->desc->engine_create(&args, &e->handle_, &err);
  });
  if (rc != GE_OK) return FromEngine(e->name(), "engine_create", rc, err);
  if (!e->handle_) {
    return Status(
        Code::kPluginError,
        fmt::format("engine '{}' answered OK to engine_create, but gave no engine; it has "
                    "to point *out to one",
                    e->name()));
  }
  GE_RETURN_IF_ERROR(e->ReadDevices());
  e->MakeMemory();
  return e;
}

void Engine::MakeMemory() {
  for (uint32_t d = 0; d < devices_.size(); ++d) {
    auto& of_device = memory_.emplace_back(devices_[d].domains.size());
    for (uint32_t i = 0; i < of_device.size(); ++i) {
      const EngineDomain& domain = devices_[d].domains[i];
      if (domain.id.empty()) continue;
      DomainMemory::Of of{&api_,
                          handle_,
                          d,
                          i,
                          name() + "/" + devices_[d].name,
                          domain.id,
                          static_cast<uint64_t>(domain.align),
                          static_cast<uint64_t>(domain.bytes),
                          (devices_[d].flags & GE_DEVICE_ASYNC) != 0,
                          devices_[d].timeout_ns,
                          [this] { return weak_from_this().lock(); }};
      if (domain.flags & GE_MEM_PINNED) of.name += ", page-locked";
      of_device[i] = std::make_unique<DomainMemory>(
          std::move(of), [this, d](const char* call, ge_rc rc, const ge_err& err) {
            return FromEngine(*this, d, call, rc, err);
          });
    }
  }
}

Engine::~Engine() {
  memory_.clear();  // frees blocks
  if (handle_ && plugin_->desc->engine_destroy) plugin_->desc->engine_destroy(handle_);
}

Result<EngineDomain> Engine::ReadDomain(const ge_device& device, uint32_t i,
                                        const std::string& of) const {
  const std::string what = fmt::format("{}, domain {}", of, i);
  GE_ASSIGN_OR_RETURN(const ge_domain m, RecordAt(device.domain, device.domain_stride, i, what));
  EngineDomain out;
  out.id = DomainId16(m.id);
  out.flags = m.flags;
  out.align = m.align ? static_cast<int64_t>(m.align) : 64;
  out.bytes = static_cast<int64_t>(std::min<uint64_t>(m.bytes, INT64_MAX));
  if (m.align > (1 << 30) || (m.align & (m.align - 1)) != 0) {
    return Status(Code::kPluginError, fmt::format("{}: align {} is not a power of two of at most "
                                                  "2^30",
                                                  what, m.align));
  }
  const bool pinned = (m.flags & GE_MEM_PINNED) != 0;
  if (pinned && (i == 0 || out.id.empty() || !(m.flags & GE_MEM_HOST_VISIBLE))) {
    return Status(Code::kPluginError,
                  fmt::format("{} is GE_MEM_PINNED: it stands behind the place of the device's "
                              "tensors, is GE_MEM_HOST_VISIBLE and has an id of its own, which is "
                              "not all zero",
                              what));
  }
  const bool allocates = i > 0 || !out.id.empty();
  if (allocates && (!api_.mem_alloc || !api_.mem_free || !api_.copy)) {
    return Status(Code::kPluginError, fmt::format("{} is memory of its own, but mem_alloc, "
                                                  "mem_free or copy is NULL; fill all three",
                                                  what));
  }
  return out;
}

Status Engine::ReadDevice(const ge_device& device) {
  EngineDevice out;
  out.name = Text(device.name);
  const std::string what = fmt::format("engine '{}', device '{}'", name(), out.name);
  out.flags = device.flags;
  out.max_streams = std::clamp(device.max_streams, 1u, 64u);
  out.flops_per_ns = device.flops_per_ns;
  out.bytes_per_ns = device.bytes_per_ns;
  out.timeout_ns = device.timeout_ns;
  GE_RETURN_IF_ERROR(CheckArray(what + ", domains", device.domain, device.n_domain,
                                device.domain_stride, kFirstSize<ge_domain>, 16));
  for (uint32_t i = 0; i < device.n_domain; ++i) {
    GE_ASSIGN_OR_RETURN(EngineDomain domain, ReadDomain(device, i, what));
    if (i > 0) out.domains.push_back(domain);
    if (i == 0) out.domains[0] = std::move(domain);
  }
  const bool has_streams = api_.stream_create && api_.stream_destroy && api_.event_create &&
                           api_.event_destroy && api_.stream_wait && api_.stream_signal &&
                           api_.event_wait;
  if ((device.flags & GE_DEVICE_ASYNC) && !has_streams) {
    return Status(Code::kPluginError, fmt::format("{} is asynchronous, but a stream or event "
                                                  "function is NULL; fill all of them",
                                                  what));
  }
  devices_.push_back(std::move(out));
  return {};
}

Status Engine::ReadDevices() {
  if (!api_.devices) {
    devices_.push_back({});
    devices_.back().name = "cpu";
    return {};
  }
  ge_err err = EmptyError();
  const ge_device* device = nullptr;
  uint32_t n = 0, stride = 0;
  const ge_rc rc = CallPlugin(CallText(*this, "devices"), &err,
                              [&] { return api_.devices(handle_, &device, &n, &stride, &err); });
  if (rc != GE_OK) return FromEngine(name(), "devices", rc, err);
  const std::string what = fmt::format("engine '{}', devices", name());
  GE_RETURN_IF_ERROR(CheckArray(what, device, n, stride, kFirstSize<ge_device>, 256));
  for (uint32_t i = 0; i < n; ++i) {
    GE_ASSIGN_OR_RETURN(const ge_device d, RecordAt(device, stride, i, what));
    GE_RETURN_IF_ERROR(ReadDevice(d));
  }
  return ReadLinks();
}

Status Engine::ReadLinks() {
  if (!api_.links) return {};
  ge_err err = EmptyError();
  const ge_link* link = nullptr;
  uint32_t n = 0, stride = 0;
  const ge_rc rc = CallPlugin(CallText(*this, "links"), &err,
                              [&] { return api_.links(handle_, &link, &n, &stride, &err); });
  if (rc != GE_OK) return FromEngine(name(), "links", rc, err);
  const std::string what = fmt::format("engine '{}', links", name());
  GE_RETURN_IF_ERROR(CheckArray(what, link, n, stride, kFirstSize<ge_link>, 4096));
  for (uint32_t i = 0; i < n; ++i) {
    GE_ASSIGN_OR_RETURN(const ge_link l, RecordAt(link, stride, i, what));
    links_.push_back({DomainId16(l.from), DomainId16(l.to), static_cast<double>(l.latency_ns),
                      l.bytes_per_ns > 0 ? l.bytes_per_ns : 1.0});
  }
  return {};
}

}  // namespace ge
