#include "passes/grad/reverse.h"

#include <algorithm>

namespace ge::grad {

namespace {

bool ZeroInput(const Rule& rule, uint32_t i) {
  for (const NoGradient& n : rule.none) {
    if (!n.error && (n.input == i || n.input == kAllInputs)) return true;
  }
  return false;
}

const char* ErrorInput(const Rule& rule, uint32_t i) {
  for (const NoGradient& n : rule.none) {
    if (n.error && (n.input == i || n.input == kAllInputs)) return n.reason;
  }
  return nullptr;
}

const Rule* RuleOf(const ge_node& n) {
  return FindRule(plugin::View(n.domain), plugin::View(n.op));
}

ge_rule Question(const Fn& fn, const ge_node& n, uint32_t kind) {
  ge_rule rule{};
  rule.h = GE_HDR(ge_rule, GE_TAG_RULE);
  rule.fn = fn.id();
  rule.node = n.id;
  rule.kind = kind;
  return rule;
}

bool HasRule(const Fn& fn, const ge_node& n, uint32_t kind) {
  const ge_rule rule = Question(fn, n, kind);
  return fn.edit()->rule(fn.edit()->host, &rule) == GE_OK;
}

}  // namespace

bool IsFlow(const ge_node& n) { return n.n_body > 0; }

void Reverse::Seed(Val value, Val ct) { seeds_[value.id].push_back(ct); }

Val Reverse::Now(uint32_t value) {
  auto found = moved_.find(value);
  while (found != moved_.end()) {
    value = found->second;
    found = moved_.find(value);
  }
  return fn_.At(value);
}

// ---- what the sweep goes through

bool Reverse::Active(const ge_node& n) const {
  const Rule* rule = IsFlow(n) ? nullptr : RuleOf(n);
  for (uint32_t i = 0; i < n.n_in; ++i) {
    if (n.in[i] != 0 && active_[n.in[i]] && (rule == nullptr || !ZeroInput(*rule, i))) return true;
  }
  return false;
}

// Whether a gradient may go through a result of an active node: floats; what is no tensor, so that
// it is refused and not lost; whole numbers that stand for floats, which QuantizeLinear made (its
// gradient goes straight through), and what is made of such.
bool Reverse::Carries(const ge_node& n, int32_t dtype) const {
  if (IsFloat(dtype) || dtype == 0) return true;
  if (ge_is(n.op, "QuantizeLinear")) return true;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    const uint32_t v = n.in[i];
    if (v != 0 && active_[v] && !IsFloat(GE_VALUE(g_, v)->type.dtype)) return true;
  }
  return false;
}

void Reverse::FindActive() {
  active_.assign(g_->n_value, 0);
  for (const auto& [v, name] : wants_) {
    if (v < g_->n_value) active_[v] = 1;
  }
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    if (!Active(n)) continue;
    for (uint32_t k = 0; k < n.n_out; ++k) {
      if (n.out[k] != 0 && Carries(n, GE_VALUE(g_, n.out[k])->type.dtype)) active_[n.out[k]] = 1;
    }
  }
}

void Reverse::FindNeeded() {
  needed_.assign(g_->n_value, 0);
  for (const auto& [v, cts] : seeds_) {
    if (v < g_->n_value) needed_[v] = 1;
  }
  for (uint32_t i = g_->n_node; i-- > 0;) {
    const ge_node& n = *GE_NODE(g_, i);
    bool needed = false;
    for (uint32_t k = 0; k < n.n_out; ++k) needed = needed || (n.out[k] && needed_[n.out[k]]);
    for (uint32_t k = 0; needed && k < n.n_in; ++k) {
      if (n.in[k] != 0 && active_[n.in[k]]) needed_[n.in[k]] = 1;
    }
  }
}

// By output; empty where it has none.
std::vector<uint32_t> Reverse::PartsOf(const ge_node& n) {
  std::vector<uint32_t> made(n.n_out);
  const Rule* rule = RuleOf(n);
  if (rule == nullptr) {
    ge_rule question = Question(fn_, n, GE_RULE_DECOMPOSE);
    question.before = n.id;
    question.made = made.data();
    question.n_made = n.n_out;
    const ge_edit* e = fn_.edit();
    return e->rule(e->host, &question) == GE_OK ? made : std::vector<uint32_t>{};
  }
  if (rule->apart == nullptr) return {};
  Back back = BackOf(n, std::vector<Val>(n.n_out), Wanted(n));
  fn_.PutBefore(n.id);
  const std::vector<Val> parts = rule->apart(back);
  fn_.PutBefore(0);
  if (parts.empty() || !back.failed().empty()) return {};
  for (size_t k = 0; k < made.size() && k < parts.size(); ++k) made[k] = parts[k].id;
  return made;
}

