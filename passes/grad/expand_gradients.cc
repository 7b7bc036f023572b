// The pass `expand-gradients`: ordinary nodes in the place of each ge.Gradient: those of the
// function that it names, then their way back. It runs at every load, ahead of all other passes.
// Functions that are named come before those that name them, so a gradient is derived of what has
// none left in it, to any order.
#include <algorithm>
#include <map>
#include <set>

#include "passes/grad/entry.h"
#include "passes/grad/grad_pass.h"
#include "passes/grad/kit.h"

namespace ge::grad {
namespace {

enum ExpandOption : uint32_t { kExpandRecursion, kExpandCheckpoint };

bool IsGradient(const ge_node& n) { return ge_is(n.domain, "ge") && ge_is(n.op, "Gradient"); }

// A node to be expanded, as the picture of its function has it.
struct Asked {
  uint32_t node = 0, of = 0;
  std::string name;
  std::vector<uint32_t> in, out;  // values; 0 = absent, of outputs also: nobody reads it
  std::vector<int64_t> wrt;
  std::vector<ge_effect> effects;
};

// A function of the model.
struct Known {
  std::string name;
  bool called = false;              // it calls itself or brings its derivative
  bool seen = false;                // it runs, in some entry
  std::vector<uint32_t> functions;  // that its nodes name, and derivatives that it brings
  std::vector<std::pair<uint32_t, uint32_t>> asked;  // ids of Gradients, and what they name
};

Asked AskedBy(const ge_graph* g, const ge_node& n) {
  Asked a;
  a.node = n.id;
  a.of = NewFunction::Body(n, "fn");
  a.name = plugin::View(n.name);
  a.in.assign(n.in, n.in + n.n_in);
  for (uint32_t k = 0; k < n.n_out; ++k) {
    const ge_value& v = *GE_VALUE(g, n.out[k]);
    const bool read = n.out[k] != 0 && (v.n_user > 0 || (v.flags & GE_VALUE_OUTPUT) != 0);
    a.out.push_back(read ? n.out[k] : 0);
  }
  const ge_attr* wrt = ge_find_attr(&n, "wrt");
  if (wrt != nullptr) a.wrt.assign(wrt->ints, wrt->ints + wrt->n);
  a.effects.assign(n.effect, n.effect + n.n_effect);
  return a;
}

class Expansion {
 public:
  explicit Expansion(const ge_edit* e)
      : e_(e), context_(e), recursion_(TextOption(e, kExpandRecursion)) {
    if (recursion_ != "auto" && recursion_ != "held" && recursion_ != "again") {
      throw Refusal{GE_INVALID_ARGUMENT,
                    "recursion is '" + recursion_ +
                        "', wanted auto, held, what the way back reads, or again: it is run once "
                        "more, and what is derived can be derived again"};
    }
    checkpoint_ = LoopCheckpoint::Of(TextOption(e, kExpandCheckpoint));
    context_.next_name = LastName(e, "grad.");
  }
  void Run();

 private:
  void LookAround();
  void Look(uint32_t fn);
  void Visit(uint32_t root);
  void FindDerived();
  void Expand(uint32_t fn);
  void ExpandOne(Fn& fn, const Asked& a, std::set<std::string>* names);
  std::vector<Val> Results(Fn& fn, const Asked& a, const std::vector<Val>& params,
                           std::set<std::string>* names);
  void Derive(Fn& fn, const Asked& a, const std::vector<Val>& params,
              const std::vector<Val>& results);

