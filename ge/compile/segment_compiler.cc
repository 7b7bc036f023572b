#include "ge/compile/segment_compiler.h"

#include <fmt/format.h>

#include <algorithm>

#include "ge/base/aligned.h"
#include "ge/base/file_mapping.h"
#include "ge/base/interrupt.h"
#include "ge/engine/plugin/record.h"
#include "ge/ir/graph_files.h"

namespace ge {
namespace {

constexpr uint64_t kMaxSegmentBytes = uint64_t{1} << 62;  // so that sums of a few do not wrap

}  // namespace

// What the ABI wants to see of one segment.
struct SegmentCompiler::Given {
  std::vector<std::vector<uint32_t>> nodes;
  std::vector<ge_taken> taken;
  std::vector<uint32_t> in, out, in_layout, out_layout;
  ge_segment segment{};
};

Status SegmentCompiler::Answers::Of(size_t i, const Engine& engine, uint32_t device) const {
  if (results[i].rc != GE_OK) return FromEngine(engine, device, "compile", results[i].rc, why[i]);
  if (results[i].exec) return {};
  return Status(Code::kPluginError,
                fmt::format("engine '{}' answered OK to compile, but gave no exec", engine.name()));
}

SegmentCompiler::SegmentCompiler(const EngineList& engines, Compiled* compiled,
                                 const SavedPlan* saved)
    : engines_(engines),
      c_(compiled),
      saved_(saved),
      positions_(function()),
      layouts_(AbiLayouts(compiled->plan.layouts)) {}

void SegmentCompiler::FillSegment(SegmentId segment, Given* given) {
  const PlanFunction& fn = c_->plan.functions[0];
  const PlanSegment& seg = fn.segments[segment];
  given->nodes.reserve(seg.offers.size());
  for (const PlanOffer& o : seg.offers) {
    given->nodes.emplace_back();
    for (NodeId n : o.nodes) given->nodes.back().push_back(positions_.of(n));
    given->taken.push_back({o.cookie,
                            given->nodes.back().data(),
                            static_cast<uint32_t>(given->nodes.back().size()),
                            o.choice,
                            {}});
  }
  if (seg.conversion >= 0) {
    given->taken.push_back({c_->plan.conversions[seg.conversion].cookie, nullptr, 0, 0, {}});
  }
  for (PlanValueId v : seg.inputs) {
    given->in.push_back(fn.values[v].graph_value);
    given->in_layout.push_back(fn.values[v].layout);
  }
  for (PlanValueId v : seg.outputs) {
    given->out.push_back(fn.values[v].graph_value);
    given->out_layout.push_back(fn.values[v].layout);
  }
  ge_segment& out = given->segment;
  out.h = GE_HDR(ge_segment, GE_TAG_SEGMENT);
  out.graph = c_->view_->get();
  out.taken = given->taken.data();
  out.n_taken = static_cast<uint32_t>(given->taken.size());
  out.device = c_->plan.devices[seg.device].engine_device;
  out.in = given->in.data();
  out.n_in = static_cast<uint32_t>(given->in.size());
  out.out = given->out.data();
  out.n_out = static_cast<uint32_t>(given->out.size());
  out.in_layout = given->in_layout.data();
  out.out_layout = given->out_layout.data();
  out.layout = layouts_.data();
  out.n_layout = layouts_.size();
  const ge_engine_api& api = engines_[c_->plan.devices[seg.device].engine - 1]->api();
  if (c_->unasked_ && (api.promises & GE_ENGINE_UNASKED) != 0) out.flags |= GE_SEGMENT_UNASKED;
  out.stop = CurrentInterrupt() ? CurrentInterrupt()->word() : nullptr;
}

// Copies the constants whose alignment an engine asks for and the file does not give.
Status SegmentCompiler::AlignConstants() {
  const PlanFunction& fn = c_->plan.functions[0];
  for (const PlanSegment& seg : fn.segments) {
    for (const PlanOffer& o : seg.offers) {
      for (NodeId n : o.nodes) {
        for (ValueId v : function().nodes[positions_.of(n)].inputs) {
          if (v) GE_RETURN_IF_ERROR(AlignConstant(v, o.const_align));
        }
      }
    }
  }
  return {};
}

Status SegmentCompiler::AlignConstant(ValueId value, uint32_t wanted) {
  const ge_value* view = GE_VALUE(c_->view_->get(), value);
  if (!view->data || view->data_bytes == 0) return {};
  uint64_t align = wanted ? wanted : std::max<uint64_t>(1, view->type.bits / 8);
  if (reinterpret_cast<uintptr_t>(view->data) % align == 0) return {};
  AlignedBytes copy = AllocateAligned(view->data_bytes, align);
  if (!copy) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for an aligned copy of constant '{}' ({} bytes)",
                              function().values[value].name, view->data_bytes));
  }
  std::copy_n(static_cast<const std::byte*>(view->data), view->data_bytes, copy.get());
  c_->copied_constant_bytes += view->data_bytes;
  DropMappedPages(view->data, view->data_bytes);
  c_->view_->SetConstData(value, copy.get());
  c_->const_copies_.push_back(std::move(copy));
  return {};
}

