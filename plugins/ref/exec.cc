#include "plugins/ref/exec.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include "plugins/ref/stop.h"

namespace ref {
namespace {

using ge::plugin::Fail;
using ge::plugin::View;

// The user's name of a node, or its number.
std::string LabelOf(const ge_node& n) {
  std::string label(View(n.op));
  const std::string_view name = View(n.name);
  return label + (name.empty() ? " node #" + std::to_string(n.id) : " '" + std::string(name) + "'");
}

// One launch of one step, as its kernel sees it.
class StepCall final : public Call {
 public:
  StepCall(const Step& step, const std::vector<Slot>& slots, const ge_launch& launch, ge_err* err)
      : step_(step), slots_(slots), launch_(launch), err_(err) {}

  uint32_t n_in() const override { return static_cast<uint32_t>(step_.in.size()); }
  uint32_t n_out() const override { return static_cast<uint32_t>(step_.out.size()); }
  bool has_in(uint32_t i) const override { return i < n_in() && step_.in[i] != kNoSlot; }
  bool has_out(uint32_t i) const override { return i < n_out() && step_.out[i] != kNoSlot; }
  Tensor in(uint32_t i) const override { return At(slots_[step_.in[i]]); }
  Tensor out(uint32_t i) const override { return At(slots_[step_.out[i]]); }
  void* workspace() const override { return launch_.workspace.ptr; }

  ge_rc Fail(ge_rc rc, const char* format, ...) const override {
    char text[300];
    va_list args;
    va_start(args, format);
    std::vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return ge::plugin::Fail(err_, rc, step_.node, "%.150s: %s", step_.label.c_str(), text);
  }

 private:
  Tensor At(const Slot& s) const {
    Tensor t;
    static_cast<TensorType&>(t) = s.type;
    switch (s.kind) {
      case BufferKind::kInput:
        t.data = launch_.in[s.index].ptr;
        break;
      case BufferKind::kOutput:
        t.data = launch_.out[s.index].ptr;
        break;
      case BufferKind::kInternal:
        t.data = launch_.internal[s.index].ptr;
        break;
      case BufferKind::kConstant:
        t.data = const_cast<void*>(s.constant);  // inputs are never written by a kernel
        break;
    }
    return t;
  }

