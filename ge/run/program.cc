#include "ge/run/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ge/base/clock.h"
#include "ge/base/interrupt.h"
#include "ge/base/no_throw.h"
#include "ge/domain/device_wait.h"
#include "ge/run/frame.h"
#include "ge/run/state_memory.h"
#include "ge/run/stream_stamps.h"

namespace ge {
namespace {

const char* CallName(PlanOp op, bool on_stream) {
  switch (op) {
    case PlanOp::kLaunch:
      return "enqueue";
    case PlanOp::kCopy:
      return "copy";
    case PlanOp::kSignal:
      return "stream_signal";
    default:
      return on_stream ? "stream_wait" : "event_wait";
  }
}

Code CodeOf(ge_rc rc) {
  switch (rc) {
    case GE_INVALID_ARGUMENT:
    case GE_OUT_OF_RANGE:
      return Code::kInvalidArgument;
    case GE_DATA_LOSS:  // in files that an operator reads
      return Code::kDataCorrupt;
    case GE_OUT_OF_MEMORY:
      return Code::kResourceExhausted;
    case GE_CANCELLED:
      return Code::kCancelled;
    case GE_DEADLINE:
      return Code::kDeadlineExceeded;
    case GE_DEVICE_LOST:
      return Code::kDeviceLost;
    default:
      return Code::kPluginError;
  }
}

void OpenZones(PlanOp op, const ge_launch& launch, const ge_copy& copy, RedZones* zones) {
  if (op == PlanOp::kLaunch) zones->Open(launch);
  if (op == PlanOp::kCopy) zones->Open(copy);
}

ge_rc CloseZones(PlanOp op, const ge_launch& launch, const ge_copy& copy, RedZones* zones,
                 ge_err* err) {
  std::string harm;
  if (op == PlanOp::kLaunch) harm = zones->Close(launch);
  if (op == PlanOp::kCopy) harm = zones->Close(copy);
  if (harm.empty()) return GE_OK;
  harm = "red zones: " + harm;
  err->msg_len = static_cast<uint32_t>(std::min(harm.size(), sizeof err->msg));
  std::memcpy(err->msg, harm.data(), err->msg_len);
  return GE_INTERNAL;
}

}  // namespace

Program::Program(const Plan& plan, ProgramParts parts) : plan_(plan), parts_(std::move(parts)) {
  if (parts_.red_zones) return;  // they look behind each call
  std::vector<bool> captures;
  for (const RunEngine& e : parts_.engines) captures.push_back(e.api.capture_begin != nullptr);
  regions_ = FindCaptureRegions(plan_, captures);
}

Result<std::unique_ptr<Program>> Program::Make(const Plan& plan, ProgramParts parts) {
  if (plan.functions.empty()) return Status(Code::kInvalidArgument, "the plan has no function");
  return std::unique_ptr<Program>(new Program(plan, std::move(parts)));
}

Result<std::unique_ptr<Frame>> Program::NewFrame() const {
  auto frame = std::make_unique<Frame>(*this);
  GE_RETURN_IF_ERROR(frame->Build());
  if (parts_.clock != nullptr) frame->stream_stamps_ = StreamStamps::Make(plan_, parts_);
  return frame;
}

std::string ArenaName(const Plan& plan) {
  const PlanFunction& f = plan.functions[0];
  std::string inputs;
  for (const PlanValueId v : f.inputs) {
    const PlanValue& value = f.values[v];
    if (value.state != 0 || !value.type.is_static()) continue;
    inputs += fmt::format("{} {} [{}]", inputs.empty() ? " with" : ",", value.name,
                          fmt::join(value.type.static_dims(), ","));
  }
  return fmt::format("the arena of '{}'{}", f.name, inputs);
}

void Program::MovePacks(const std::vector<std::vector<ge_buf>>& packs) {
  ++packs_moved_;
  for (size_t s = 0; s < packs.size(); ++s) {  // in place: frames point to them
    std::copy(packs[s].begin(), packs[s].end(), parts_.packs[s].begin());
  }
}

Status Program::Run(Frame* f, const void* const* inputs, void* const* outputs,
                    RunObserver* observer) const {
  if (f->zones_ != nullptr) {
    if (observer == nullptr) return RunGuarded(f, inputs, outputs);
    return Status(Code::kFailedPrecondition,
                  "a run with red zones cannot be observed; unset GE_RED_ZONES");
  }
  GE_RETURN_IF_ERROR(f->TakeBlocks());
  if (f->pooled_bytes_ == 0) return RunToEnd(f, inputs, outputs, observer);
  GE_ASSIGN_OR_RETURN(ArenaPool::Lease lease, parts_.arenas->Take(f->pooled_bytes_));
  f->Attach(lease.base());
  Status status = RunToEnd(f, inputs, outputs, observer);
  if (f->in_flight()) [[unlikely]]
    f->lease_.emplace(std::move(lease));
  return status;
}

// Gives the blocks of devices back, unless one of these has not ended its work.
Status Program::RunToEnd(Frame* f, const void* const* inputs, void* const* outputs,
                         RunObserver* observer) const {
  Status status = RunIn(f, inputs, outputs, observer);
  if (!f->in_flight()) [[likely]]
    f->GiveBlocks();
  return status;
}

Status Program::RunIn(Frame* frame, const void* const* inputs, void* const* outputs,
                      RunObserver* observer) const {
  for (const Frame::Patch& p : frame->patches_) {
    p.buf->ptr = p.output ? outputs[p.index] : const_cast<void*>(inputs[p.index]);
  }
  if (!frame->device_patches_.empty()) PatchDevices(frame, inputs, outputs);
  if (observer != nullptr) {
    frame->observer_ = observer;
    return Issue<Mode::kObserved>(frame);
  }
  const bool timed = parts_.clock != nullptr && RunClock::Due(frame->epoch_);
  if (!timed && frame->captures_ != nullptr) {
    frame->NoteBlocks(inputs, outputs);
    Status status = Issue<Mode::kCaptured>(frame);
    frame->captures_->EndRun();
    return status;
  }
  if (!timed) return Issue<Mode::kPlain>(frame);
  Status status = Issue<Mode::kTimed>(frame);
  if (!status.ok()) return status;
  std::span<const RunClock::Span> work;
  if (frame->stream_stamps_ != nullptr) work = frame->stream_stamps_->Read();
  parts_.clock->Take(frame->stamps_, work, frame->epoch_ == 1);
  return status;
}

void Program::PatchDevices(Frame* frame, const void* const* inputs, void* const* outputs) {
  for (const Frame::Patch& p : frame->device_patches_) {
    const void* given = p.output ? outputs[p.index] : inputs[p.index];
    const auto* place = static_cast<const DevicePlace*>(given);
    p.buf->ptr = place->address;
    p.buf->mem = place->mem;
  }
}

Status Program::RunGuarded(Frame* frame, const void* const* inputs, void* const* outputs) const {
  RedZones& zones = *frame->zones_;
  zones.Begin(inputs);
  for (const Frame::Patch& p : frame->patches_) {
    p.buf->ptr = p.output ? zones.output(p.index) : zones.input(p.index);
  }
  PatchDevices(frame, inputs, outputs);
  Status status = Issue<Mode::kGuarded>(frame);
  zones.End(status.ok() ? outputs : nullptr);
  return status;
}

// A signal, or a wait. Values are relative to the run: every event goes on from where the last run
// left it.
ge_rc Program::Meet(const Frame& frame, const void* record, const RunEngine& engine, ge_err* err,
                    ge_stream* stream) const {
  const auto& r = *static_cast<const Frame::Record*>(record);
  if (stream == nullptr) stream = r.stream;
  const Instruction& ins = plan_.functions[0].code[r.index];
  const uint64_t value = frame.epoch_ * frame.last_value_[ins.event] + r.value;
  if (r.op == PlanOp::kSignal) return engine.api.stream_signal(stream, r.event, value, err);
  if (stream) return engine.api.stream_wait(stream, r.event, value, err);
  return WaitFor(engine.api, r.event, value, {r.limit_ns, frame.committed_ ? kGraceNs : 0, 0}, err);
}

// The frame's observer is told of the steps of a launch.
void Program::Attend(Frame* frame, void* record) const {
  auto& r = *static_cast<Frame::Record*>(record);
  if (r.op != PlanOp::kLaunch || r.launch.stream != nullptr) return;
  const SegmentId segment = plan_.functions[0].code[r.index].segment;
  if (segment >= parts_.steps.size() || parts_.steps[segment].first == nullptr) return;
  frame->attended_ = &r;
  r.launch.observer = frame;
  r.launch.after_step = [](void* observer, uint32_t step) {
    const auto* f = static_cast<const Frame*>(observer);
    f->observer_->AfterStep(f->attended_->index, step, f->attended_->launch);
  };
}

// A stream of the device that has what `stream` wrote: another one where that is a peer's.
uint32_t Program::StreamWith(std::span<const ge_buf> written, uint32_t stream) const {
  const PlanFunction& fn = plan_.functions[0];
  for (const ge_buf& b : written) {
    if (stream == 0 || b.domain == 0) continue;
    const PlanDomain& at = plan_.domains[b.domain];
    const auto has = [&](uint32_t s) {
      const PlanDevice& d = plan_.devices[fn.streams[s].device];
      return d.engine == at.engine && d.engine_device == at.engine_device;
    };
    for (uint32_t s = 1; !has(stream) && s < fn.streams.size(); ++s) {
      if (has(s)) return s;
    }
  }
  return stream;
}

// The frame's observer, of what the instruction has written. What a stream has to do is waited for:
// all that it waits for has been queued before. GE_PENDING where it has not ended in time.
ge_rc Program::Tell(Frame* frame, void* record) const {
  auto& r = *static_cast<Frame::Record*>(record);
  r.launch.after_step = nullptr;
  std::span<const ge_buf> written;
  if (r.op == PlanOp::kLaunch) written = {r.launch.out, r.launch.n_out};
  if (r.op == PlanOp::kCopy) written = {&r.copy.dst, 1};
  const uint32_t stream = plan_.functions[0].code[r.index].stream;
  const uint32_t from = StreamWith(written, stream);
  ge_rc rc = from == stream ? GE_OK : Settle(frame, stream, 0);
  std::span<const ge_buf> shown;
  if (rc == GE_OK) {
    shown = frame->on_host_.ToHost(plan_, parts_.engines, frame->streams_[from], written);
    if (!written.empty() && from != 0) rc = Settle(frame, from, 0);
  }
  frame->observer_->After(r.index, rc == GE_OK ? shown : written, rc != GE_OK);
  return rc;
}

template <Program::Mode kMode>
void Program::Begin(Frame* frame, void* record) const {
  auto& r = *static_cast<Frame::Record*>(record);
  if constexpr (kMode == Mode::kTimed) {
    frame->stamps_[r.index] = RunClock::Now();
    if (frame->stream_stamps_ != nullptr && r.stream != nullptr) {
      frame->stream_stamps_->Before(r.index, r.stream);
    }
  }
  if constexpr (kMode == Mode::kGuarded) OpenZones(r.op, r.launch, r.copy, frame->zones_.get());
  if constexpr (kMode == Mode::kObserved) Attend(frame, &r);
}

// One instruction of the host's or of a queue's. In line: it is the loop's body.
inline ge_rc Program::Call(const Frame& frame, void* record, const Interrupt* interrupt,
                           ge_err* err) const {
  auto& r = *static_cast<Frame::Record*>(record);
  const RunEngine& e = parts_.engines[r.engine];
  switch (r.op) {
    case PlanOp::kLaunch:
      if (interrupt) interrupt->EnterPlugin(e.enqueue_text);
      return NoThrow<ge_rc>(GE_OUT_OF_MEMORY, GE_INTERNAL, err,
                            [&] { return e.api.enqueue(r.exec, &r.launch, err); });
    case PlanOp::kCopy:
      if (r.engine != 0) return e.api.copy(e.engine, &r.copy, err);
      if (r.copy.src.bytes) std::memcpy(r.copy.dst.ptr, r.copy.src.ptr, r.copy.src.bytes);
      return GE_OK;
    case PlanOp::kCommit:
      return GE_OK;
    default:
      return Meet(frame, &r, e, err);
  }
}

template <Program::Mode kMode>
Status Program::Issue(Frame* frame) const {
  const Interrupt* const interrupt = CurrentInterrupt();
  const uint32_t* const stop = interrupt ? interrupt->word() : nullptr;
  ge_err err;
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  err.msg_len = 0;
  err.node = UINT32_MAX;
  err.scope = GE_SCOPE_CALL;
  ge_rc rc = GE_OK;
  const Frame::Record* failed = nullptr;
  bool stopped = false;  // by the interrupt
  bool& committed = frame->committed_ = false;
  const Frame::Record* const end = frame->records_.data() + frame->records_.size();
  for (Frame::Record* next = frame->records_.data(); next != end;) {
    Frame::Record& r = *next++;
    if (interrupt && !committed && interrupt->stopped()) {
      stopped = true;
      break;
    }
    if constexpr (kMode == Mode::kCaptured) {
      const CaptureRegion* const region = frame->captures_->At(r.index);
      if (region != nullptr && frame->captures_->Run(*region, &rc, &err)) {
        next = frame->records_.data() + region->end;
        if (rc == GE_OK) continue;
        failed = &r;
        break;
      }
    }
    Begin<kMode>(frame, &r);
    if (r.op == PlanOp::kCommit) committed = true;
    r.launch.stop = committed ? nullptr : stop;
    rc = Call(*frame, &r, interrupt, &err);
    if constexpr (kMode == Mode::kGuarded) {
      if (rc == GE_OK) rc = CloseZones(r.op, r.launch, r.copy, frame->zones_.get(), &err);
    }
    if constexpr (kMode == Mode::kObserved) {
      if (rc == GE_OK && Tell(frame, &r) == GE_PENDING) rc = GE_PENDING;
    }
    if (rc != GE_OK) {
      stopped = rc == GE_PENDING && !committed && Interrupted();
      if (!stopped) failed = &r;
      break;
    }
    if constexpr (kMode == Mode::kTimed) {
      if (frame->stream_stamps_ != nullptr && r.stream != nullptr) {
        frame->stream_stamps_->After(r.index, r.stream);
      }
    }
  }
  if (interrupt) interrupt->EnterPlugin(nullptr);
  if (!failed && !stopped) {
    if constexpr (kMode == Mode::kTimed) frame->stamps_[frame->records_.size()] = RunClock::Now();
    ++frame->epoch_;
    if constexpr (kMode == Mode::kObserved) frame->unsettled_.clear();  // all has been waited for
    return {};
  }
  return End(frame, failed, stopped, rc, &err);
}

// Of a run that has not done all: of `failed_record`, or stopped by the interrupt.
Status Program::End(Frame* frame, const void* failed_record, bool stopped, ge_rc rc,
                    ge_err* err) const {
  const auto* failed = static_cast<const Frame::Record*>(failed_record);
  const Interrupt* const interrupt = CurrentInterrupt();
  if (failed && rc == GE_PENDING) rc = TooLate(failed, err);
  if (failed) {
    NoteFault(failed->engine, DeviceOf(plan_.functions[0].code[failed->index]), rc, *err);
  }
  Drain(frame, stopped || IsDeviceFault(rc, *err));
  if (frame->committed_) return Torn(failed, rc, *err);
  // An engine that gave up because it was told to has not failed.
  const bool told = interrupt && interrupt->stopped() && (stopped || rc == GE_CANCELLED);
  return told ? interrupt->Check() : Explain(failed, rc, *err);
}

// Lets everything in flight finish, so that no buffer is touched after the run has answered. No
// stream waits for a signal that the host had still to queue: each is queued before its waits.
void Program::Drain(Frame* frame, bool give_up_soon) const {
  const uint64_t until = give_up_soon ? NowNs() + kGraceNs : 0;
  for (size_t s = 1; s < frame->streams_.size(); ++s) (void)Settle(frame, s, until);
}

// Waits for what the stream has so far. What it cannot be waited for, or has not done in time, is
// noted in the frame.
ge_rc Program::Settle(Frame* frame, size_t stream, uint64_t until_ns) const {
  const PlanDevice& device = plan_.devices[plan_.functions[0].streams[stream].device];
  const RunEngine& e = parts_.engines[device.engine];
  ge_err err;
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  err.scope = GE_SCOPE_CALL;
  err.msg_len = 0;
  const uint64_t value = ++frame->drained_;
  const WaitLimits limits{LimitOf(e, device.engine_device), kGraceNs, until_ns};
  ge_rc rc = e.api.stream_signal(frame->streams_[stream], frame->drain_[stream], value, &err);
  if (rc == GE_OK) rc = WaitFor(e.api, frame->drain_[stream], value, limits, &err);
  NoteFault(device.engine, device.engine_device, rc, err);
  if (rc == GE_PENDING) frame->unsettled_.push_back({stream, value});
  return rc;
}

// The device of an instruction of a stream, and of the stream that signals what the host waits for.
uint32_t Program::DeviceOf(const Instruction& ins) const {
  const PlanFunction& fn = plan_.functions[0];
  if (ins.op == PlanOp::kLaunch)
    return plan_.devices[fn.segments[ins.segment].device].engine_device;
  if (ins.stream != 0) return plan_.devices[fn.streams[ins.stream].device].engine_device;
  if (ins.op == PlanOp::kCopy) {
    const DomainId to = fn.values[ins.dst].domain, from = fn.values[ins.src].domain;
    return plan_.domains[to != 0 ? to : from].engine_device;
  }
  for (const Instruction& signal : fn.code) {
    if (signal.op != PlanOp::kSignal || signal.event != ins.event) continue;
    return plan_.devices[fn.streams[signal.stream].device].engine_device;
  }
  return 0;
}

void Program::NoteFault(uint32_t engine, uint32_t device, ge_rc rc, const ge_err& err) const {
  if (!IsDeviceFault(rc, err) || parts_.lose == nullptr) return;
  const std::string_view text(err.msg, std::min<size_t>(err.msg_len, sizeof err.msg));
  parts_.lose(
      {engine, device, err.scope == GE_SCOPE_PLUGIN,
       text.empty() ? fmt::format("it answered code {} without a reason", rc) : std::string(text)});
}

// What a wait that took longer than its device's limit comes to.
ge_rc Program::TooLate(const void* record, ge_err* err) const {
  const auto& r = *static_cast<const Frame::Record*>(record);
  const uint32_t device = DeviceOf(plan_.functions[0].code[r.index]);
  err->node = UINT32_MAX;
  const bool ended = Interrupted();  // behind the commit, where that stops nothing else
  const auto text =
      ended ? std::string("the device had not ended its work when the run was to end")
            : fmt::format("the device did not end its work within {} ms, its time limit",
                          LimitOf(parts_.engines[r.engine], device) / 1'000'000);
  err->msg_len = static_cast<uint32_t>(std::min(text.size(), sizeof err->msg));
  std::memcpy(err->msg, text.data(), err->msg_len);
  return ended ? GE_CANCELLED : GE_DEVICE_LOST;
}

// An engine broke its promise where states are overwritten.
Status Program::Torn(const void* failed_record, ge_rc rc, const ge_err& err) const {
  const Status why = Explain(failed_record, rc, err);
  return Status(Code::kDataCorrupt, fmt::format("{}; it had said that this cannot fail, and states "
                                                "that it overwrites may be half written: set them "
                                                "anew, or restore them",
                                                why.message()));
}

Status Program::Explain(const void* failed_record, ge_rc rc, const ge_err& err) const {
  const auto* failed = static_cast<const Frame::Record*>(failed_record);
  const Instruction& ins = plan_.functions[0].code[failed->index];
  std::string_view text(err.msg, std::min<size_t>(err.msg_len, sizeof err.msg));
  Status status(IsDeviceFault(rc, err) ? Code::kDeviceLost : CodeOf(rc),
                fmt::format("engine '{}' failed in {} at plan instruction {} (code {}): {}",
                            parts_.engines[failed->engine].name,
                            CallName(failed->op, failed->stream != nullptr), failed->index, rc,
                            text.empty() ? "no reason given" : text));
  // A failure of queued work arrives at a wait, with the node that the engine names.
  const std::vector<NodeReport>& reports = plan_.reports();
  if (err.node < reports.size()) return std::move(status).AtNode(reports[err.node].label);
  if (ins.op != PlanOp::kLaunch) return status;
  const PlanSegment& seg = plan_.functions[0].segments[ins.segment];
  if (seg.offers.empty()) return status;
  NodeId first = seg.offers[0].nodes[0];
  for (const NodeReport& report : reports) {
    if (report.node == first) return std::move(status).AtNode(report.label);
  }
  return status;
}

}  // namespace ge
