#include "ge/tune/link_timer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "ge/base/aligned.h"
#include "ge/base/log.h"
#include "ge/price/links.h"
#include "ge/tune/stream_timer.h"

namespace ge {
namespace {

// Small ones show latency, large ones speed.
constexpr uint64_t kCopySizes[] = {uint64_t{4} << 10, uint64_t{64} << 10, uint64_t{1} << 20,
                                   uint64_t{8} << 20};
constexpr uint64_t kMostCopyBytes = uint64_t{8} << 20;
constexpr int kCopyRepeats = 7;

double MedianNs(std::vector<double> ns) {
  std::sort(ns.begin(), ns.end());
  return ns[ns.size() / 2];
}

// One device: a block of it, as much memory of the host's, and a stream.
class DeviceCopies {
 public:
  DeviceCopies(const Engine& engine, uint32_t device) : engine_(engine), device_(device) {}
  ~DeviceCopies() {
    timer_.reset();
    if (mem_ != nullptr) engine_.api().mem_free(engine_.handle(), mem_);
  }
  DeviceCopies(const DeviceCopies&) = delete;
  DeviceCopies& operator=(const DeviceCopies&) = delete;

  Status Prepare() {
    const uint64_t align =
        std::max<uint64_t>(64, static_cast<uint64_t>(engine_.devices()[device_].domains[0].align));
    host_ = AllocateAligned(kMostCopyBytes, 64);
    if (!host_) return Status(Code::kResourceExhausted, "no memory to time copies");
    std::memset(host_.get(), 0, kMostCopyBytes);
    ge_err err = EmptyError();
    const ge_rc rc = engine_.api().mem_alloc(engine_.handle(), device_, 0, kMostCopyBytes, align,
                                             &mem_, &address_, &err);
    if (rc != GE_OK) return FromEngine(engine_.name(), "mem_alloc", rc, err);
    GE_ASSIGN_OR_RETURN(
        timer_, StreamTimer::Make(engine_.api(), engine_.handle(), engine_.name(), device_));
    return {};
  }

  // Medians of copies of so many bytes.
  Result<StreamTimer::Times> Time(bool to_device, uint64_t bytes) {
    const int64_t dims[] = {static_cast<int64_t>(bytes)};
    ge_buf far{}, near{};
    far.bytes = near.bytes = bytes;
    far.dims = near.dims = dims;
    far.rank = near.rank = 1;
    far.dtype = near.dtype = GE_U8;
    far.ptr = address_;
    far.mem = mem_;
    far.domain = 1;
    near.ptr = host_.get();
    ge_copy copy{};
    copy.h = GE_HDR(ge_copy, GE_TAG_COPY);
    copy.dst = to_device ? far : near;
    copy.src = to_device ? near : far;
    const auto queue = [&](ge_stream* stream) {
      copy.stream = stream;
      ge_err err = EmptyError();
      const ge_rc rc = engine_.api().copy(engine_.handle(), &copy, &err);
      return rc == GE_OK ? Status() : FromEngine(engine_.name(), "copy", rc, err);
    };
    const int pieces = timer_->has_stamps() ? 1 : StreamTimer::kPieces;
    std::vector<double> one, visit;
    for (int i = 0; i <= kCopyRepeats; ++i) {
      GE_ASSIGN_OR_RETURN(const StreamTimer::Times times, timer_->Time(queue, pieces));
      if (i == 0) continue;  // pays for fresh pages and threads
      one.push_back(times.one_ns);
      visit.push_back(times.visit_ns);
    }
    return StreamTimer::Times{MedianNs(std::move(one)), MedianNs(std::move(visit))};
  }

 private:
  const Engine& engine_;
  const uint32_t device_;
  AlignedBytes host_;
  ge_mem* mem_ = nullptr;
  void* address_ = nullptr;
  std::unique_ptr<StreamTimer> timer_;
};

Status MeasureDevice(const EngineList& engines, const Plan& plan, DeviceId id, bool busy,
                     PriceCache* cache) {
  const PlanDevice& d = plan.devices[id];
  const LinkBooks books = BooksOf(engines);
  DeviceCopies copies(*engines[d.engine - 1], d.engine_device);
  GE_RETURN_IF_ERROR(copies.Prepare());
  for (const PlanLink& link : plan.links) {
    const bool to = link.from == 0 && link.to == d.domain,
               back = link.to == 0 && link.from == d.domain;
    // The host's end here is not page-locked.
    if (link.engine != d.engine || link.staging_bytes_per_ns > 0 || (!to && !back)) continue;
    for (const uint64_t bytes : kCopySizes) {
      GE_ASSIGN_OR_RETURN(const StreamTimer::Times times, copies.Time(to, bytes));
      AddLinkSample(books, plan, link,
                    {static_cast<double>(bytes), {times.one_ns, kCopyRepeats, busy}}, cache);
      if (back && bytes == kCopySizes[0]) {
        AddWaitSample(books, plan, id, {times.visit_ns, kCopyRepeats, busy}, cache);
      }
    }
  }
  return {};
}

}  // namespace

void MeasureLinks(const EngineList& engines, const Plan& described, bool busy, PriceCache* cache) {
  for (DeviceId d = 1; d < described.devices.size(); ++d) {
    const PlanDevice& device = described.devices[d];
    if (!device.async || device.domain == 0) continue;
    const Status status = MeasureDevice(engines, described, d, busy, cache);
    if (status.ok()) continue;
    LogLine(1, fmt::format("links of {} are not measured: {}", device.name, status.ToString()));
  }
}

}  // namespace ge
