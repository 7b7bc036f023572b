#include "plugins/cpu/kit/match.h"

#include <algorithm>
#include <cmath>

namespace ge_cpu {

namespace {

bool Near(float x, double want) { return std::fabs(x - want) <= 1e-4 * std::fabs(want); }

}  // namespace

size_t Matcher::At(uint32_t node) const {
  if (allowed_.empty() || node < allowed_.front() || node > allowed_.back()) return allowed_.size();
  const size_t dense = node - allowed_.front();  // its place where no node between is missing
  if (dense < allowed_.size() && allowed_[dense] == node) return dense;
  const auto it = std::lower_bound(allowed_.begin(), allowed_.end(), node);
  return *it == node ? static_cast<size_t>(it - allowed_.begin()) : allowed_.size();
}

bool Matcher::Is(uint32_t node, const char* op) const {
  return node != UINT32_MAX && Free(node) && gp::IsOp(p_.node(node), op);
}

bool Matcher::Users(uint32_t v, std::vector<uint32_t>* out) const {
  const ge_value& value = p_.value(v);
  if ((value.flags & GE_VALUE_OUTPUT) != 0) return false;
  out->assign(value.user, value.user + value.n_user);
  std::sort(out->begin(), out->end());
  out->erase(std::unique(out->begin(), out->end()), out->end());
  return !out->empty();
}

uint32_t Matcher::OnlyUser(uint32_t v) const {
  std::vector<uint32_t> users;
  if (!Users(v, &users) || users.size() != 1) return UINT32_MAX;
  return users[0];
}

bool Matcher::WithScalar(uint32_t node, const char* op, uint32_t v, float* scalar) const {
  if (!Is(node, op)) return false;
  const ge_node& n = p_.node(node);
  if (n.n_in != 2) return false;
  if (n.in[0] == v) return n.in[1] != v && p_.Scalar(n.in[1], scalar);
  return n.in[1] == v && std::string_view(op) != "Div" && p_.Scalar(n.in[0], scalar);
}

std::vector<Unit> Matcher::Cover() {
  std::vector<std::pair<Unit, std::vector<uint32_t>>> found;
  Why why;
  for (size_t i = 0; i < allowed_.size(); ++i) {
    Unit u;
    if (taken_[i] || !p_.Parse(allowed_[i], &u, &why)) continue;
    prefix_.clear();
    if (!LayerNorm(&u)) Extend(&u);
    for (uint32_t n : u.nodes) taken_[At(n)] = true;
    found.emplace_back(std::move(u), std::move(prefix_));
  }
  // A unit runs when its last node would: all that it reads has been made by then.
  std::stable_sort(found.begin(), found.end(), [](const auto& x, const auto& y) {
    return x.first.nodes.back() < y.first.nodes.back();
  });
  std::vector<Unit> units;
  prefixes_.clear();
  for (auto& [u, prefix] : found) {
    units.push_back(std::move(u));
    prefixes_.push_back(std::move(prefix));
  }
  return units;
}

// Equal, then Cast of the bools to float32.
void Matcher::CastOf(Unit* u) {
  const uint32_t n = OnlyUser(u->out[0]);
  if (!Is(n, "Cast") || p_.dtype(p_.node(n).out[0]) != GE_F32) return;
  u->nodes.push_back(n);
  u->out = {p_.node(n).out[0]};
}

void Matcher::Extend(Unit* u) {
  if (u->kind == Kind::kEqual) return CastOf(u);
  if (u->kind != Kind::kConv && u->kind != Kind::kMatMul && u->kind != Kind::kPointwise) return;
  while (Step(u)) {
  }
}

bool Matcher::Step(Unit* u) {
  std::vector<uint32_t> users;
  if (!Users(u->out[0], &users)) return false;
  for (uint32_t n : users) {
    if (!Free(n)) return false;
  }
  if (users.size() == 1) return Append(u, users[0]);
  if (users.size() == 2) return Diamond(u, users[0], users[1]);
  return false;
}

// A bias: a constant for each channel (Conv) or column (MatMul), before any other function.
bool Matcher::Bias(Unit* u, const Post& post) const {
  if (!u->posts.empty() || post.operand == 0 || !p_.constant(post.operand)) return false;
  if (post.fn != Fn::kAdd) return false;
  const Dims d = p_.dims(post.operand);
  const size_t rank = u->dims.size();
  const size_t axis = u->kind == Kind::kConv ? 1 : rank - 1;
  if (u->kind == Kind::kPointwise || d.size() > rank) return false;
  for (size_t k = 0; k < rank; ++k) {
    const int64_t have = k + d.size() < rank ? 1 : d[k + d.size() - rank];
    if (have != (k == axis ? u->dims[axis] : 1)) return false;
  }
  return true;
}

bool Matcher::Append(Unit* u, uint32_t node) {
  const uint32_t v = u->out[0];
  Unit next;
  Why why;
  if (!p_.Parse(node, &next, &why) || next.kind != Kind::kPointwise) return false;
  if (next.dims != u->dims) return false;
  Post& first = next.posts[0];
  if (next.in[0] != v) {  // the running tensor is the other operand
    if (first.operand != v) return false;
    first.operand = next.in[0];
    first.fn = first.fn == Fn::kSub    ? Fn::kRSub
               : first.fn == Fn::kRSub ? Fn::kSub
               : first.fn == Fn::kDiv  ? Fn::kRDiv
               : first.fn == Fn::kRDiv ? Fn::kDiv
                                       : first.fn;
  } else if (first.operand == v) {
    if (first.fn != Fn::kMul) return false;
    first = Post{Fn::kSquare, 0, 0, 0, nullptr};
  }
  if (first.operand != 0 && !p_.constant(first.operand)) {
    // It must be there before the unit starts.
    const uint32_t producer = p_.value(first.operand).producer;
    if (producer != UINT32_MAX && producer >= u->root) return false;
    if (prefix_.empty()) prefix_ = u->nodes;
  }
  if (Bias(u, first)) {
    u->bias.push_back(first.operand);
  } else if (u->posts.empty() && u->kind == Kind::kConv && first.fn == Fn::kLinear &&
             first.a == 1 && u->dims[1] == 1 && next.posts.size() == 1 &&
             gp::IsOp(p_.node(node), "Add")) {
    // Add of one element to one channel.
    const ge_node& n = p_.node(node);
    u->bias.push_back(n.in[0] == v ? n.in[1] : n.in[0]);
  } else {
    u->posts.insert(u->posts.end(), next.posts.begin(), next.posts.end());
  }
  u->nodes.push_back(node);
  u->out = next.out;
  return true;
}

// x * f(x) in two nodes, or a whole decomposed Gelu.
bool Matcher::Diamond(Unit* u, uint32_t first, uint32_t second) {
  const uint32_t v = u->out[0];
  if (Gelu(u, first, second)) return true;
  if (!Is(second, "Mul")) return false;
  Post p;
  if (Is(first, "Sigmoid")) {
    p.fn = Fn::kSwish;
  } else if (Is(first, "HardSigmoid")) {
    Unit f;
    Why why;
    if (!p_.Parse(first, &f, &why)) return false;
    p = f.posts[0];
    p.fn = Fn::kHardSwish;
  } else {
    return false;
  }
  const ge_node& f = p_.node(first);
  const ge_node& m = p_.node(second);
  const uint32_t y = f.out[0];
  if (f.in[0] != v || OnlyUser(y) != second || m.n_in != 2) return false;
  if (!(m.in[0] == v && m.in[1] == y) && !(m.in[0] == y && m.in[1] == v)) return false;
  u->posts.push_back(p);
  u->nodes.push_back(first);
  u->nodes.push_back(second);
  u->out = {m.out[0]};
  return true;
}

// x / sqrt 2 -> Erf -> + 1, and the product of x, that and 1/2 in any order.
bool Matcher::Gelu(Unit* u, uint32_t first, uint32_t second) {
  const uint32_t x = u->out[0];
  float c = 0;
  uint32_t scale = first, other = second;
  auto scaled = [&](uint32_t n) {
    return (WithScalar(n, "Div", x, &c) && Near(c, std::sqrt(2.0))) ||
           (WithScalar(n, "Mul", x, &c) && Near(c, std::sqrt(0.5)));
  };
  if (!scaled(scale)) std::swap(scale, other);
  if (!scaled(scale) || !Is(other, "Mul")) return false;
  const uint32_t erf = OnlyUser(p_.node(scale).out[0]);
  if (!Is(erf, "Erf")) return false;
  const uint32_t e = p_.node(erf).out[0], plus = OnlyUser(e);
  if (!WithScalar(plus, "Add", e, &c) || c != 1) return false;
  uint32_t y = p_.node(plus).out[0];
  std::vector<uint32_t> nodes = {scale, erf, plus};
  auto product = [&](uint32_t n, uint32_t p, uint32_t q) {
    if (!Is(n, "Mul")) return false;
    const ge_node& m = p_.node(n);
    return m.n_in == 2 && ((m.in[0] == p && m.in[1] == q) || (m.in[0] == q && m.in[1] == p));
  };
  uint32_t last = OnlyUser(y), out = 0;
  if (WithScalar(last, "Mul", y, &c) && c == 0.5f) {  // x * (half of y)
    nodes.push_back(last);
    y = p_.node(last).out[0];
    if (OnlyUser(y) != other || !product(other, x, y)) return false;
    nodes.push_back(other);
    out = p_.node(other).out[0];
  } else if (WithScalar(other, "Mul", x, &c) && c == 0.5f) {  // (half of x) * y
    const uint32_t h = p_.node(other).out[0];
    if (last == UINT32_MAX || OnlyUser(h) != last || !product(last, h, y)) return false;
    nodes.insert(nodes.end(), {other, last});
    out = p_.node(last).out[0];
  } else {  // half of (x * y)
    if (last != other || !product(other, x, y)) return false;
    const uint32_t xy = p_.node(other).out[0], half = OnlyUser(xy);
    if (!WithScalar(half, "Mul", xy, &c) || c != 0.5f) return false;
    nodes.insert(nodes.end(), {other, half});
    out = p_.node(half).out[0];
  }
  if (p_.dims(out) != u->dims) return false;
  u->posts.push_back(Post{Fn::kGelu, 0, 0, 0, nullptr});
  std::sort(nodes.begin(), nodes.end());  // all behind the node that makes x, which is the last
  u->nodes.insert(u->nodes.end(), nodes.begin(), nodes.end());
  u->out = {out};
  return true;
}

// mean = ReduceMean(x); d = x - mean; d / sqrt(ReduceMean(d^2) + eps) [* gamma [+ beta]].
bool Matcher::LayerNorm(Unit* u) {
  auto mean_of_last = [](const Unit& r, int64_t rank) {
    return r.kind == Kind::kReduce && r.reduce == Reduce::kMean && r.keep_dims && rank > 0 &&
           r.axes == Dims{rank - 1};
  };
  const uint32_t x = u->in[0];
  const Dims dims = p_.dims(x);
  const int64_t rank = static_cast<int64_t>(dims.size());
  if (!mean_of_last(*u, rank)) return false;
  const uint32_t sub = OnlyUser(u->out[0]);
  if (!Is(sub, "Sub") || p_.node(sub).in[0] != x || p_.node(sub).in[1] != u->out[0]) return false;
  const uint32_t d = p_.node(sub).out[0];
  std::vector<uint32_t> users;
  if (!Users(d, &users) || users.size() != 2) return false;
  uint32_t power = users[0], div = users[1];
  if (Is(power, "Div")) std::swap(power, div);
  float c = 0;
  const bool square = (WithScalar(power, "Pow", d, &c) && c == 2 && p_.node(power).in[0] == d) ||
                      (Is(power, "Mul") && p_.node(power).in[0] == d && p_.node(power).in[1] == d);
  if (!square || !Is(div, "Div") || p_.node(div).in[0] != d) return false;
  Unit second;
  Why why;
  const uint32_t mean2 = OnlyUser(p_.node(power).out[0]);
  if (!Is(mean2, "ReduceMean") || !p_.Parse(mean2, &second, &why)) return false;
  if (!mean_of_last(second, rank)) return false;
  float eps = 0;
  const uint32_t add = OnlyUser(second.out[0]);
  if (!WithScalar(add, "Add", second.out[0], &eps)) return false;
  const uint32_t root = OnlyUser(p_.node(add).out[0]);
  if (!Is(root, "Sqrt") || OnlyUser(p_.node(root).out[0]) != div) return false;
  if (p_.node(div).in[1] != p_.node(root).out[0]) return false;
  std::vector<uint32_t> nodes = {u->root, sub, power, mean2, add, root, div};
  uint32_t out = p_.node(div).out[0], factor[2] = {0, 0};
  const char* ops[2] = {"Mul", "Add"};
  for (int k = 0; k < 2; ++k) {
    const uint32_t n = OnlyUser(out);
    if (!Is(n, ops[k]) || p_.node(n).n_in != 2) break;
    const ge_node& m = p_.node(n);
    const uint32_t f = m.in[0] == out ? m.in[1] : m.in[0];
    if (!p_.constant(f) || p_.dims(f) != Dims{dims.back()}) break;
    factor[k] = f;
    nodes.push_back(n);
    out = m.out[0];
  }
  for (uint32_t n : nodes) {
    if (!Free(n)) return false;
  }
  std::sort(nodes.begin(), nodes.end());
  u->kind = Kind::kLayerNorm;
  u->nodes = nodes;
  u->in = {x, factor[0], factor[1]};
  u->out = {out};
  u->dims = dims;
  u->eps = eps;
  return true;
}

}  // namespace ge_cpu