bool Reverse::TakeApart(const ge_node& n) {
  const std::vector<uint32_t> made = PartsOf(n);
  if (made.empty()) return false;
  std::vector<Val> parts;
  for (const uint32_t v : made) parts.push_back(v != 0 ? fn_.At(v) : Val{});
  Supplant(n, parts);
  return true;
}

void Reverse::Supplant(const ge_node& n, const std::vector<Val>& made) {
  const ge_edit* e = fn_.edit();
  for (uint32_t k = 0; k < n.n_out; ++k) {
    if (n.out[k] == 0 || !made[k]) continue;
    e->replace_uses(e->host, fn_.id(), n.out[k], made[k].id);
    const auto seed = seeds_.find(n.out[k]);
    if (seed != seeds_.end()) {
      seeds_[made[k].id] = seed->second;
      seeds_.erase(n.out[k]);
    }
    moved_[n.out[k]] = made[k].id;
  }
  e->erase(e->host, fn_.id(), n.id);
}

// One node in a picture, since it may change what another one is.
bool Reverse::Resolve() {
  g_ = fn_.Picture();
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    if (ResolveFunction(*this, g_, n) || ResolveSequence(*this, g_, n)) return true;
  }
  return false;
}

// True where the function is other than it was.
bool Reverse::Prepare() {
  g_ = fn_.Picture();
  FindActive();
  FindNeeded();
  bool changed = false;
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    bool through = false;
    for (uint32_t k = 0; k < n.n_out; ++k) {
      through = through || (n.out[k] && active_[n.out[k]] && needed_[n.out[k]]);
    }
    if (!through || IsFlow(n)) continue;
    const Rule* rule = RuleOf(n);
    if (rule != nullptr ? rule->apart == nullptr : HasRule(fn_, n, GE_RULE_GRAD)) continue;
    changed = TakeApart(n) || changed;
  }
  return changed;
}

// ---- the sweep

bool Reverse::Run() {
  while (Resolve()) continue;
  // Parts may have parts: as deep as decompositions nest.
  for (int depth = 0; depth < 8 && Prepare(); ++depth) continue;
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    last_forward_ = std::max(last_forward_, GE_NODE(g_, i)->id);
  }
  cts_.assign(g_->n_value, {});
  for (const auto& [v, cts] : seeds_) cts_[v] = cts;
  for (uint32_t i = g_->n_node; i-- > 0;) {
    const ge_node& n = *GE_NODE(g_, i);
    bool through = false;
    for (uint32_t k = 0; k < n.n_out; ++k) {
      through = through || (n.out[k] && active_[n.out[k]] && !cts_[n.out[k]].empty());
    }
    if (!through || !Active(n)) continue;
    fn_.Derive(n.id);
    Through(n);
  }
  fn_.Derive(0);
  return ok_;
}

Val Reverse::Gradient(Val value) {
  if (value.id >= cts_.size() || cts_[value.id].empty()) return {};
  const Val sum = fn_.Sum(cts_[value.id]);
  cts_[value.id] = {sum};
  return sum;
}

void Reverse::Add(uint32_t value, Val ct) {
  if (ct && value != 0) cts_[value].push_back(ct);
}

std::vector<Val> Reverse::Cotangents(const ge_node& n) {
  std::vector<Val> cts;
  for (uint32_t k = 0; k < n.n_out; ++k) {
    cts.push_back(n.out[k] != 0 && active_[n.out[k]] ? Gradient(fn_.At(n.out[k])) : Val{});
  }
  return cts;
}

std::vector<bool> Reverse::Wanted(const ge_node& n) {
  std::vector<bool> wants;
  for (uint32_t i = 0; i < n.n_in; ++i) wants.push_back(n.in[i] != 0 && active_[n.in[i]]);
  return wants;
}

void Reverse::Replace(const ge_node& n, uint32_t to, const std::vector<Val>& made) {
  const ge_edit* e = fn_.edit();
  for (uint32_t k = 0; k < n.n_out; ++k) {
    if (n.out[k] == 0) continue;
    e->replace_uses(e->host, fn_.id(), n.out[k], made[k].id);
    moved_[n.out[k]] = made[k].id;
  }
  e->erase(e->host, fn_.id(), n.id);
  forward_.insert(to);
  fn_.Derive(to);
}

void Reverse::Through(const ge_node& n) {
  if (BackThroughFlow(*this, n)) return;
  std::vector<Val> cts = Cotangents(n);
  std::vector<bool> wants = Wanted(n);
  const Rule* rule = RuleOf(n);
  if (rule == nullptr) {
    const bool brought = HasRule(fn_, n, GE_RULE_GRAD);
    if (brought && OwnRule(n, cts, wants)) return;
    return Problem(n, brought ? "the rule that its plugin brings has no legal answer"
                              : "no rule says how its gradient is built");
  }
  for (uint32_t i = 0; i < n.n_in; ++i) {
    if (ZeroInput(*rule, i)) wants[i] = false;
    const char* why = wants[i] ? ErrorInput(*rule, i) : nullptr;
    if (why != nullptr) return Problem(n, why);
  }
  if (std::none_of(wants.begin(), wants.end(), [](bool w) { return w; })) return;
  Back back = BackOf(n, std::move(cts), std::move(wants));
  if (rule->back != nullptr) rule->back(back);
  if (rule->back == nullptr) {
    rule->apart(back);
    back.Fail("it cannot be taken apart");
  }
  if (!back.failed().empty()) return Problem(n, back.failed());
  for (uint32_t i = 0; i < n.n_in; ++i) Add(n.in[i], back.given()[i]);
}

