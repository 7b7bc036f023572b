// Level 1: hosts of other versions. A newer host's structs are longer, with poison in what is new;
// their arrays are walked by larger strides; they carry extensions. An older host's end where this
// header ends, and what lies behind cannot be read.
#include <fmt/format.h>

#include <cstdio>

#include "sdk/conform/case.h"
#include "sdk/conform/execute.h"
#include "sdk/conform/sample_graphs.h"
#include "sdk/conform/subject.h"

namespace ge::conform {
namespace {

using mock::Style;
using mock::TagBit;

constexpr uint32_t kGrow[] = {8, 64, 4096};

// Every offer of a graph compiled and run, against ref; the engine hears this style of host.
Outcome RunUnder(Subject& s, const RigOptions& options, const Sample& sample) {
  Rig rig(s, options);
  if (!rig.ready()) return rig.outcome();
  const mock::Answer answer = rig.engine().Query(sample.graph);
  if (answer.rc != GE_OK) {
    return Fail(fmt::format("query failed (code {}): {}", answer.rc, answer.error));
  }
  if (!answer.illegal.empty()) return Fail("query: " + answer.illegal[0]);
  Values wanted;
  std::string why;
  if (!RunRef(rig.ref(), sample.graph, sample.inputs, &wanted, &why)) return Fail(why);
  int run = 0;
  for (uint32_t i = 0; i < answer.offers.size(); ++i) {
    const mock::Offer& o = answer.offers[i];
    if (o.converts()) continue;
    Values values = wanted;
    if (!RunGroup(rig.engine(), sample.graph, answer, {{i, 0}}, &values, &why)) return Fail(why);
    ++run;
  }
  const Outcome closed = rig.Closed(Pass(fmt::format("{} offers", run)));
  return run == 0 && !IsBad(closed.verdict)
             ? Unsupported(fmt::format("it offers nothing of {}", sample.name))
             : closed;
}

// What engines offer of these two tells whether they read what a host of another version gives.
Outcome RunSamples(Subject& s, const RigOptions& options) {
  Outcome last = RunUnder(s, options, Chain(3));
  if (IsBad(last.verdict)) return last;
  const Outcome other = RunUnder(s, options, SampleOf(Shape::kPerceptron));
  return IsBad(other.verdict) || last.verdict != Verdict::kPass ? other : last;
}

Outcome Grown(Subject& s, int tag) {
  Outcome last;
  for (const uint32_t grow : kGrow) {
    RigOptions o;
    o.style.grow = grow;
    o.style.grown = tag == 0 ? mock::kAllTags : TagBit(static_cast<uint32_t>(tag));
    o.style.poison = grow == 64 ? 0xFF : 0xA5;
    last = RunSamples(s, o);
    if (IsBad(last.verdict)) {
      last.reason = fmt::format("a host whose structs are {} bytes longer: {}", grow, last.reason);
      return last;
    }
  }
  return last;
}

Outcome Exact(Subject& s, int) {
  RigOptions o;
  o.style.exact = true;
  return RunSamples(s, o);
}

Outcome ExactAndGrown(Subject& s, int) {
  RigOptions o;
  o.style.exact = true;
  o.style.grow = 24;
  return RunSamples(s, o);
}

Outcome MaySkip(Subject& s, int tag) {
  RigOptions o;
  o.style.extended = tag == 0 ? mock::kAllTags : TagBit(static_cast<uint32_t>(tag));
  Outcome outcome = RunSamples(s, o);
  if (IsBad(outcome.verdict)) {
    outcome.reason = "a host with an extension that may be skipped: " + outcome.reason;
  }
  return outcome;
}

// ---- extensions that must be understood
// -------------------------------------------------------------

std::string MustFault(const char* call, ge_rc rc, const std::string& text) {
  if (rc == GE_OK) {
    return fmt::format(
        "{} goes on although an extension must be understood; it is to answer "
        "GE_UNIMPLEMENTED",
        call);
  }
  if (rc != GE_UNIMPLEMENTED) {
    return fmt::format(
        "{} answers code {} to an extension that must be understood, wanted "
        "GE_UNIMPLEMENTED",
        call, rc);
  }
  const std::string hex = fmt::format("{:x}", mock::kStrangeTag);
  const std::string upper = fmt::format("{:X}", mock::kStrangeTag);
  const std::string decimal = std::to_string(mock::kStrangeTag);
  for (const std::string& name : {hex, upper, decimal}) {
    if (text.find(name) != std::string::npos) return "";
  }
  return fmt::format(
      "{} refuses an extension that must be understood, but its text '{:.100}' does "
      "not name the tag 0x{}",
      call, text, hex);
}

Style Must(uint32_t tag) {
  Style style;
  style.extended = TagBit(tag);
  style.must_understand = true;
  return style;
}

Outcome MustCreate(Subject& s, int tag) {
  mock::Host plain;
  std::string why;
  const ge_plugin_desc* d = s.Descriptor(plain, &why);
  if (d == nullptr) return Fail(why);
  if ((d->kinds & GE_KIND_ENGINE) == 0) return Unsupported("the plugin is no engine");
  mock::Host host(mock::Facts(), Must(static_cast<uint32_t>(tag)));
  mock::EngineOptions options;
  options.text = s.setup().options;
  const mock::Engine engine(d, host, options);
  if (engine.created() == GE_UNAVAILABLE) return Unsupported(engine.error());
  const std::string fault = MustFault("engine_create", engine.created(), engine.error());
  return fault.empty() ? Pass() : Fail(fault);
}

Outcome MustQuery(Subject& s, int tag) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  rig.host().style = Must(static_cast<uint32_t>(tag));
  const mock::Answer answer = rig.engine().Query(Chain(2).graph);
  rig.host().style = Style();
  const bool one = tag == GE_TAG_NODE || tag == GE_TAG_VALUE;
  // Of a node or value it may also decline those that carry it.
  if (one && answer.rc == GE_OK && answer.offers.empty()) return rig.Closed(Pass("declined"));
  const std::string fault = MustFault("query", answer.rc, answer.error);
  return fault.empty() ? rig.Closed(Pass()) : Fail(fault);
}

// What compile or enqueue is given, after an ordinary query.
Outcome MustLater(Subject& s, int tag) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = Chain(1);
  const mock::Answer answer = rig.engine().Query(sample.graph);
  if (answer.offers.empty()) return Unsupported("it offers no Add");
  const bool launch = tag == GE_TAG_LAUNCH;
  mock::Compiler compiler(rig.engine(), sample.graph, answer);
  const mock::Segment segment = mock::MakeSegment(sample.graph, answer, {{0, 0}});
  if (!launch) rig.host().style = Must(static_cast<uint32_t>(tag));
  const auto exec = compiler.Compile(segment);
  rig.host().style = Style();
  if (!launch) {
    const std::string fault = MustFault("compile", exec->rc, exec->error);
    return fault.empty() ? rig.Judged(Pass()) : Fail(fault);
  }
  if (exec->rc != GE_OK) return Fail("compile: " + exec->error);
  mock::Launch run(*exec);
  run.Begin();
  rig.host().style = Must(GE_TAG_LAUNCH);
  const ge_rc rc = run.RunBare();
  rig.host().style = Style();
  const std::string fault = MustFault("enqueue", rc, run.error());
  return fault.empty() ? rig.Judged(Pass()) : Fail(fault);
}

