// Level 3: what engines compute, over operators, dtypes, shapes and special numbers, against ref in
// double precision. The bound of an element follows what it is made of, see oracle.h. Engines are
// asked for exact numerics; a case that transforms allow is the last one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sdk/conform/case.h"
#include "sdk/conform/execute.h"
#include "sdk/conform/levels/op_cases.h"
#include "sdk/conform/oracle.h"
#include "sdk/conform/subject.h"

namespace ge::conform {
namespace {

constexpr uint32_t kMostJudged = 6;

std::string ShapesText(const Sample& sample) {
  std::string out;
  for (const mock::Node& n : sample.graph.nodes) {
    for (uint32_t v : n.in) {
      if (v == 0) continue;
      const mock::Value& value = sample.graph.values[v];
      out += fmt::format("{}{}[{}]{}", out.empty() ? "" : " x ", ShortName(value.type.dtype),
                         fmt::join(value.type.dims, ","), value.constant != nullptr ? "c" : "");
    }
  }
  return out;
}

struct Counted {
  int taken = 0, samples = 0;
  std::string declined;  // the first reason
};

// Empty, or how the engine is wrong about a sample of one node. `rounded`: the bound of offers that
// round their inputs.
std::string RunSample(Rig& rig, const Sample& sample, const Bound& bound, Counted* counted,
                      const Bound& rounded = Bound()) {
  ++counted->samples;
  const mock::Answer answer = rig.engine().Query(sample.graph);
  if (answer.rc != GE_OK) return fmt::format("query failed: {}", answer.error);
  if (answer.offers.empty()) {
    if (counted->declined.empty() && !answer.declines.empty()) {
      counted->declined = answer.declines[0].text;
    }
    return "";
  }
  Oracle exact(rig.ref(), sample, bound), near(rig.ref(), sample, rounded);
  std::string why;
  if (!exact.Prepare(&why) || !near.Prepare(&why)) return "";  // nobody knows better
  for (uint32_t i = 0; i < answer.offers.size(); ++i) {
    const mock::Offer& o = answer.offers[i];
    if (o.converts()) continue;
    Oracle& oracle = o.rounds() ? near : exact;
    const auto choices = std::max<uint32_t>(1, static_cast<uint32_t>(o.choices.size()));
    for (uint32_t c = 0; c < std::min(choices, kMostJudged); ++c) {
      Values values = oracle.values();
      if (!RunGroup(rig.engine(), sample.graph, answer, {{i, c}}, &values, &why)) return why;
      for (uint32_t v : sample.graph.out) {
        why = oracle.Differs(v, values.at(v));
        if (why.empty()) continue;
        return o.choices.empty() ? why : fmt::format("{} (layout choice {})", why, c);
      }
    }
  }
  ++counted->taken;
  return "";
}

Outcome Finish(Rig& rig, const Counted& counted) {
  if (counted.taken != 0) {
    return rig.Closed(Pass(fmt::format("{} of {} samples", counted.taken, counted.samples)));
  }
  return rig.Judged(Unsupported(counted.declined.empty() ? "declined" : counted.declined));
}

Outcome Operator(Subject& s, int index) {
  RigOptions options;
  options.engine.numerics = GE_NUMERICS_EXACT;
  Rig rig(s, options);
  if (!rig.ready()) return rig.outcome();
  const OpCase c = OpCases()[static_cast<size_t>(index)];
  Counted counted;
  for (int which = 0;; ++which) {
    Net net(s.Seed(static_cast<uint64_t>(index * 100 + which)));
    Bound bound = c.bound;
    if (!c.make(&net, c, which, &bound.terms)) break;
    const Sample sample = net.Take(c.op);
    const std::string why = RunSample(rig, sample, bound, &counted);
    if (!why.empty()) {
      return rig.Judged(Fail(fmt::format("{} of {}: {}", c.op, ShapesText(sample), why)));
    }
  }
  return Finish(rig, counted);
}

// With more compute threads than one; sizes that are worth sharing.
Outcome TwoThreads(Subject& s, int) {
  RigOptions options;
  options.engine.numerics = GE_NUMERICS_EXACT;
  options.facts.threads = 2;
  options.facts.fork_ns = 5000;
  options.facts.thread_gain[0] = options.facts.thread_gain[1] = 1.9;
  Rig rig(s, options);
  if (!rig.ready()) return rig.outcome();
  Counted counted;
  for (const int which : {0, 1, 2}) {
    Net n(s.Seed(static_cast<uint64_t>(which) + 7000));
    Bound bound = {Rule::kSums, 2, 257};
    if (which == 0) n.Out(n.MatMul(n.In({131, 257}), n.Const(GE_F32, {257, 193})));
    if (which == 1) n.Out(n.Binary("Add", n.In({300001}), n.In({300001})));
    if (which == 2) {
      n.Out(n.Conv(n.In({1, 16, 41, 41}), n.Const(GE_F32, {24, 16, 3, 3}), 0, {1, 1, 1, 1}));
    }
    const std::string why = RunSample(rig, n.Take("large"), bound, &counted);
    if (!why.empty()) return rig.Judged(Fail("with two threads: " + why));
  }
  return Finish(rig, counted);
}

// Inputs of products may be rounded to bfloat16: by 2^-8 of themselves each, and by nobody who does
// not say so.
Outcome RoundedProducts(Subject& s, int) {
  RigOptions options;
  options.engine.precision = GE_PRECISION_BF16;
  Rig rig(s, options);
  if (!rig.ready()) return rig.outcome();
  Counted counted;
  const Bound rounded = {Rule::kSums, (0x1p-7 + 0x1p-14) / 0x1p-24, 0};
  for (const int which : {0, 1, 2, 3}) {
    Net n(s.Seed(static_cast<uint64_t>(which) + 9000));
    const Bound exact = {Rule::kSums, 2, which == 2 ? 144.0 : 131.0};
    if (which == 0) n.Out(n.MatMul(n.In({7, 131}), n.Const(GE_F32, {131, 61})));
    if (which == 1) n.Out(n.MatMul(n.In({3, 4, 96}), n.Const(GE_F32, {96, 50})));
    if (which == 2) {
      n.Out(n.Conv(n.In({1, 16, 21, 23}), n.Const(GE_F32, {33, 16, 3, 3}), 0, {1, 1, 1, 1}));
    }
    if (which == 3) n.Out(n.Binary("Mul", n.In({4, 131}), n.In({4, 131})));  // no product of sums
    const std::string why = RunSample(rig, n.Take("rounded"), exact, &counted, rounded);
    if (!why.empty()) return rig.Judged(Fail("with bfloat16 permitted: " + why));
  }
  return Finish(rig, counted);
}

// Denormal numbers count as zero, or are kept, as the session says.
Outcome Denormals(Subject& s, int keep) {
  RigOptions options;
  options.keep_denormals = keep != 0;
  Rig rig(s, options);
  if (!rig.ready()) return rig.outcome();
  Net n(1);
  Tensor tiny(GE_F32, {35});
  for (int64_t i = 0; i < tiny.count(); ++i)
    tiny.as<float>()[i] = 1e-40f * static_cast<float>(i + 1);
  const uint32_t x = n.In(tiny);
  n.Out(n.Binary("Add", x, n.In(tiny)));
  const Sample sample = n.Take("denormals");
  const mock::Answer answer = rig.engine().Query(sample.graph);
  const auto offers = OffersOf(answer, {0});
  if (offers.empty()) return rig.Judged(Unsupported("it declines Add"));
  Values values = Given(sample.graph, sample.inputs);
  std::string why;
  if (!RunGroup(rig.engine(), sample.graph, answer, {{offers[0], 0}}, &values, &why)) {
    return Fail(why);
  }
  const Tensor& y = values.at(sample.graph.out[0]);
  for (int64_t i = 0; i < y.count(); ++i) {
    // By its bits: this thread may take it for zero.
    uint32_t bits = 0;
    std::memcpy(&bits, &y.bytes[static_cast<size_t>(i) * 4], 4);
    const bool zero = (bits & 0x7FFFFFFF) == 0;
    if (zero != (keep == 0)) {
      return Fail(
          fmt::format("enqueue of Add: element {} of two denormal numbers' sum has the bits "
                      "{:#x}, although the session's mode is to {} them",
                      i, bits, keep != 0 ? "keep" : "flush"));
    }
  }
  return rig.Closed(Pass());
}

// Transforms are allowed: errors relative to the largest sum near by, infinities where they belong.
Outcome FastConvolution(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  Counted counted;
  for (int which = 0; which < 3; ++which) {
    Net n(s.Seed(static_cast<uint64_t>(which) + 8000));
    Tensor x = n.r.Numbers(GE_F32, {1, 32, 29, 31}, -1, 1);
    if (which == 1) x.as<float>()[5000] = INFINITY;
    n.Out(n.Conv(n.In(x), n.Const(GE_F32, {which == 2 ? 65 : 32, 32, 3, 3}), 0, {1, 1, 1, 1}));
    // docs/numerics.md: the greatest tile's error is 1.2e-6 of the sum without signs.
    const Bound bound = {Rule::kSums, 2, 288};
    const std::string why = RunSample(rig, n.Take("conv"), bound, &counted);
    if (!why.empty()) return rig.Judged(Fail("with fast numerics: " + why));
  }
  return Finish(rig, counted);
}

}  // namespace

std::vector<Case> NumericsCases() {
  std::vector<Case> cases;
  const std::vector<OpCase> ops = OpCases();
  for (size_t i = 0; i < ops.size(); ++i) {
    cases.push_back({3, ops[i].name(), Operator, static_cast<int>(i)});
  }
  cases.push_back({3, "two-threads", TwoThreads});
  cases.push_back({3, "denormals-flushed", Denormals, 0});
  cases.push_back({3, "denormals-kept", Denormals, 1});
  cases.push_back({3, "fast-convolution", FastConvolution});
  cases.push_back({3, "rounded-products", RoundedProducts});
  return cases;
}

}  // namespace ge::conform
