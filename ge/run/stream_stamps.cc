#include "ge/run/stream_stamps.h"

#include <algorithm>

namespace ge {
namespace {

ge_err Unset() {
  ge_err err{};
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  err.node = UINT32_MAX;
  return err;
}

}  // namespace

std::unique_ptr<StreamStamps> StreamStamps::Make(const Plan& plan, const ProgramParts& parts) {
  const PlanFunction& f = plan.functions[0];
  std::unique_ptr<StreamStamps> out(new StreamStamps(parts, f.code.size()));
  std::vector<uint32_t> of_device(plan.devices.size(), kNone);
  for (uint32_t i = 0; i < f.code.size(); ++i) {
    const Instruction& in = f.code[i];
    if (in.stream == 0 || (in.op != PlanOp::kLaunch && in.op != PlanOp::kCopy)) continue;
    const DeviceId d = f.streams[in.stream].device;
    const uint32_t engine = plan.devices[d].engine;
    if (parts.engines[engine].api.stamps_create == nullptr) continue;
    if (of_device[d] == kNone) {
      of_device[d] = static_cast<uint32_t>(out->places_.size());
      out->places_.push_back({engine, nullptr, 0, {}});
    }
    Places& places = out->places_[of_device[d]];
    out->place_[i] = {of_device[d], places.count};
    places.count += 2;
  }
  for (DeviceId d = 0; d < of_device.size(); ++d) {
    if (of_device[d] == kNone) continue;
    Places& places = out->places_[of_device[d]];
    const RunEngine& e = parts.engines[places.engine];
    ge_err err = Unset();
    const ge_rc rc = e.api.stamps_create(e.engine, plan.devices[d].engine_device, places.count,
                                         &places.stamps, &err);
    if (rc != GE_OK) return nullptr;
    places.ns.resize(places.count);
  }
  return out->places_.empty() ? nullptr : std::move(out);
}

StreamStamps::~StreamStamps() {
  for (const Places& p : places_) {
    if (p.stamps != nullptr) parts_.engines[p.engine].api.stamps_destroy(p.stamps);
  }
}

void StreamStamps::Take(uint32_t instruction, ge_stream* stream, uint32_t which) {
  const Place& at = place_[instruction];
  if (at.device == kNone) return;
  const Places& places = places_[at.device];
  ge_err err = Unset();
  const ge_rc rc =
      parts_.engines[places.engine].api.stream_stamp(stream, places.stamps, at.first + which, &err);
  whole_ = whole_ && rc == GE_OK;
}

std::span<const RunClock::Span> StreamStamps::Read() {
  bool whole = std::exchange(whole_, true);
  for (Places& p : places_) {
    ge_err err = Unset();
    whole = whole && parts_.engines[p.engine].api.stamps_read(p.stamps, 0, p.count, p.ns.data(),
                                                              &err) == GE_OK;
  }
  if (!whole) return {};
  for (size_t i = 0; i < place_.size(); ++i) {
    if (place_[i].device == kNone) continue;
    const uint64_t* const ns = places_[place_[i].device].ns.data() + place_[i].first;
    span_[i] = {ns[0], std::max(ns[0], ns[1])};
  }
  return span_;
}

}  // namespace ge