Outcome MustCopy(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  if (rig.engine().devices()[0].domains[0].id.empty())
    return Unsupported(
        "it has no memory of its "
        "own");
  mock::Place place(rig.engine(), 0, 64, 64, "a block");
  rig.host().style = Must(GE_TAG_COPY);
  place.Fill(1);
  rig.host().style = Style();
  const std::string text = place.error();
  const std::string fault = MustFault("copy", text.empty() ? GE_OK : GE_UNIMPLEMENTED, text);
  return fault.empty() ? rig.Judged(Pass()) : Fail(fault);
}

// ---- versions
// -----------------------------------------------------------------------------------------

// A host whose minor version is higher: bigger is always accepted.
Outcome NewerMinor(Subject& s, int minor) {
  std::string why;
  const mock::QueryFunction ask = s.Ask(&why);
  if (ask == nullptr) return Fail(why);
  Style style;
  style.grow = 64;
  mock::Host host(mock::Facts(), style);
  mock::Version version;
  version.minor = static_cast<uint32_t>(minor);
  const ge_plugin_desc* d = mock::AskPlugin(ask, host, version, &why);
  if (d == nullptr) {
    return Fail(
        fmt::format("ge_plugin_query refuses a host of ABI {}.{}: '{}'; minors are never "
                    "compared for equality",
                    GE_ABI_MAJOR, minor, why));
  }
  return Pass();
}

