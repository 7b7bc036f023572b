#include "ge/session/observed_values.h"

#include <algorithm>
#include <string>

#include "ge/capsule/plain_bytes.h"
#include "ge/engine/abi_layouts.h"
#include "ge/run/segment_steps.h"

namespace ge {
namespace {

CapsuleTensor Described(ValueId value, const std::string& name, const Type& type) {
  CapsuleTensor t;
  t.graph_value = value;
  t.name = name.empty() ? "#" + std::to_string(value) : name;
  t.dtype = type.dtype;
  for (const Dim& d : type.dims) t.dims.push_back(d.value);
  return t;
}

// As it lies, which other readers cannot know.
void AsBytes(uint64_t bytes, CapsuleTensor* t) {
  t->dtype = DType::kUint8;
  t->dims = {static_cast<int64_t>(bytes)};
}

}  // namespace

ObservedValues::ObservedValues(const Compiled& compiled, const Function& function, bool inside)
    : compiled_(compiled), function_(function) {
  behind_.resize(plan().code.size());
  for (uint32_t i = 0; i < plan().code.size(); ++i) {
    if (plan().code[i].op == PlanOp::kLaunch) ListLaunch(i, inside);
  }
}

void ObservedValues::ListLaunch(uint32_t instruction, bool inside) {
  const SegmentId id = plan().code[instruction].segment;
  const PlanSegment& segment = plan().segments[id];
  inside = inside && !compiled_.plan.devices[segment.device].async;
  Makers makers;
  for (const PlanValueId o : segment.outputs) makers[plan().values[o].graph_value] = nullptr;
  const auto& told = compiled_.program().parts().steps;
  for (uint32_t s = 0; id < told.size() && s < told[id].count; ++s) {
    const ge_step& step = *told[id].at(s);
    for (uint32_t m = 0; m < step.n_made; ++m) {
      const auto output = makers.find(step.made[m].value);
      if (output != makers.end()) output->second = &step;
    }
    if (inside) ListStep(instruction, s, step, makers);
  }
  for (size_t o = 0; o < segment.outputs.size(); ++o) ListOutput(instruction, o, makers);
}

void ObservedValues::ListStep(uint32_t instruction, uint32_t number, const ge_step& step,
                              const Makers& outputs) {
  for (uint32_t m = 0; m < step.n_made; ++m) {
    const ge_made& made = step.made[m];
    if (made.value == 0 || made.value >= function_.values.size()) continue;
    if (outputs.count(made.value) > 0) continue;  // shown behind the launch
    const Value& value = function_.values[made.value];
    PlanLayout layout = made.layout == nullptr ? PlanLayout() : PlanLayoutOf(*made.layout);
    if (!IsKnownLayout(&layout, value.type.dtype, value.type.dims.size())) continue;
    behind_step_[{instruction, number}].push_back({list_.size(), &made, 0, std::move(layout)});
    list_.push_back(Described(made.value, value.name, value.type));
    made_by_.push_back(&step);
  }
}

void ObservedValues::ListOutput(uint32_t instruction, size_t position, const Makers& makers) {
  const SegmentId id = plan().code[instruction].segment;
  const PlanValueId at = plan().segments[id].outputs[position];
  const PlanValue& value = plan().values[at];
  const PlanDomain& domain = compiled_.plan.domains[value.domain];
  const auto& engines = compiled_.program().parts().engines;
  if (value.domain != 0 && engines[domain.engine].api.copy == nullptr) {
    left_out_.push_back(value.name);
    return;
  }
  std::string name = value.graph_value ? function_.value(value.graph_value).name : value.name;
  if (name.empty()) name = value.name;
  CapsuleTensor t = Described(value.graph_value, name, value.type);
  t.plan_value = at;
  PlanLayout layout = compiled_.plan.layouts[value.layout];
  if (value.layout != 0 && !IsKnownLayout(&layout, t.dtype, t.dims.size())) {
    AsBytes(static_cast<uint64_t>(value.bytes), &t);
    layout = {};
  }
  behind_[instruction].push_back({list_.size(), nullptr, position, std::move(layout)});
  list_.push_back(std::move(t));
  made_by_.push_back(makers.at(value.graph_value));
}

std::span<const uint32_t> ObservedValues::NodesOf(size_t index) const {
  const ge_step* step = made_by_[index];
  return step == nullptr ? std::span<const uint32_t>() : std::span(step->node, step->n_node);
}

void ObservedValues::Show(const Shown& shown, std::span<const std::byte> bytes, const Take& take) {
  const CapsuleTensor& t = list_[shown.index];
  AlignedBytes memory;
  const auto plain = PlainBytes(&shown.layout, t.dtype, t.dims, bytes, &memory);
  if (plain.ok()) return take(shown.index, *plain);
  if (status_.ok()) {
    status_ = Status(plain.status().code(), "value '" + t.name + "': " + plain.status().message());
  }
}

void ObservedValues::AfterStep(uint32_t instruction, uint32_t step, const ge_launch& launch,
                               const Take& take) {
  const auto found = behind_step_.find({instruction, step});
  if (found == behind_step_.end()) return;
  for (const Shown& s : found->second) {
    const auto bytes = BytesOfMade(*s.made, launch);
    if (bytes) Show(s, *bytes, take);
  }
}

void ObservedValues::After(uint32_t instruction, std::span<const ge_buf> written, bool queued,
                           const Take& take) {
  if (instruction >= behind_.size()) return;
  for (const Shown& s : behind_[instruction]) {
    if (s.output >= written.size()) continue;
    const ge_buf& buf = written[s.output];
    if (queued || buf.domain != 0) {  // its device did not hand it over
      left_out_.push_back(list_[s.index].name);
      continue;
    }
    Show(s, {static_cast<const std::byte*>(buf.ptr), buf.bytes}, take);
  }
}

}  // namespace ge
