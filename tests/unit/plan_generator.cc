#include "tests/unit/plan_generator.h"

#include <algorithm>
#include <map>
#include <string>

namespace ge::test {
namespace {

class Generator {
 public:
  Generator(uint64_t seed, const GeneratorOptions& options) : random_(seed), options_(options) {}

  Plan Run() {
    Tables();
    plan_.functions.emplace_back();
    f_ = &plan_.functions[0];
    f_->name = "main";
    f_->values.resize(1);
    f_->streams.resize(1);
    for (uint32_t i = 0, n = 1 + random_.Below(3); i < n; ++i) {
      const PlanValueId v = Add("in" + std::to_string(i), PlanValueKind::kInput, 0, Bytes());
      f_->values[v].index = i;
      f_->inputs.push_back(v);
      pool_.push_back(v);
    }
    const PlanValueId c = Add("weights", PlanValueKind::kConstant, 0, Bytes());
    f_->values[c].constant = 1;
    pool_.push_back(c);
    for (uint32_t s = 0; s < options_.segments; ++s) Segment(s);
    Outputs();
    return std::move(plan_);
  }

 private:
  void Tables() {
    plan_.graph_name = plan_.entry = "random";
    plan_.engines = {{"host", "1", ""}, {"ref", "1", ""}};
    plan_.devices = {{0, 0, "host", 0, false, 1}, {1, 0, "ref/cpu", 0, false, 1}};
    plan_.domains = {{"host", 0, 0, 64, 1}};
    plan_.layouts.resize(1);
    for (uint32_t d = 0; d < options_.async_devices; ++d) {
      const std::string name = "sim" + std::to_string(d);
      const uint32_t engine = static_cast<uint32_t>(plan_.engines.size());
      const DomainId domain = static_cast<DomainId>(plan_.domains.size());
      plan_.engines.push_back({name, "1", ""});
      plan_.domains.push_back({name + "/memory", engine, 0, 64, 4});
      plan_.devices.push_back({engine, 0, name + "/0", domain, true, options_.streams_per_device});
      plan_.links.push_back({0, domain, engine, 500, 4});
      plan_.links.push_back({domain, 0, engine, 500, 4});
    }
  }

  int64_t Bytes() {
    static constexpr int64_t kSizes[] = {0, 4, 64, 100, 256, 1000, 1000, 4096, 4096, 10000};
    return kSizes[random_.Below(10)];
  }

  PlanValueId Add(const std::string& name, PlanValueKind kind, DomainId domain, int64_t bytes) {
    PlanValue v;
    v.name = name;
    v.kind = kind;
    v.domain = domain;
    v.bytes = bytes;
    v.align = random_.Chance(10) ? 256 : 64;
    f_->values.push_back(std::move(v));
    return static_cast<PlanValueId>(f_->values.size() - 1);
  }

  PlanValueId Copy(PlanValueId src, PlanValueId dst) {
    Instruction in;
    in.op = PlanOp::kCopy;
    in.src = src;
    in.dst = dst;
    const DomainId from = f_->values[src].domain, to = f_->values[dst].domain;
    in.engine = plan_.domains[from ? from : to].engine;
    in.predicted_ns = 500 + random_.Below(2000);
    f_->code.push_back(in);
    return dst;
  }

  // The value in a domain, copied there through the host when it is elsewhere, once.
  PlanValueId In(PlanValueId v, DomainId domain) {
    if (f_->values[v].domain == domain) return v;
    if (const auto it = copies_.find({v, domain}); it != copies_.end()) return it->second;
    PlanValueId from = v;
    if (domain != 0 && f_->values[v].domain != 0) from = In(v, 0);
    const PlanValueId to = Add(f_->values[v].name + "@" + plan_.domains[domain].name,
                               PlanValueKind::kTransient, domain, f_->values[v].bytes);
    return copies_[{v, domain}] = Copy(from, to);
  }

  PlanValueId Pick() {
    if (random_.Chance(options_.chain_percent)) return pool_.back();
    const uint32_t recent = std::min<uint32_t>(8, static_cast<uint32_t>(pool_.size()));
    if (random_.Chance(70)) return pool_[pool_.size() - 1 - random_.Below(recent)];
    return pool_[random_.Below(static_cast<uint32_t>(pool_.size()))];
  }