// A host of another major version: the plugin refuses with a sentence, or leaves it to the host.
Outcome OtherMajor(Subject& s, int) {
  std::string why;
  const mock::QueryFunction ask = s.Ask(&why);
  if (ask == nullptr) return Fail(why);
  mock::Host host;
  mock::Version version;
  version.major = GE_ABI_MAJOR + 7;
  version.minor = 0;
  version.hash = 0x1234;
  const ge_plugin_desc* d = mock::AskPlugin(ask, host, version, &why);
  const auto complaints = host.TakeComplaints();
  if (!complaints.empty()) return Fail(complaints[0]);
  if (d != nullptr) return Pass("leaves it to the host");
  if (why.empty()) return Fail("ge_plugin_query refuses a host of another major without a word");
  return Pass(why.substr(0, 150));
}

// ---- NULL where it is allowed
// ---------------------------------------------------------------------------

Outcome NullErr(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = Chain(2);
  const mock::Answer answer = rig.engine().Query(sample.graph, true);
  if (answer.rc != GE_OK)
    return Fail(fmt::format("query without ge_err failed (code {})", answer.rc));
  if (answer.offers.empty()) return Unsupported("it offers neither Add nor Mul");
  Values values = Given(sample.graph, sample.inputs);
  std::string why;
  mock::LaunchOptions options;
  options.null_err = true;
  if (!RunGroup(rig.engine(), sample.graph, answer, {{0, 0}}, &values, &why, options)) {
    return Fail(why);
  }
  return rig.Closed(Pass());
}

// Calls that must fail, without a ge_err to fill.
Outcome NullErrOnFailure(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const Sample sample = Chain(2);
  rig.host().style = Must(GE_TAG_GRAPH);
  const mock::Answer refused = rig.engine().Query(sample.graph, true);
  rig.host().style = Style();
  if (refused.rc == GE_OK) return Fail("query goes on although an extension must be understood");
  return rig.Closed(Pass());
}

}  // namespace

std::vector<Case> SkewCases() {
  return {
      {1, "newer-host", Grown, 0},
      {1, "newer-graph", Grown, GE_TAG_GRAPH},
      {1, "newer-node-stride", Grown, GE_TAG_NODE},
      {1, "newer-value-stride", Grown, GE_TAG_VALUE},
      {1, "newer-sink", Grown, GE_TAG_SINK},
      {1, "newer-segment-stride", Grown, GE_TAG_SEGMENT},
      {1, "newer-compiled-stride", Grown, GE_TAG_COMPILED},
      {1, "newer-layout", Grown, GE_TAG_LAYOUT},
      {1, "newer-pack", Grown, GE_TAG_PACK},
      {1, "newer-launch", Grown, GE_TAG_LAUNCH},
      {1, "newer-create-args", Grown, GE_TAG_CREATE_ARGS},
      {1, "newer-host-api", Grown, GE_TAG_HOST_API},
      {1, "newer-err", Grown, GE_TAG_ERR},
      {1, "newer-copy", Grown, GE_TAG_COPY},
      {1, "exact-host", Exact},
      {1, "exact-newer-host", ExactAndGrown},
      {1, "skips-extensions", MaySkip, 0},
      {1, "skips-extension-of-graph", MaySkip, GE_TAG_GRAPH},
      {1, "skips-extension-of-launch", MaySkip, GE_TAG_LAUNCH},
      {1, "must-create-args", MustCreate, GE_TAG_CREATE_ARGS},
      {1, "must-host-api", MustCreate, GE_TAG_HOST_API},
      {1, "must-graph", MustQuery, GE_TAG_GRAPH},
      {1, "must-sink", MustQuery, GE_TAG_SINK},
      {1, "must-node", MustQuery, GE_TAG_NODE},
      {1, "must-value", MustQuery, GE_TAG_VALUE},
      {1, "must-segment", MustLater, GE_TAG_SEGMENT},
      {1, "must-compile-graph", MustLater, GE_TAG_GRAPH},
      {1, "must-launch", MustLater, GE_TAG_LAUNCH},
      {1, "must-copy", MustCopy},
      {1, "host-minor-1", NewerMinor, 1},
      {1, "host-minor-7", NewerMinor, 7},
      {1, "host-other-major", OtherMajor},
      {1, "null-err", NullErr},
      {1, "null-err-on-failure", NullErrOnFailure},
  };
}

}  // namespace ge::conform