Status SegmentCompiler::Compile(std::set<size_t>* struck, Status* failure, bool* again) {
  struck_ = struck;
  failure_ = failure;
  Begin();
  GE_RETURN_IF_ERROR(AlignConstants());
  for (uint32_t e = 0; e < engines_.size(); ++e) {
    std::vector<SegmentId> mine;
    for (SegmentId s = 0; s < plan().segments.size(); ++s) {
      if (c_->plan.devices[plan().segments[s].device].engine == e + 1) mine.push_back(s);
    }
    if (mine.empty()) continue;
    GE_RETURN_IF_ERROR(CompileOn(e, mine, again));
  }
  if (!*again) GE_RETURN_IF_ERROR(FillPacks(again));
  if (*again) ReleaseExecs();
  return {};
}

void SegmentCompiler::Begin() {
  ReleaseExecs();
  c_->packed_bytes = 0;
  c_->files_.clear();
  c_->packs_.assign(plan().segments.size(), {});
  c_->pack_values_.assign(plan().segments.size(), {});
  execs_.assign(plan().segments.size(), nullptr);
  steps_.assign(plan().segments.size(), {});
  c_->execs_.reserve(plan().segments.size());  // what an engine made is known at once, or leaks
}

Result<bool> SegmentCompiler::Shape(const Compiled& like) {
  std::set<size_t> struck;
  Status failure;
  struck_ = &struck;
  failure_ = &failure;
  Begin();
  GE_RETURN_IF_ERROR(AlignConstants());
  bool fits = true;
  for (SegmentId s = 0; fits && s < plan().segments.size(); ++s) {
    GE_ASSIGN_OR_RETURN(fits, ShapeOne(s, like.program().parts().execs[s]));
  }
  bool again = false;
  if (fits) GE_RETURN_IF_ERROR(FillPacks(&again));
  fits = fits && !again;
  if (!fits) ReleaseExecs();
  return fits;
}

Result<bool> SegmentCompiler::ShapeOne(SegmentId segment, ge_exec* like) {
  const uint32_t e = c_->plan.devices[plan().segments[segment].device].engine - 1;
  Given given;
  FillSegment(segment, &given);
  ge_err err = EmptyError(), why = EmptyError();
  ge_compiled out{};
  out.h = GE_HDR(ge_compiled, GE_TAG_COMPILED);
  out.err = &why;
  const Engine& engine = *engines_[e];
  ge_rc rc;
  {
    std::lock_guard<std::mutex> lock(engine.call_mutex());
    rc = CallPlugin(CallText(engine, "shape"), &err,
                    [&] { return engine.api().shape(like, &given.segment, &out, &err); });
  }
  if (out.exec) c_->execs_.push_back({e, out.exec});
  GE_RETURN_IF_ERROR(CheckInterrupt());
  execs_[segment] = out.exec;
  return rc == GE_OK && out.rc == GE_OK && out.exec && TakeCompiled(segment, out).ok();
}

void SegmentCompiler::ReleaseExecs() {
  for (const auto& x : c_->execs_) {
    const Engine& engine = *engines_[x.engine];
    if (x.exec && engine.api().exec_destroy) engine.api().exec_destroy(x.exec);
  }
  c_->execs_.clear();
}

