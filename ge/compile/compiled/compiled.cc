#include "ge/compile/compiled/compiled.h"

#include <fmt/format.h>

#include <algorithm>

namespace ge {
namespace {

constexpr uint64_t kRecordBytes = 8 << 10;
constexpr std::string_view kModes[] = {"analytic", "cached", "measure", "shipped"};

}  // namespace

Result<PriceMode> PriceModeFromName(std::string_view name) {
  for (size_t i = 0; i < std::size(kModes); ++i) {
    if (kModes[i] == name) return static_cast<PriceMode>(i);
  }
  return Status(Code::kInvalidArgument,
                fmt::format("prices are '{}', wanted analytic, cached, measure or shipped", name));
}

std::string_view PriceModeName(PriceMode mode) { return kModes[static_cast<size_t>(mode)]; }

Compiled::~Compiled() {
  free_frames_.clear();
  program_.reset();
  for (const OwnedExec& x : execs_) {
    const Engine& e = *held_engines_[x.engine];
    if (x.exec && e.api().exec_destroy) e.api().exec_destroy(x.exec);
  }
}

void Compiled::TakeStates(std::vector<StateId> in, std::vector<StateId> out) {
  states_in = std::move(in);
  states_out = std::move(out);
  in_place.assign(states_out.size(), false);
  states_in_bytes.assign(states_in.size(), 0);
  states_out_bytes.assign(states_out.size(), 0);
  if (plan.functions.empty()) return;  // planning ended before
  const PlanFunction& f = plan.functions[0];
  const size_t own = f.outputs.size() - std::min(f.outputs.size(), states_out.size());
  for (size_t i = 0; own + i < f.outputs.size(); ++i) {
    const PlanValue& v = f.values[f.outputs[own + i]];
    in_place[i] = v.alias_of != 0;
    states_out_bytes[i] = static_cast<uint64_t>(v.bytes);
  }
  const size_t given = f.inputs.size() - std::min(f.inputs.size(), states_in.size());
  for (size_t i = 0; given + i < f.inputs.size(); ++i) {
    states_in_bytes[i] = static_cast<uint64_t>(f.values[f.inputs[given + i]].bytes);
  }
  states_out_home = HomesOf(std::span(f.outputs).subspan(own));
  states_in_home = HomesOf(std::span(f.inputs).subspan(given));
}

std::vector<StateHome> Compiled::HomesOf(std::span<const PlanValueId> values) const {
  std::vector<StateHome> homes;
  bool all_at_host = true;
  for (const PlanValueId v : values) {
    const PlanDomain& d = plan.domains[plan.functions[0].values[v].domain];
    StateHome& home = homes.emplace_back();
    if (d.engine == 0) continue;
    const Engine& e = *(*engines_)[d.engine - 1];
    home = {e.memory(d.engine_device), static_cast<uint64_t>(d.align), e.LostFlag(d.engine_device),
            e.shared_from_this()};
    all_at_host = false;
  }
  if (all_at_host) homes.clear();
  return homes;
}

Status Compiled::PinnedPacks::Pin(Compiled* compiled) {
  if (!compiled->pack_set_) return {};
  GE_RETURN_IF_ERROR(compiled->pack_set_->Pin(
      [compiled] { compiled->program_->MovePacks(compiled->PackBufs()); }));
  set_ = compiled->pack_set_.get();
  return {};
}

bool Compiled::PinnedPacks::PinAsTheyAre(const Compiled* compiled) {
  if (!compiled->pack_set_ || !compiled->pack_set_->PinAsTheyAre()) return false;
  set_ = compiled->pack_set_.get();
  return true;
}

Compiled::PinnedPacks::~PinnedPacks() {
  if (set_ != nullptr) set_->Unpin();
}

Result<std::unique_ptr<Frame>> Compiled::TakeFrame() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!free_frames_.empty()) {
      auto frame = std::move(free_frames_.back());
      free_frames_.pop_back();
      return frame;
    }
    ++frames_made_;
    free_frames_.reserve(frames_made_);  // GiveFrame then never allocates
  }
  return program_->NewFrame();
}

void Compiled::GiveFrame(std::unique_ptr<Frame> frame) {
  std::lock_guard<std::mutex> lock(mutex_);
  free_frames_.push_back(std::move(frame));
}

std::vector<Compiled::Port> Compiled::PortsOf(const Function& function,
                                              std::span<const ValueId> values) {
  std::vector<Port> out;
  for (ValueId v : values) {
    const Type& type = function.value(v).type;
    out.push_back({function.value(v).name, type.dtype, type.static_dims(),
                   static_cast<uint64_t>(ByteCount(type).value_or(0))});
  }
  return out;
}

std::vector<std::vector<ge_buf>> Compiled::PackBufs() const {
  std::vector<std::vector<ge_buf>> out(packs_.size());
  for (size_t s = 0; s < packs_.size(); ++s) {
    for (const auto& resident : packs_[s]) out[s].push_back(resident->buf());
  }
  return out;
}

std::vector<ge_buf> Compiled::HostPacks() const {
  std::vector<ge_buf> out;
  for (const auto& of_segment : PackBufs()) {
    for (const ge_buf& b : of_segment) {
      if (b.domain == 0 && b.ptr != nullptr) out.push_back(b);
    }
  }
  return out;
}

bool Compiled::UsesLost() const {
  if (plan.functions.empty()) return false;
  const auto lost = [&](const PlanDevice& d) {
    return d.engine != 0 && held_engines_[d.engine - 1]->IsLost(d.engine_device);
  };
  const std::vector<PlanSegment>& segments = plan.functions[0].segments;
  return std::any_of(segments.begin(), segments.end(),
                     [&](const PlanSegment& s) { return lost(plan.devices[s.device]); });
}

uint64_t Compiled::BytesHeld() const {
  // All other arenas are of pools.
  const bool own = arenas_ == nullptr && !check.arena_bytes.empty();
  const uint64_t arena = own ? static_cast<uint64_t>(check.arena_bytes[0]) : 0;
  // Graph, plan, offers, steps and records: 5 to 20 KB a node were seen.
  const uint64_t records = kRecordBytes * nodes;
  std::lock_guard<std::mutex> lock(mutex_);
  return arena * (frames_made_ ? frames_made_ : 1) + packed_bytes + copied_constant_bytes +
         folded_bytes + records;
}

}  // namespace ge