  const Step& step_;
  const std::vector<Slot>& slots_;
  const ge_launch& launch_;
  ge_err* err_;
};

// What is wrong with a buffer that stands for a slot; nullptr when nothing is.
const char* BufferFault(const ge_buf& b, const Slot& s) {
  if (b.bytes < s.type.bytes) return "has fewer bytes than its type needs";
  if (b.ptr == nullptr && s.type.bytes != 0) return "has no address";
  if (b.layout != 0) return "is not in the plain layout";
  return nullptr;
}

}  // namespace

uint32_t Exec::SlotOf(const ge_graph& graph, uint32_t value) {
  const auto [it, fresh] = slot_of_.try_emplace(value, static_cast<uint32_t>(slots_.size()));
  if (!fresh) return it->second;
  const ge_value& v = *GE_VALUE(&graph, value);
  Slot s;
  s.type.dtype = v.type.dtype;
  s.type.rank = std::max(0, v.type.rank);
  s.dims = std::make_unique<int64_t[]>(static_cast<size_t>(s.type.rank));
  std::copy_n(v.type.dims, s.type.rank, s.dims.get());
  s.type.dims = s.dims.get();
  ge::plugin::ElementCount(v.type, &s.type.count);
  ge::plugin::TensorBytes(v.type, &s.type.bytes);
  if ((v.flags & GE_VALUE_CONSTANT) != 0) {
    s.constant = v.data;
    s.written = true;
  } else {
    s.kind = BufferKind::kInternal;
  }
  slots_.push_back(std::move(s));
  value_of_.push_back(value);
  return it->second;
}

ge_rc Exec::AddStep(const ge_graph& graph, uint32_t node, ge_err* err) {
  Step step;
  step.node = node;
  NodeView view;
  Why why;
  const ge_node& n = *GE_NODE(&graph, node);
  step.label = LabelOf(n);
  const Kernel* kernel = FindKernel(n);
  if (kernel != nullptr && NodeView::Open(graph, node, &view, &why)) {
    step.prepared = kernel->prepare(view, &why);
  }
  if (step.prepared == nullptr) {
    return Fail(err, GE_UNIMPLEMENTED, node, "%.150s: not taken by ref: %s", step.label.c_str(),
                kernel == nullptr ? "no such kernel" : why.text);
  }
  const uint32_t now = static_cast<uint32_t>(steps_.size());
  for (uint32_t i = 0; i < n.n_in; ++i) {
    step.in.push_back(n.in[i] == 0 ? kNoSlot : SlotOf(graph, n.in[i]));
    if (n.in[i] == 0) continue;
    const Slot& s = slots_[step.in[i]];
    if (!s.written) {
      return Fail(err, GE_INVALID_ARGUMENT, node,
                  "%.150s: input %u is neither an input of the segment nor computed before",
                  step.label.c_str(), i);
    }
    if (s.kind == BufferKind::kConstant && s.constant == nullptr && s.type.bytes != 0) {
      return Fail(err, GE_INVALID_ARGUMENT, node, "%.150s: constant input %u has no data",
                  step.label.c_str(), i);
    }
    slots_[step.in[i]].last_step = now;
  }
  for (uint32_t i = 0; i < n.n_out; ++i) {
    step.out.push_back(n.out[i] == 0 ? kNoSlot : SlotOf(graph, n.out[i]));
    if (n.out[i] == 0) continue;
    Slot& s = slots_[step.out[i]];
    if (s.written) {
      return Fail(err, GE_INVALID_ARGUMENT, node, "%.150s: output %u is written twice",
                  step.label.c_str(), i);
    }
    s.written = true;
    s.first_step = s.last_step = now;
  }
  workspace_ = std::max(workspace_, step.prepared->workspace);
  steps_.push_back(std::move(step));
  return GE_OK;
}

// True when the step that writes `output` may do so on top of `input`: nothing reads the input
// later, and every read by that step is of the kind that the kernel allows.
bool Exec::MayOverlay(const Slot& output, uint32_t output_slot, uint32_t input_slot) const {
  const Slot& input = slots_[input_slot];
  if (input.type.bytes != output.type.bytes || input.last_step > output.first_step) return false;
  if (input.last_step < output.first_step) return true;
  const Step& step = steps_[output.first_step];
  if (step.out.empty() || step.out[0] != output_slot) return false;
  for (size_t i = 0; i < step.in.size(); ++i) {
    if (step.in[i] == input_slot && (i >= 64 || (step.prepared->in_place >> i & 1) == 0)) {
      return false;
    }
  }
  return true;
}

void Exec::PlaceInternals(ge_compiled* out) {
  for (uint32_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].kind != BufferKind::kInternal) continue;
    slots_[s].index = static_cast<uint32_t>(internals_.size());
    internals_.push_back(s);
    const Slot& slot = slots_[s];
    ge_internal v = {slot.type.bytes, 64, slot.first_step, slot.last_step, UINT32_MAX,
                     value_of_[s],    {}};
    // Slots are numbered in the order of their steps, so an overlaid input stands earlier. One that
    // is last read before this step needs no permission: the two are not alive together.
    for (uint32_t in : steps_[slot.first_step].in) {
      if (in == kNoSlot || slots_[in].kind != BufferKind::kInternal) continue;
      if (slots_[in].last_step == slot.first_step && MayOverlay(slot, s, in)) {
        v.alias_of = slots_[in].index;
        break;
      }
    }
    internal_.push_back(v);
  }
  out->internal = internal_.data();
  out->n_internal = static_cast<uint32_t>(internal_.size());
}

// Outputs that may lie on an input that the segment does not need any more.
void Exec::FindAliases() {
  for (uint32_t o = 0; o < outputs_.size(); ++o) {
    for (uint32_t i = 0; i < inputs_.size(); ++i) {
      if (MayOverlay(slots_[outputs_[o]], outputs_[o], inputs_[i])) {
        alias_.push_back(o);
        alias_.push_back(i);
      }
    }
  }
}

// Sums, products and the like of floats: kernels that allocate nothing and refuse no data.
bool Exec::CannotFail(const ge_segment& segment) const {
  static constexpr std::string_view kSure[] = {"Add", "Sub", "Mul",  "Div",  "Max",  "Min",
                                               "Neg", "Abs", "Relu", "Clip", "Where"};
  for (uint32_t t = 0; t < segment.n_taken; ++t) {
    for (uint32_t k = 0; k < segment.taken[t].n_node; ++k) {
      const ge_node& n = *GE_NODE(segment.graph, segment.taken[t].node[k]);
      const int32_t dtype = GE_VALUE(segment.graph, n.out[0])->type.dtype;
      if (!View(n.domain).empty() || (dtype != GE_F32 && dtype != GE_F64)) return false;
      if (std::find(std::begin(kSure), std::end(kSure), View(n.op)) == std::end(kSure))
        return false;
    }
  }
  return true;
}