ge_rc SegmentCompiler::CallCompile(uint32_t e, const std::vector<SegmentId>& mine, Answers* answers,
                                   ge_err* err) {
  std::vector<Given> given(mine.size());
  std::vector<ge_segment> segments;
  answers->results.assign(mine.size(), {});
  answers->why.assign(mine.size(), EmptyError());
  for (size_t i = 0; i < mine.size(); ++i) {
    FillSegment(mine[i], &given[i]);
    segments.push_back(given[i].segment);
    answers->results[i].h = GE_HDR(ge_compiled, GE_TAG_COMPILED);
    answers->results[i].err = &answers->why[i];
  }
  const Engine& engine = *engines_[e];
  std::lock_guard<std::mutex> lock(engine.call_mutex());
  return CallPlugin(CallText(engine, "compile"), err, [&] {
    return engine.api().compile(engine.handle(), segments.data(),
                                static_cast<uint32_t>(segments.size()), sizeof(ge_segment),
                                answers->results.data(), sizeof(ge_compiled), err);
  });
}

Status SegmentCompiler::CompileOn(uint32_t e, const std::vector<SegmentId>& mine, bool* again) {
  const Engine& engine = *engines_[e];
  Answers answers;
  ge_err err = EmptyError();
  ge_rc rc = CallCompile(e, mine, &answers, &err);
  for (const ge_compiled& r : answers.results) {
    if (r.exec) c_->execs_.push_back({e, r.exec});
  }
  const Status stopped = CheckInterrupt();
  for (size_t i = 0; i < mine.size(); ++i) {
    ge_compiled& r = answers.results[i];
    Status status = rc == GE_OK ? answers.Of(i, engine, DeviceOf(mine[i]))
                                : FromEngine(engine, DeviceOf(mine[i]), "compile", rc, err);
    if (status.ok()) {
      status = TakeCompiled(mine[i], r);
      execs_[mine[i]] = r.exec;
    }
    if (!stopped.ok() || status.ok()) continue;  // What it could not do says nothing of its offer.
    // A conversion: nothing to place again.
    if (plan().segments[mine[i]].offers.empty()) return status;
    Strike(mine[i], std::move(status), again);
  }
  return stopped;
}

uint32_t SegmentCompiler::DeviceOf(SegmentId segment) const {
  return c_->plan.devices[c_->plan.functions[0].segments[segment].device].engine_device;
}

void SegmentCompiler::Strike(SegmentId segment, Status why, bool* again) {
  for (const PlanOffer& o : plan().segments[segment].offers) struck_->insert(o.offer_index);
  *failure_ = std::move(why);
  *again = true;
}

// PLUGIN_ERROR about what an engine answered to compile.
Status SegmentCompiler::BadAnswer(SegmentId segment, const std::string& text) const {
  const PlanSegment& seg = c_->plan.functions[0].segments[segment];
  return Status(
      Code::kPluginError,
      fmt::format("engine '{}' compiled segment {} with {}",
                  c_->plan.engines[c_->plan.devices[seg.device].engine].name, segment, text));
}

// Workspace, internal values, aliases, constants and packs of one compiled segment.
Status SegmentCompiler::TakeCompiled(SegmentId segment, const ge_compiled& compiled) {
  PlanSegment& seg = plan().segments[segment];
  if (compiled.h.next != nullptr) {
    const std::string& engine = c_->plan.engines[c_->plan.devices[seg.device].engine].name;
    GE_RETURN_IF_ERROR(
        WantUnderstood(compiled.h, fmt::format("what engine '{}' compiled", engine)));
  }
  seg.serial = compiled.flags & GE_COMPILED_SERIAL;
  seg.infallible = compiled.flags & GE_COMPILED_INFALLIBLE;
  seg.capturable = compiled.flags & GE_COMPILED_CAPTURABLE;
  seg.n_step = std::max(1u, compiled.n_step);
  GE_RETURN_IF_ERROR(TakeSteps(segment, compiled));
  GE_RETURN_IF_ERROR(TakeInternals(segment, compiled));
  GE_RETURN_IF_ERROR(TakeWorkspace(segment, compiled));
  GE_RETURN_IF_ERROR(TakeBorder(segment, compiled));
  TakeConstants(segment, compiled);
  return TakePacks(segment, compiled);
}

// Where the exec keeps what it tells of its steps. A serial segment has an exec for each frame, and
// all of them tell the same.
Status SegmentCompiler::TakeSteps(SegmentId segment, const ge_compiled& compiled) {
  if (compiled.step == nullptr) return {};
  constexpr uint32_t kMostStride = 4096;
  if (compiled.step_stride < sizeof(ge_step) || compiled.step_stride > kMostStride) {
    return BadAnswer(segment, fmt::format("records of steps of {} bytes; ge_step has {}",
                                          compiled.step_stride, sizeof(ge_step)));
  }
  steps_[segment] = {compiled.step, plan().segments[segment].n_step, compiled.step_stride};
  return {};
}