Back Reverse::BackOf(const ge_node& n, std::vector<Val> cts, std::vector<bool> wants) {
  std::vector<Val> in, out;
  for (uint32_t i = 0; i < n.n_in; ++i) in.push_back(n.in[i] ? Now(n.in[i]) : Val{});
  for (uint32_t k = 0; k < n.n_out; ++k) out.push_back(n.out[k] ? Now(n.out[k]) : Val{});
  Back back(fn_, n, std::move(in), std::move(out), std::move(cts), std::move(wants), &context_);
  if (!plugin::IsOp(n, "MatMul")) return back;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    const uint32_t from = BeforeSwap(n.in[i]);
    if (from != 0) back.SetTurned(i, Now(from));
  }
  return back;
}

// Of a Transpose that exchanges the last two axes, what it reads; else 0.
uint32_t Reverse::BeforeSwap(uint32_t value) const {
  const uint32_t producer = value == 0 ? UINT32_MAX : GE_VALUE(g_, value)->producer;
  if (producer == UINT32_MAX) return 0;
  const ge_node& n = *GE_NODE(g_, producer);
  const ge_attr* perm = ge_find_attr(&n, "perm");
  if (!plugin::IsOp(n, "Transpose") || perm == nullptr || perm->n < 2) return 0;
  for (uint32_t i = 0; i < perm->n; ++i) {
    const uint32_t to = i + 2 == perm->n ? i + 1 : i + 1 == perm->n ? i - 1 : i;
    if (perm->ints[i] != static_cast<int64_t>(to)) return 0;
  }
  return n.in[0];
}

// The rule that a plugin's operator brings.
bool Reverse::OwnRule(const ge_node& n, const std::vector<Val>& cts,
                      const std::vector<bool>& wants) {
  std::vector<uint32_t> given, made(n.n_in), in, out;
  for (const Val ct : cts) given.push_back(ct.id);
  for (uint32_t i = 0; i < n.n_in; ++i) in.push_back(n.in[i] ? Now(n.in[i]).id : 0);
  for (uint32_t k = 0; k < n.n_out; ++k) out.push_back(n.out[k] ? Now(n.out[k]).id : 0);
  ge_rule rule = Question(fn_, n, GE_RULE_GRAD);
  rule.in_value = in.data();
  rule.out_value = out.data();
  rule.given = given.data();
  rule.n_given = n.n_out;
  rule.made = made.data();
  rule.n_made = n.n_in;
  rule.before = fn_.end();
  if (fn_.edit()->rule(fn_.edit()->host, &rule) != GE_OK) return false;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    if (wants[i] && made[i] != 0) Add(n.in[i], fn_.SumTo(fn_.At(made[i]), Now(n.in[i])));
  }
  return true;
}

// ---- what has no gradient

std::string Reverse::Where(const ge_node& n) const {
  std::string text = n.domain.n ? std::string(plugin::View(n.domain)) + "." : std::string();
  text += plugin::View(n.op);
  if (n.name.n) text += " '" + std::string(plugin::View(n.name)) + "'";
  return text;
}

// Names the way: from the node up to the value that is wanted, and down to the seed.
void Reverse::Problem(const ge_node& n, std::string_view why) {
  ok_ = false;
  if (context_.problems.size() >= 20) return;
  std::string way;
  const ge_node* at = &n;
  for (int steps = 0; at != nullptr && steps < 6; ++steps) {
    const ge_node* above = nullptr;
    for (uint32_t i = 0; i < at->n_in && above == nullptr; ++i) {
      const uint32_t v = at->in[i];
      if (v == 0 || !active_[v]) continue;
      const ge_value& value = *GE_VALUE(g_, v);
      if (wants_.count(v) != 0) {
        const std::string& name = wants_[v];
        way += " <- '" + (name.empty() ? std::string(plugin::View(value.name)) : name) + "'";
        at = nullptr;
        break;
      }
      if (value.producer != UINT32_MAX) above = GE_NODE(g_, value.producer);
    }
    if (at == nullptr || above == nullptr) break;
    way += " <- " + Where(*above);
    at = above;
  }
  context_.problems.push_back(Where(n) + way + ": " + std::string(why));
}

}  // namespace ge::grad