void Exec::TellSteps(ge_compiled* out) {
  size_t n = 0;
  for (const Step& s : steps_) n += s.out.size();
  made_.reserve(n);  // records point into it
  for (const Step& s : steps_) {
    ge_step t = {};
    t.h = GE_HDR(ge_step, GE_TAG_STEP);
    t.node = &s.node;
    t.n_node = 1;
    t.made = made_.data() + made_.size();
    for (uint32_t o : s.out) {
      if (o == kNoSlot) continue;
      ge_made m = {};
      m.value = value_of_[o];
      m.place = slots_[o].kind == BufferKind::kOutput ? GE_PLACE_OUT : GE_PLACE_INTERNAL;
      m.index = slots_[o].index;
      made_.push_back(m);
      ++t.n_made;
    }
    told_.push_back(t);
  }
  if (told_.empty()) return;
  out->step = told_.data();
  out->step_stride = sizeof(ge_step);
}

ge_rc Exec::Build(const ge_segment& segment, ge_compiled* out, ge_err* err) {
  const ge_graph& graph = *segment.graph;
  for (uint32_t i = 0; i < segment.n_in; ++i) {
    const uint32_t s = SlotOf(graph, segment.in[i]);
    slots_[s].kind = BufferKind::kInput;
    slots_[s].written = true;
    slots_[s].index = i;
    inputs_.push_back(s);
    if (segment.in_layout != nullptr && segment.in_layout[i] != 0) {
      return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "input %u: only the plain layout is taken",
                  i);
    }
  }
  for (uint32_t t = 0; t < segment.n_taken; ++t) {
    for (uint32_t k = 0; k < segment.taken[t].n_node; ++k) {
      const ge_rc rc = AddStep(graph, segment.taken[t].node[k], err);
      if (rc != GE_OK) return rc;
    }
  }
  for (uint32_t o = 0; o < segment.n_out; ++o) {
    const auto it = slot_of_.find(segment.out[o]);
    if (it == slot_of_.end() || slots_[it->second].kind != BufferKind::kInternal ||
        !slots_[it->second].written) {
      return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX,
                  "output %u is not computed by a node of the segment", o);
    }
    slots_[it->second].kind = BufferKind::kOutput;
    slots_[it->second].index = o;
    outputs_.push_back(it->second);
  }
  PlaceInternals(out);
  FindAliases();
  TellSteps(out);
  slot_of_.clear();
  out->workspace = workspace_;
  out->workspace_align = 64;
  out->n_step = std::max<uint32_t>(1, static_cast<uint32_t>(steps_.size()));
  out->alias = alias_.data();
  out->alias_count = static_cast<uint32_t>(alias_.size() / 2);
  if (CannotFail(segment)) out->flags |= GE_COMPILED_INFALLIBLE;
  return GE_OK;
}

ge_rc Exec::CheckBuffers(const ge_launch& launch, ge_err* err) const {
  if (launch.n_in != inputs_.size() || launch.n_out != outputs_.size() ||
      launch.n_internal != internals_.size()) {
    return Fail(
        err, GE_INVALID_ARGUMENT, UINT32_MAX,
        "launch has %u inputs, %u outputs, %u internal values; the segment has %zu, %zu, %zu",
        launch.n_in, launch.n_out, launch.n_internal, inputs_.size(), outputs_.size(),
        internals_.size());
  }
  if (launch.workspace.bytes < workspace_ || (workspace_ != 0 && launch.workspace.ptr == nullptr)) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "workspace has %llu bytes, %llu are wanted",
                static_cast<unsigned long long>(launch.workspace.bytes),
                static_cast<unsigned long long>(workspace_));
  }
  const auto check = [&](const ge_buf* bufs, const std::vector<uint32_t>& slots, const char* role) {
    for (size_t i = 0; i < slots.size(); ++i) {
      const char* fault = BufferFault(bufs[i], slots_[slots[i]]);
      if (fault != nullptr) {
        return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "%s %zu of the launch %s", role, i,
                    fault);
      }
    }
    return static_cast<ge_rc>(GE_OK);
  };
  ge_rc rc = check(launch.in, inputs_, "input");
  if (rc == GE_OK) rc = check(launch.out, outputs_, "output");
  return rc != GE_OK ? rc : check(launch.internal, internals_, "internal value");
}

ge_rc Exec::Run(const ge_launch& launch, ge_err* err) const {
  if (const ge_rc rc = CheckBuffers(launch, err); rc != GE_OK) return rc;
  const StopScope scope(launch.stop);
  const Step* at = nullptr;
  try {
    for (const Step& step : steps_) {
      at = &step;
      const StepCall call(step, slots_, launch, err);
      if (const ge_rc rc = step.prepared->Run(call); rc != GE_OK) return rc;
      if (launch.after_step != nullptr) {
        launch.after_step(launch.observer, static_cast<uint32_t>(&step - steps_.data()));
      }
      Spend(1 << 10);
    }
  } catch (const Stopped&) {
    return Fail(err, GE_CANCELLED, at->node, "%.150s: stopped by the host", at->label.c_str());
  }
  return GE_OK;
}

}  // namespace ref