Status SegmentCompiler::TakeInternals(SegmentId segment, const ge_compiled& compiled) {
  PlanFunction& fn = c_->plan.functions[0];
  PlanSegment& seg = fn.segments[segment];
  seg.internals.clear();
  if (compiled.n_internal > 1'000'000 || (compiled.n_internal && !compiled.internal)) {
    return BadAnswer(segment, "bad internal values");
  }
  for (uint32_t i = 0; i < compiled.n_internal; ++i) {
    const ge_internal& in = compiled.internal[i];
    if (in.bytes > kMaxSegmentBytes || (in.align & (in.align - 1)) || in.last_step >= seg.n_step ||
        in.first_step > in.last_step || (in.alias_of != UINT32_MAX && in.alias_of >= i)) {
      return BadAnswer(segment,
                       fmt::format("internal value {}: {} bytes, align {}, steps {}..{} of {}", i,
                                   in.bytes, in.align, in.first_step, in.last_step, seg.n_step));
    }
    PlanValue v = Scratch(segment, in.bytes, in.align);
    v.kind = PlanValueKind::kInternal;
    v.first_step = in.first_step;
    v.last_step = in.last_step;
    if (in.value && in.value < function().values.size()) {
      v.graph_value = in.value;
      v.type = function().values[in.value].type;
      v.name = function().values[in.value].name;
    }
    if (v.name.empty()) v.name = fmt::format("s{}.{}", segment, i);
    if (in.alias_of != UINT32_MAX) v.internal_alias = seg.internals[in.alias_of];
    fn.values.push_back(std::move(v));
    seg.internals.push_back(static_cast<PlanValueId>(fn.values.size() - 1));
  }
  return {};
}

PlanValue SegmentCompiler::Scratch(SegmentId segment, uint64_t bytes, uint64_t align) const {
  PlanValue v;
  v.segment = segment;
  v.domain = c_->plan.devices[c_->plan.functions[0].segments[segment].device].domain;
  v.bytes = static_cast<int64_t>(bytes);
  v.align = align ? static_cast<int64_t>(align) : 64;
  return v;
}

Status SegmentCompiler::TakeWorkspace(SegmentId segment, const ge_compiled& compiled) {
  PlanFunction& fn = c_->plan.functions[0];
  fn.segments[segment].workspace = 0;
  if (compiled.workspace > kMaxSegmentBytes ||
      (compiled.workspace_align & (compiled.workspace_align - 1))) {
    return BadAnswer(segment, fmt::format("a workspace of {} bytes, align {}", compiled.workspace,
                                          compiled.workspace_align));
  }
  if (compiled.workspace == 0) return {};
  PlanValue v = Scratch(segment, compiled.workspace, compiled.workspace_align);
  v.kind = PlanValueKind::kWorkspace;
  v.name = fmt::format("s{}.workspace", segment);
  fn.values.push_back(std::move(v));
  fn.segments[segment].workspace = static_cast<PlanValueId>(fn.values.size() - 1);
  return {};
}

// Aliases of outputs and inputs, and the sizes of outputs in the engine's own layouts.
Status SegmentCompiler::TakeBorder(SegmentId segment, const ge_compiled& compiled) {
  PlanFunction& fn = c_->plan.functions[0];
  PlanSegment& seg = fn.segments[segment];
  seg.may_alias.clear();
  for (uint32_t i = 0; compiled.alias && i < compiled.alias_count; ++i) {
    uint32_t out = compiled.alias[2 * i], in = compiled.alias[2 * i + 1];
    if (out >= seg.outputs.size() || in >= seg.inputs.size()) {
      return BadAnswer(segment, fmt::format("alias of output {} and input {}", out, in));
    }
    seg.may_alias.emplace_back(out, in);
  }
  for (size_t i = 0; compiled.out_bytes && i < seg.outputs.size(); ++i) {
    if (compiled.out_bytes[i] > kMaxSegmentBytes)
      return BadAnswer(segment, "an output size beyond 2^62");
    PlanValue& v = fn.values[seg.outputs[i]];
    if (v.layout != 0 && compiled.out_bytes[i])
      v.bytes = static_cast<int64_t>(compiled.out_bytes[i]);
  }
  return {};
}

// Where a constant lies, unless that is a copy.
void SegmentCompiler::AddFile(const Const& constant, const void* data) {
  if (data == constant.data) AddFileOf(constant, &c_->files_);
}

