// SmallPlan, for tests only: builds a one-function plan by hand, over the host's engine "ref" and
// `async_devices` asynchronous engines "sim0", "sim1" with memory of their own and two streams.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ge/plan/plan.h"

namespace ge::test {

inline constexpr DeviceId kRef = 1, kSim = 2, kSim1 = 3;

class SmallPlan {
 public:
  explicit SmallPlan(uint32_t async_devices = 1) {
    plan.engines = {{"host", "1", ""}, {"ref", "1", ""}};
    plan.devices = {{0, 0, "host", 0, false, 1}, {1, 0, "ref/cpu", 0, false, 1}};
    plan.domains = {{"host", 0, 0, 64, 1}};
    plan.layouts.resize(1);
    for (uint32_t d = 0; d < async_devices; ++d) {
      const std::string name = "sim" + std::to_string(d);
      plan.engines.push_back({name, "1", ""});
      plan.domains.push_back({name, 2 + d, 0, 64, 4});
      plan.devices.push_back({2 + d, 0, name + "/0", 1 + d, true, 2});
      plan.links.push_back({0, 1 + d, 2 + d, 500, 4});
      plan.links.push_back({1 + d, 0, 2 + d, 500, 4});
    }
    plan.functions.emplace_back();
    f().name = "main";
    f().values.resize(1);
    f().streams.resize(1);
  }

  PlanFunction& f() { return plan.functions[0]; }
  PlanValue& value(PlanValueId value) { return f().values[value]; }

  PlanValueId Value(const std::string& name, int64_t bytes, DomainId domain = 0,
                    PlanValueKind kind = PlanValueKind::kTransient) {
    PlanValue v;
    v.name = name;
    v.bytes = bytes;
    v.domain = domain;
    v.kind = kind;
    f().values.push_back(v);
    return static_cast<PlanValueId>(f().values.size() - 1);
  }
  PlanValueId Input(const std::string& name, int64_t bytes) {
    const PlanValueId v = Value(name, bytes, 0, PlanValueKind::kInput);
    value(v).index = static_cast<uint32_t>(f().inputs.size());
    f().inputs.push_back(v);
    return v;
  }
  PlanValueId Output(const std::string& name, int64_t bytes) {
    const PlanValueId v = Value(name, bytes, 0, PlanValueKind::kOutput);
    value(v).index = static_cast<uint32_t>(f().outputs.size());
    f().outputs.push_back(v);
    return v;
  }
  PlanValueId Internal(SegmentId segment, const std::string& name, int64_t bytes, uint32_t first,
                       uint32_t last) {
    const DomainId domain = plan.devices[f().segments[segment].device].domain;
    const PlanValueId v = Value(name, bytes, domain, PlanValueKind::kInternal);
    value(v).segment = segment;
    value(v).first_step = first;
    value(v).last_step = last;
    f().segments[segment].internals.push_back(v);
    return v;
  }

  SegmentId Launch(DeviceId device, std::vector<PlanValueId> in, std::vector<PlanValueId> out,
                   double ns = 1000, std::vector<std::pair<uint32_t, uint32_t>> may_alias = {}) {
    PlanSegment s;
    s.device = device;
    s.inputs = std::move(in);
    s.outputs = std::move(out);
    s.may_alias = std::move(may_alias);
    s.predicted_ns = ns;
    f().segments.push_back(std::move(s));
    Instruction i;
    i.op = PlanOp::kLaunch;
    i.segment = static_cast<SegmentId>(f().segments.size() - 1);
    i.predicted_ns = ns;
    f().code.push_back(i);
    return i.segment;
  }
  void Copy(PlanValueId src, PlanValueId dst, double ns = 1000) {
    Instruction i;
    i.op = PlanOp::kCopy;
    i.src = src;
    i.dst = dst;
    const DomainId from = value(src).domain;
    i.engine = plan.domains[from ? from : value(dst).domain].engine;
    i.predicted_ns = ns;
    f().code.push_back(i);
  }
  size_t Count(PlanOp op) {
    size_t n = 0;
    for (const Instruction& i : f().code) n += i.op == op;
    return n;
  }

  Plan plan;
};

}  // namespace ge::test
