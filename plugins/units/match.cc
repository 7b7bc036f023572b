#include "plugins/units/match.h"

#include <algorithm>

namespace ge_engines {

size_t Matcher::At(uint32_t node) const {
  if (allowed_.empty() || node < allowed_.front() || node > allowed_.back()) return allowed_.size();
  const size_t dense = node - allowed_.front();  // its place where no node between is missing
  if (dense < allowed_.size() && allowed_[dense] == node) return dense;
  const auto it = std::lower_bound(allowed_.begin(), allowed_.end(), node);
  return *it == node ? static_cast<size_t>(it - allowed_.begin()) : allowed_.size();
}

bool Matcher::IsFree(uint32_t node, const char* op) const {
  return node != UINT32_MAX && Free(node) && gp::IsOp(p_.node(node), op);
}

bool Matcher::Users(uint32_t given, Ids* out) const {
  const ge_value& value = p_.value(given);
  if ((value.flags & GE_VALUE_OUTPUT) != 0) return false;
  out->assign(value.user, value.user + value.n_user);
  std::sort(out->begin(), out->end());
  out->erase(std::unique(out->begin(), out->end()), out->end());
  return !out->empty();
}

uint32_t Matcher::OnlyUser(uint32_t value) const {
  Ids users;
  if (!Users(value, &users) || users.size() != 1) return UINT32_MAX;
  return users[0];
}

std::vector<Unit> Matcher::Cover() {
  std::vector<std::pair<Unit, Ids>> found;
  found.reserve(allowed_.size());
  Why why;
  for (size_t i = 0; i < allowed_.size(); ++i) {
    Unit u;
    if (!Group(i, &u)) continue;
    for (uint32_t n : u.nodes) taken_[At(n)] = true;
    found.emplace_back(std::move(u), Ids());
  }
  const auto take = [&](Unit u) {
    prefix_.clear();
    Extend(&u);
    for (uint32_t n : u.nodes) taken_[At(n)] = true;
    found.emplace_back(std::move(u), std::move(prefix_));
  };
  for (size_t i = 0; p_.widens() && i < allowed_.size(); ++i) {
    Unit u;
    if (!taken_[i] && p_.Widen(*this, allowed_[i], &u)) take(std::move(u));
  }
  for (size_t i = 0; i < allowed_.size(); ++i) {
    Unit u;
    if (!taken_[i] && p_.Parse(allowed_[i], &u, &why)) take(std::move(u));
  }
  // A unit runs when its last node would: all that it reads has been made by then.
  std::vector<std::pair<uint32_t, size_t>> order;  // last nodes differ
  order.reserve(found.size());
  for (size_t i = 0; i < found.size(); ++i) order.emplace_back(found[i].first.nodes.back(), i);
  std::sort(order.begin(), order.end());
  std::vector<Unit> units;
  units.reserve(found.size());
  prefixes_.clear();
  prefixes_.reserve(found.size());
  for (const auto& [last, i] : order) {
    units.push_back(std::move(found[i].first));
    prefixes_.push_back(std::move(found[i].second));
  }
  return units;
}

bool Matcher::Group(size_t i, Unit* unit) const {
  return p_.Group(allowed_[i], unit) &&
         std::all_of(unit->nodes.begin(), unit->nodes.end(), [&](uint32_t n) { return Free(n); });
}

// Then Cast of its bools to float32.
void Matcher::CastOf(Unit* unit) {
  const uint32_t n = OnlyUser(unit->out[0]);
  if (!IsFree(n, "Cast") || p_.dtype(p_.node(n).out[0]) != GE_F32) return;
  unit->nodes.push_back(n);
  unit->out = {p_.node(n).out[0]};
}

void Matcher::Extend(Unit* unit) {
  if (unit->kind().joins_cast) return CastOf(unit);
  if (unit->kind().post_ops == PostOps::kNone) return;
  while (Step(unit)) {
  }
}

bool Matcher::Step(Unit* unit) {
  Ids users;
  if (!Users(unit->out[0], &users)) return false;
  for (uint32_t n : users) {
    if (!Free(n)) return false;
  }
  if (users.size() == 1) return Append(unit, users[0]);
  if (users.size() == 2) return Diamond(unit, users[0], users[1]);
  return false;
}

// A bias: a constant for each channel (Conv) or column (MatMul), before any other function.
bool Matcher::Bias(Unit* unit, const PostOp& post) const {
  if (!unit->post_ops.empty() || post.operand == 0 || !p_.constant(post.operand)) return false;
  if (post.fn != Fn::kAdd) return false;
  if (unit->bias_factor != 1) return false;  // Gemm's beta is of its own C alone
  const bool channels = unit->kind().post_ops == PostOps::kChannels;
  if (channels && unit->in.size() > 2) return false;  // it has one that is not constant
  const Dims d = p_.dims(post.operand);
  const size_t rank = unit->dims.size();
  const size_t axis = channels ? 1 : rank - 1;
  if (unit->kind().post_ops == PostOps::kPlain || d.size() > rank) return false;
  for (size_t k = 0; k < rank; ++k) {
    const int64_t have = k + d.size() < rank ? 1 : d[k + d.size() - rank];
    if (have != (k == axis ? unit->dims[axis] : 1)) return false;
  }
  return true;
}

bool Matcher::Append(Unit* unit, uint32_t node) {
  const uint32_t v = unit->out[0];
  Unit next;
  Why why;
  if (!p_.Parse(node, &next, &why) || next.kind().post_ops != PostOps::kPlain) {
    return false;
  }
  if (next.dims != unit->dims) return false;
  PostOp& first = next.post_ops[0];
  bool waits = false;  // for a value that must be there before the unit starts
  for (size_t k = 1; k < next.post_ops.size(); ++k) {
    const uint32_t operand = next.post_ops[k].operand;
    if (operand == 0 || p_.constant(operand)) continue;
    const uint32_t producer = p_.value(operand).producer;
    // What reads the running tensor once more would read what is never stored.
    if (operand == v || (producer != UINT32_MAX && producer >= unit->root)) return false;
    waits = true;
  }
  if (next.in[0] != v) {  // the running tensor is the other operand
    if (first.operand != v) return false;
    first.operand = next.in[0];
    first.fn = first.fn == Fn::kSub     ? Fn::kRSub
               : first.fn == Fn::kRSub  ? Fn::kSub
               : first.fn == Fn::kDiv   ? Fn::kRDiv
               : first.fn == Fn::kRDiv  ? Fn::kDiv
               : first.fn == Fn::kGate  ? Fn::kRGate
               : first.fn == Fn::kRGate ? Fn::kGate
               : first.fn == Fn::kPow   ? Fn::kRPow
               : first.fn == Fn::kRPow  ? Fn::kPow
               : first.fn == Fn::kFmod  ? Fn::kRFmod
               : first.fn == Fn::kRFmod ? Fn::kFmod
               : first.fn == Fn::kMod   ? Fn::kRMod
               : first.fn == Fn::kRMod  ? Fn::kMod
                                        : first.fn;
  } else if (first.operand == v) {
    if (first.fn != Fn::kMul) return false;
    first = PostOp{Fn::kSquare, 0, 0, 0, nullptr};
  }
  if (first.operand != 0 && !p_.constant(first.operand)) {
    const uint32_t producer = p_.value(first.operand).producer;
    if (producer != UINT32_MAX && producer >= unit->root) return false;
    waits = true;
  }
  if (waits && prefix_.empty()) prefix_ = unit->nodes;
  if (Bias(unit, first)) {
    unit->bias.push_back(first.operand);
  } else if (unit->post_ops.empty() && unit->kind().post_ops == PostOps::kChannels &&
             unit->in.size() < 3 && first.fn == Fn::kLinear && first.a == 1 && unit->dims[1] == 1 &&
             next.post_ops.size() == 1 && gp::IsOp(p_.node(node), "Add")) {
    // Add of one element to one channel.
    const ge_node& n = p_.node(node);
    unit->bias.push_back(n.in[0] == v ? n.in[1] : n.in[0]);
  } else {
    unit->post_ops.insert(unit->post_ops.end(), next.post_ops.begin(), next.post_ops.end());
  }
  unit->nodes.push_back(node);
  unit->out = next.out;
  return true;
}

// x * f(x) in two nodes.
bool Matcher::Diamond(Unit* unit, uint32_t first, uint32_t second) {
  const uint32_t v = unit->out[0];
  if (!IsFree(second, "Mul")) return false;
  PostOp p;
  if (IsFree(first, "Sigmoid")) {
    p.fn = Fn::kSwish;
  } else if (IsFree(first, "HardSigmoid")) {
    Unit f;
    Why why;
    if (!p_.Parse(first, &f, &why)) return false;
    p = f.post_ops[0];
    p.fn = Fn::kHardSwish;
  } else {
    return false;
  }
  const ge_node& f = p_.node(first);
  const ge_node& m = p_.node(second);
  const uint32_t y = f.out[0];
  if (f.in[0] != v || OnlyUser(y) != second || m.n_in != 2) return false;
  if (!(m.in[0] == v && m.in[1] == y) && !(m.in[0] == y && m.in[1] == v)) return false;
  unit->post_ops.push_back(p);
  unit->nodes.push_back(first);
  unit->nodes.push_back(second);
  unit->out = {m.out[0]};
  return true;
}

}  // namespace ge_engines