void SegmentCompiler::TakeConstants(SegmentId segment, const ge_compiled& compiled) {
  std::set<uint32_t> done;  // whose payloads launches do not read
  for (uint32_t i = 0; compiled.constant && i < compiled.n_constant; ++i) {
    c_->packed_bytes += compiled.constant[i].packed_bytes;
    const uint32_t value = compiled.constant[i].value;
    if (compiled.constant[i].disposition != GE_CONST_KEEP) done.insert(value);
    if (compiled.constant[i].disposition != GE_CONST_COPIED || value >= function().values.size())
      continue;
    const ge_value* view = GE_VALUE(c_->view_->get(), value);
    if (view->data) DropMappedPages(view->data, view->data_bytes);
  }
  const PlanSegment& seg = plan().segments[segment];
  for (const PlanValueId c : seg.constants) {
    const ValueId v = plan().values[c].graph_value;
    // One that is compiled again for each frame reads all of them again.
    if (done.count(v) != 0 && !seg.serial) continue;
    AddFile(c_->graph.consts[function().values[v].constant], GE_VALUE(c_->view_->get(), v)->data);
  }
  for (const PlanOffer& o : seg.offers) {
    for (const NodeId n : o.nodes) {
      for (const Attr& a : function().nodes[positions_.of(n)].attrs) {
        if (const auto* ref = std::get_if<ConstRef>(&a.value)) {
          AddFileOf(c_->graph.consts[ref->id], &c_->files_);
        }
      }
    }
  }
}

// They are filled when all segments have been compiled.
Status SegmentCompiler::TakePacks(SegmentId segment, const ge_compiled& compiled) {
  const PlanDevice& device = c_->plan.devices[plan().segments[segment].device];
  std::span<const SavedPack> saved;
  if (saved_ && segment < saved_->packs.size()) saved = saved_->packs[segment];
  GE_ASSIGN_OR_RETURN(c_->packs_[segment],
                      ResidentsOf(engines_[device.engine - 1], device.engine_device, compiled,
                                  c_->graph, function(), saved));
  c_->pack_values_[segment] = PackValues(compiled);
  for (const SavedPack& pack : saved) {
    c_->files_.Add(pack.owner, pack.data.data(), pack.data.size());
  }
  return {};
}

Status SegmentCompiler::FillPacks(bool* again) {
  c_->unpin_.reset();
  c_->pack_set_.reset();  // of a round before
  std::vector<std::shared_ptr<Resident>> all;
  for (const auto& packs : c_->packs_) all.insert(all.end(), packs.begin(), packs.end());
  if (all.empty()) return {};
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<Status> statuses;
  c_->pack_set_ = std::make_shared<PackSet>(all);
  c_->filled_bytes += c_->pack_set_->WriteFirst(&statuses);
  c_->unpin_.reset(c_->pack_set_.get());
  GE_RETURN_IF_ERROR(CheckInterrupt());
  for (SegmentId s = 0; s < c_->packs_.size(); ++s) {
    for (const auto& resident : c_->packs_[s]) {
      const auto at = std::lower_bound(all.begin(), all.end(), resident) - all.begin();
      const Status& status = statuses[static_cast<size_t>(at)];
      if (status.ok()) continue;
      // Others hold the room now, or it never fits: no reason for another plan that stays.
      const bool full = status.code() == Code::kLimitExceeded;
      if (full || plan().segments[s].offers.empty()) return status;
      Strike(s, status, again);
      break;
    }
  }
  return {};
}

Result<ge_exec*> SegmentCompiler::OneMore(SegmentId segment) {
  const uint32_t e = c_->plan.devices[plan().segments[segment].device].engine - 1;
  Answers answers;
  ge_err err = EmptyError();
  const ge_rc rc = CallCompile(e, {segment}, &answers, &err);
  const ge_compiled& r = answers.results[0];
  if (rc != GE_OK) return FromEngine(*engines_[e], DeviceOf(segment), "compile", rc, err);
  GE_RETURN_IF_ERROR(answers.Of(0, *engines_[e], DeviceOf(segment)));
  if (r.n_pack == c_->packs_[segment].size()) return r.exec;
  if (engines_[e]->api().exec_destroy) engines_[e]->api().exec_destroy(r.exec);
  return BadAnswer(segment,
                   fmt::format("{} packs, and {} before", r.n_pack, c_->packs_[segment].size()));
}

}  // namespace ge