  const ge_edit* e_;
  Context context_;
  std::string recursion_;
  LoopCheckpoint checkpoint_;
  std::vector<Known> known_;     // by function
  std::vector<uint32_t> order_;  // those that run; what is named comes first
  std::set<uint32_t> derived_;   // what Gradients name, and all that these run
};

void Expansion::LookAround() {
  const ge_model* m = e_->model(e_->host);
  if (m == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory to look at the model"};
  known_.resize(m->n_fn);
  for (uint32_t i = 1; i < m->n_fn; ++i) {
    const ge_function& f = *GE_FUNCTION(m, i);
    known_[i].name = plugin::View(f.name);
    known_[i].called = (f.flags & GE_FUNCTION_RECURSIVE) != 0;
    for (const uint32_t own : {f.custom_vjp, f.custom_jvp}) {
      if (own != 0) known_[i].functions.push_back(own);
      known_[i].called = known_[i].called || own != 0;
    }
  }
  std::vector<uint32_t> roots;
  for (uint32_t i = 0; i < m->n_entry; ++i) roots.push_back(GE_ENTRY(m, i)->fn);
  for (uint32_t i = 1; i < m->n_state; ++i) roots.push_back(GE_STATE(m, i)->init_fn);
  for (const uint32_t fn : roots) Visit(fn);
}

void Expansion::Look(uint32_t fn) {
  Known& known = known_[fn];
  known.seen = true;
  const ge_graph* g = e_->graph(e_->host, fn);
  if (g == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory to look at a function"};
  for (uint32_t i = 0; i < g->n_node; ++i) {
    const ge_node& n = *GE_NODE(g, i);
    known.functions.insert(known.functions.end(), n.body, n.body + n.n_body);
    if (IsGradient(n)) known.asked.emplace_back(n.id, NewFunction::Body(n, "fn"));
  }
}

// Depth first. In a circle of calls the order does not matter: no Gradient closes one.
void Expansion::Visit(uint32_t root) {
  std::vector<std::pair<uint32_t, size_t>> path;  // function, how many of its own were visited
  const auto enter = [&](uint32_t fn) {
    if (fn == 0 || known_[fn].seen) return;
    Look(fn);
    path.emplace_back(fn, 0);
  };
  enter(root);
  while (!path.empty()) {
    const std::vector<uint32_t>& named = known_[path.back().first].functions;
    if (path.back().second < named.size()) {
      enter(named[path.back().second++]);
      continue;
    }
    order_.push_back(path.back().first);
    path.pop_back();
  }
}

void Expansion::FindDerived() {
  std::vector<uint32_t> open;
  for (const Known& known : known_) {
    for (const auto& [node, of] : known.asked) open.push_back(of);
  }
  while (!open.empty()) {
    const uint32_t fn = open.back();
    open.pop_back();
    if (!derived_.insert(fn).second) continue;
    open.insert(open.end(), known_[fn].functions.begin(), known_[fn].functions.end());
  }
}

void Expansion::Run() {
  LookAround();
  FindDerived();
  if (derived_.empty()) return;
  for (const uint32_t fn : order_) Expand(fn);
}

void Expansion::Expand(uint32_t fn) {
  if (known_[fn].asked.empty()) return;
  const bool last = derived_.count(fn) == 0;  // nobody derives what is made here
  context_.again = recursion_ == "auto" ? !last : recursion_ == "again";
  context_.checkpoint = last ? checkpoint_ : LoopCheckpoint{};
  Fn f(e_, fn);
  std::set<std::string> names;
  for (const auto& [node, of] : known_[fn].asked) {
    const ge_graph* g = f.Picture();
    if (g == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory to look at a function"};
    Asked a;
    for (uint32_t i = 0; i < g->n_node; ++i) {
      const ge_node& n = *GE_NODE(g, i);
      names.emplace(plugin::View(n.name));
      if (n.id == node) a = AskedBy(g, n);
    }
    try {
      ExpandOne(f, a, &names);
    } catch (const Refusal& r) {
      throw Refusal{r.rc, "ge.Gradient" + (a.name.empty() ? "" : " '" + a.name + "'") + " of '" +
                              known_[of].name + "': " + r.text};
    }
  }
}

// The nodes of the function; a call of it, where it calls itself or brings its derivative.
std::vector<Val> Expansion::Results(Fn& fn, const Asked& a, const std::vector<Val>& params,
                                    std::set<std::string>* names) {
  const ge_graph* g = e_->graph(e_->host, a.of);
  if (g == nullptr) throw Refusal{GE_OUT_OF_MEMORY, "there is no memory to look at a function"};
  std::vector<Val> results;
  if (known_[a.of].called) {
    const NewFunction::Bodies bodies{{a.of}, {ge_text("fn")}};
    ge_links links = bodies.Links();
    links.effect = a.effects.data();
    links.n_effect = static_cast<uint32_t>(a.effects.size());
    return fn.Node("ge", "Call", params, {}, g->n_out, &links, a.node);
  }
  CopyNodes copy(g, fn, a.node);
  copy.KeepNames(names);
  for (uint32_t i = 0; i < g->n_in; ++i) copy.Set(g->in[i], params[i]);
  for (uint32_t i = 0; i < g->n_node; ++i) copy.Put(*GE_NODE(g, i));
  for (uint32_t i = 0; i < g->n_out; ++i) results.push_back(copy.Get(g->out[i]));
  return results;
}

void Expansion::ExpandOne(Fn& fn, const Asked& a, std::set<std::string>* names) {
  const size_t n_params = e_->graph(e_->host, a.of)->n_in;
  std::vector<Val> params;
  for (size_t i = 0; i < n_params; ++i) params.push_back(fn.At(a.in[i]));
  // Values of their own: others may depend on the same inputs.
  for (const int64_t i : a.wrt) {
    Val& p = params[static_cast<size_t>(i)];
    p = fn.Node("", "Identity", {p}, {}, 1, nullptr, a.node)[0];
  }
  fn.EndAt(a.node);
  Derive(fn, a, params, Results(fn, a, params, names));
  e_->erase(e_->host, fn.id(), a.node);
}

// The way back, and everything in the place of the node's outputs.
void Expansion::Derive(Fn& fn, const Asked& a, const std::vector<Val>& params,
                       const std::vector<Val>& results) {
  // By a value of its own: names of results stay, and readers stand behind it.
  const auto replace = [&](uint32_t out, Val by) {
    if (out != 0) e_->replace_uses(e_->host, fn.id(), out, fn.Op("Identity", {by}).id);
  };
  Reverse sweep(fn, context_);
  bool any = false;
  for (size_t k = 0; k < a.wrt.size(); ++k) {
    if (a.out[results.size() + k] == 0) continue;
    any = true;
    const auto i = static_cast<size_t>(a.wrt[k]);
    const ge_graph* g = e_->graph(e_->host, a.of);
    sweep.Want(params[i], NameOf(g, g->in[i]));
  }
  bool given = false;
  for (size_t i = 0; i < results.size(); ++i) {
    const uint32_t ct = params.size() + i < a.in.size() ? a.in[params.size() + i] : 0;
    given = given || ct != 0;
    if (ct != 0) sweep.Seed(results[i], fn.At(ct));
  }
  if (any && !given) sweep.Seed(results[0], fn.Fill(results[0], 1));
  if (any && !sweep.Run()) RefuseProblems(context_);
  for (size_t i = 0; i < results.size(); ++i) {
    replace(a.out[i], any ? sweep.Now(results[i].id) : results[i]);
  }
  for (size_t k = 0; k < a.wrt.size(); ++k) {
    const uint32_t out = a.out[results.size() + k];
    if (out == 0) continue;
    const Val p = params[static_cast<size_t>(a.wrt[k])];
    const Val gradient = sweep.Gradient(p);
    replace(out, gradient ? gradient : fn.Zeros(p));
  }
}

const ge_attr_def kExpandOptions[] = {TextSetting("recursion", "auto"),
                                      TextSetting("loop-checkpoint", "none")};
// Nobody else knows what the node means.
const ge_str kExpandAhead[] = {ge_text("sink-constants"), ge_text("drop-identity"),
                               ge_text("fold-shapes"),    ge_text("fold-constants"),
                               ge_text("drop-dead"),      ge_text("grad"),
                               ge_text("train"),          ge_text("parallel")};

}  // namespace

ge_pass_def ExpandGradientsPass() {
  ge_pass_def pass{};
  pass.h = GE_HDR(ge_pass_def, GE_TAG_PASS_DEF);
  pass.name = ge_text("expand-gradients");
  pass.summary = ge_text("puts ordinary nodes in the place of ge.Gradient");
  pass.kind = GE_PASS_DERIVE;
  pass.phases = GE_PHASE_LOAD;
  pass.before = kExpandAhead;
  pass.n_before = sizeof kExpandAhead / sizeof kExpandAhead[0];
  pass.option = kExpandOptions;
  pass.n_option = sizeof kExpandOptions / sizeof kExpandOptions[0];
  pass.run = [](const ge_edit* e, ge_err* err) {
    return Guard(
        err, [](const ge_edit* edit) { Expansion(edit).Run(); }, e);
  };
  return pass;
}

}  // namespace ge::grad