  void Segment(uint32_t number) {
    PlanSegment s;
    s.device = 1;
    if (options_.async_devices && !random_.Chance(options_.host_percent)) {
      s.device = 2 + random_.Below(options_.async_devices);
    }
    const DomainId domain = plan_.devices[s.device].domain;
    for (uint32_t i = 0, n = 1 + random_.Below(3); i < n; ++i)
      s.inputs.push_back(In(Pick(), domain));
    const std::string name = "t" + std::to_string(number);
    for (uint32_t o = 0, n = 1 + random_.Below(2); o < n; ++o) {
      const uint32_t like = random_.Below(static_cast<uint32_t>(s.inputs.size()));
      const bool same = random_.Chance(60);
      const int64_t bytes = same ? f_->values[s.inputs[like]].bytes : Bytes();
      s.outputs.push_back(
          Add(name + "_" + std::to_string(o), PlanValueKind::kTransient, domain, bytes));
      if (same && random_.Chance(70)) s.may_alias.push_back({o, like});
    }
    Insides(number, domain, &s);
    s.predicted_ns = 200 + random_.Below(8000);
    Instruction in;
    in.op = PlanOp::kLaunch;
    in.segment = number;
    in.predicted_ns = s.predicted_ns;
    f_->code.push_back(in);
    for (PlanValueId v : s.outputs) pool_.push_back(v);
    if (number > 0 && options_.after_percent > 0 && random_.Chance(options_.after_percent))
      s.after.push_back(random_.Below(number));
    f_->segments.push_back(std::move(s));
  }

  void Insides(uint32_t number, DomainId domain, PlanSegment* s) {
    const std::string name = "s" + std::to_string(number);
    if (random_.Chance(40)) {
      s->workspace = Add(name + "_work", PlanValueKind::kWorkspace, domain, Bytes());
      f_->values[s->workspace].segment = number;
    }
    if (!random_.Chance(40)) return;
    s->n_step = 2 + random_.Below(5);
    for (uint32_t i = 0, n = 1 + random_.Below(5); i < n; ++i) {
      const PlanValueId v =
          Add(name + "_i" + std::to_string(i), PlanValueKind::kInternal, domain, Bytes());
      PlanValue& value = f_->values[v];
      value.segment = number;
      value.first_step = random_.Below(s->n_step);
      value.last_step = value.first_step + random_.Below(s->n_step - value.first_step);
      if (!s->internals.empty() && random_.Chance(50)) {
        value.internal_alias = s->internals.back();
        if (random_.Chance(70)) value.bytes = f_->values[value.internal_alias].bytes;
      }
      s->internals.push_back(v);
    }
  }

  void Outputs() {
    std::vector<PlanValueId> wanted{pool_.back()};
    for (PlanValueId v : pool_) {
      if (v != pool_.back() && f_->values[v].kind == PlanValueKind::kTransient &&
          random_.Chance(10)) {
        wanted.push_back(v);
      }
    }
    for (PlanValueId v : wanted) {
      PlanValueId out = v;
      if (f_->values[v].domain == 0 && f_->values[v].kind == PlanValueKind::kTransient) {
        f_->values[v].kind = PlanValueKind::kOutput;
      } else {
        out = Add("out_" + f_->values[v].name, PlanValueKind::kOutput, 0, f_->values[v].bytes);
        Copy(v, out);
      }
      f_->values[out].index = static_cast<uint32_t>(f_->outputs.size());
      f_->outputs.push_back(out);
    }
  }

  Random random_;
  const GeneratorOptions options_;
  Plan plan_;
  PlanFunction* f_ = nullptr;
  std::vector<PlanValueId> pool_;  // what later segments may read
  std::map<std::pair<PlanValueId, DomainId>, PlanValueId> copies_;
};

}  // namespace

Plan RandomPlan(uint64_t seed, const GeneratorOptions& options) {
  return Generator(seed, options).Run();
}

}  // namespace ge::test
