// The pass `grad`: an entry beside another one that answers gradients (reverse mode), the change of
// an output along tangents (forward mode), or the Hessian times a vector.
#include "passes/grad/grad_pass.h"

#include "passes/grad/entry.h"
#include "passes/grad/remat/rematerialise.h"

namespace ge::grad {
namespace {

enum Option : uint32_t { kEntry, kOf, kWrt, kName, kKind, kRemat, kRows, kCheckpoint, kRecursion };

bool IsScalar(const Type& t) { return t.known() && t.elements() == 1; }

void Finish(const ge_edit* e, Fn& fn, const std::vector<Val>& results,
            const std::vector<std::string>& names, const std::string& entry) {
  std::vector<uint32_t> ids;
  std::vector<ge_str> texts;
  for (const Val v : results) ids.push_back(fn.Op("Identity", {v}).id);
  for (const std::string& name : names) texts.push_back(plugin::Str(name));
  e->results(e->host, fn.id(), ids.data(), texts.data(), static_cast<uint32_t>(ids.size()));
  e->entry(e->host, plugin::Str(entry), fn.id(), GE_ROLE_INFER);
}

// A second sweep through what the first one has built: seeds are the gradients' own tangents.
std::vector<Val> Again(Fn& fn, Context& context, const std::vector<Val>& gradients,
                       const std::vector<Val>& given, const std::vector<Val>& wanted, Val* of) {
  context.again = false;  // this one is not derived any more
  Reverse again(fn, context);
  for (const Val v : wanted) again.Want(v);
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i]) again.Seed(gradients[i], given[i]);
  }
  if (!again.Run()) RefuseProblems(context);
  *of = again.Now(of->id);
  std::vector<Val> made;
  for (const Val v : wanted) made.push_back(again.Gradient(v));
  return made;
}

Context ContextOf(const ge_edit* e, const std::string& kind) {
  Context context(e);
  context.checkpoint = LoopCheckpoint::Of(TextOption(e, kCheckpoint));
  if (context.checkpoint.kind != LoopCheckpoint::kNone && kind != "grad") {
    throw Refusal{GE_INVALID_ARGUMENT, "loop-checkpoint is " + TextOption(e, kCheckpoint) +
                                           ", wanted none, or kind=grad, not " + kind};
  }
  const std::string recursion = TextOption(e, kRecursion);
  if (recursion != "held" && recursion != "again") {
    throw Refusal{GE_INVALID_ARGUMENT,
                  "recursion is '" + recursion +
                      "', wanted held, what the way back reads, or again: it is run once more, and "
                      "what is derived can be derived again"};
  }
  context.next_name = LastName(e, "grad.");
  context.again = recursion == "again" || kind != "grad";
  return context;
}

void Derive(const ge_edit* e) {
  const std::string kind = TextOption(e, kKind), entry = TextOption(e, kName);
  if (kind != "grad" && kind != "jvp" && kind != "hvp") {
    throw Refusal{GE_INVALID_ARGUMENT, "kind is '" + kind + "', wanted grad, jvp or hvp"};
  }
  const Source source = EntryOf(e, TextOption(e, kEntry));
  Context context = ContextOf(e, kind);
  Fn fn(e, CopyOf(e, source, entry));
  const ge_graph* g = fn.Picture();
  if (g == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory for a copy of the entry"};
  const uint32_t of = OutputOf(g, TextOption(e, kOf));
  const std::vector<uint32_t> wrt = WantedOf(g, Listed(TextOption(e, kWrt)));
  const std::string of_name = NameOf(g, of);
  std::vector<std::string> names;
  std::vector<Val> wanted, given;
  for (const uint32_t v : wrt) {
    names.push_back(NameOf(g, v));
    wanted.push_back(fn.At(v));
  }

  Reverse sweep(fn, context);
  for (const Val v : wanted) sweep.Want(v);
  const Val y = fn.At(of);
  const bool scalar = IsScalar(fn.TypeOf(y));
  Val ct;
  // A value of its own: constants are shared, and this one is what the second sweep is for.
  if (kind == "jvp") ct = fn.Op("Identity", {fn.Zeros(y)});
  if (!ct) ct = scalar ? fn.Fill(y, 1) : fn.Param("ct." + of_name, fn.TypeOf(y));
  for (size_t i = 0; i < wanted.size() && kind != "grad"; ++i) {
    given.push_back(fn.Param((kind == "jvp" ? "t." : "v.") + names[i], fn.TypeOf(wanted[i])));
  }
  sweep.Seed(y, ct);
  if (!sweep.Run()) RefuseProblems(context);
  std::vector<Val> results = {sweep.Now(of)}, gradients;
  std::vector<std::string> titles = {of_name};
  for (const Val v : wanted) gradients.push_back(sweep.Gradient(v));
  if (kind == "jvp") {
    const Val tangent = Again(fn, context, gradients, given, {ct}, &results[0])[0];
    results.push_back(tangent ? tangent : fn.Zeros(y));
    titles.push_back("jvp." + of_name);
  }
  if (kind == "hvp") gradients = Again(fn, context, gradients, given, wanted, &results[0]);
  for (size_t i = 0; i < wanted.size() && kind != "jvp"; ++i) {
    results.push_back(gradients[i] ? gradients[i] : fn.Zeros(wanted[i]));
    std::string title = kind + "." + names[i];
    // Of a gradient that an earlier run has derived.
    if (title == of_name) title = kind + "." + of_name + "." + names[i];
    titles.push_back(std::move(title));
  }
  const std::string remat = TextOption(e, kRemat);
  const RematPolicy policy = RematPolicy::Of(remat, e->option[kRows].i);
  if (policy.kind != RematPolicy::kNone && kind != "grad") {
    throw Refusal{GE_INVALID_ARGUMENT,
                  "remat is " + remat + ", wanted none, or kind=grad, not " + kind};
  }
  Rematerialise(fn, sweep, policy, results);
  Finish(e, fn, results, titles, entry);
}

const ge_attr_def kOptions[] = {
    TextSetting("entry", ""),        TextSetting("of", ""),
    TextSetting("wrt", "*inputs"),   TextSetting("name", "grad"),
    TextSetting("kind", "grad"),     TextSetting("remat", "none"),
    CountSetting("rows", 0),         TextSetting("loop-checkpoint", "none"),
    TextSetting("recursion", "held")};
// The graph as it was loaded: what is folded for inference is gone for training.
const ge_str kBefore[] = {ge_text("fold-constants"), ge_text("drop-dead")};

}  // namespace

ge_pass_def GradPass() {
  ge_pass_def pass{};
  pass.h = GE_HDR(ge_pass_def, GE_TAG_PASS_DEF);
  pass.name = ge_text("grad");
  pass.summary = ge_text("adds an entry with the gradients of an output (kind=grad, jvp, hvp)");
  pass.kind = GE_PASS_DERIVE;
  pass.phases = GE_PHASE_LOAD | GE_PHASE_ASKED;
  pass.before = kBefore;
  pass.n_before = 2;
  pass.option = kOptions;
  pass.n_option = sizeof kOptions / sizeof kOptions[0];
  pass.run = [](const ge_edit* e, ge_err* err) { return Guard(err, Derive, e); };
  return pass;
}

}  // namespace ge::grad
