#include "plugins/units/attention/attention_group.h"

#include <algorithm>

#include "plugins/units/attention/attention.h"
#include "plugins/units/elementwise/pointwise.h"
#include "plugins/units/parser.h"

namespace ge_engines {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;

// From the last product back to the first.
class Search {
 public:
  Search(const Parser& g, Unit* u) : g_(g), u_(u) {}

  bool From(uint32_t product) {
    const ge_node& last = g_.node(product);
    if (!gp::IsOp(last, "MatMul") || last.n_in != 2) return false;
    u_->nodes = {product};
    u_->root = product;
    u_->out = {last.out[0]};
    u_->dims = g_.dims(last.out[0]);
    uint32_t v = last.in[0];
    if (!PassViews(&v)) return false;
    const uint32_t softmax = Take(v, "Softmax");
    if (softmax == kNobody || !OfLastAxis(softmax)) return false;
    v = g_.node(softmax).in[0];
    std::vector<uint32_t> steps;  // last first
    uint32_t first = kNobody;
    while ((first = Take(v, "MatMul")) == kNobody) {
      const uint32_t at = Between(v);
      if (at == kNobody) return false;
      steps.push_back(at);
      v = running_.back();
    }
    auto& s = u_->spec.emplace<AttendSpec>();
    u_->in = {g_.node(first).in[0], g_.node(first).in[1], last.in[1]};
    if (!Sizes(first, last, &s)) return false;
    for (size_t k = steps.size(); k-- > 0;) {
      if (!IsView(steps[k]) && !AddStep(steps[k], running_[k], &s)) return false;
    }
    std::sort(u_->nodes.begin(), u_->nodes.end());
    return true;
  }

 private:
  bool Alone(uint32_t v) const {  // one node reads it, once, and nobody else
    return g_.value(v).n_user == 1 && (g_.value(v).flags & GE_VALUE_OUTPUT) == 0;
  }
  bool IsView(uint32_t node) const {
    const ge_node& n = g_.node(node);
    return gp::IsOp(n, "Reshape") || gp::IsOp(n, "Unsqueeze") || gp::IsOp(n, "Squeeze");
  }
  bool IsScalar(uint32_t v, float* value) const { return g_.Scalar(v, value); }

  // The node that makes v for this unit alone, if it is such a one.
  uint32_t Take(uint32_t v, const char* op) {
    const uint32_t at = g_.value(v).producer;
    if (at == kNobody || !Alone(v) || !gp::IsOp(g_.node(at), op)) return kNobody;
    u_->nodes.push_back(at);
    return at;
  }
  // Views whose last axis stays.
  bool PassViews(uint32_t* v) {
    for (;;) {
      const uint32_t at = g_.value(*v).producer;
      if (at == kNobody || !Alone(*v)) return false;
      if (!IsView(at)) return true;
      if (!SameKeys(*v, g_.node(at).in[0])) return false;
      u_->nodes.push_back(at);
      *v = g_.node(at).in[0];
    }
  }
  bool SameKeys(uint32_t a, uint32_t b) const {
    const Dims x = g_.dims(a), y = g_.dims(b);
    return !x.empty() && !y.empty() && x.back() == y.back();
  }
  bool OfLastAxis(uint32_t softmax) const {
    const auto rank = static_cast<int64_t>(g_.dims(g_.node(softmax).out[0]).size());
    const int64_t axis = gp::AttrInt(g_.node(softmax), "axis");
    return axis == -1 || axis == rank - 1;
  }

  // A node that makes scores of scores; the value that it makes them of goes to running_.
  uint32_t Between(uint32_t v) {
    const uint32_t at = g_.value(v).producer;
    if (at == kNobody || !Alone(v)) return kNobody;
    const ge_node& n = g_.node(at);
    uint32_t from = 0;
    float fill = 0;
    if (IsView(at)) {
      if (!SameKeys(v, n.in[0])) return kNobody;
      from = n.in[0];
    } else if (gp::IsOp(n, "Where")) {
      if (n.n_in != 3) return kNobody;
      from = IsScalar(n.in[2], &fill) ? n.in[1] : n.in[2];
      if (!IsScalar(from == n.in[1] ? n.in[2] : n.in[1], &fill)) return kNobody;
    } else {
      from = ScoresOf(n, v);
    }
    if (from == 0 || g_.constant(from) || (!IsView(at) && g_.dims(from) != g_.dims(v)))
      return kNobody;
    u_->nodes.push_back(at);
    running_.push_back(from);
    return at;
  }
  // Of two operands the one that a product makes in the end: masks come from elsewhere.
  uint32_t ScoresOf(const ge_node& n, uint32_t v) const {
    if (n.n_in == 1) return n.in[0];
    for (uint32_t i = 0; i < std::min<uint32_t>(n.n_in, 2); ++i) {
      const uint32_t x = n.in[i];
      if (g_.constant(x) || g_.dims(x) != g_.dims(v) || !Alone(x)) continue;
      uint32_t at = g_.value(x).producer;
      for (int hops = 0; at != kNobody && hops < 8; ++hops) {
        const ge_node& made = g_.node(at);
        if (gp::IsOp(made, "MatMul")) return x;
        const bool passes = IsView(at) || gp::IsOp(made, "Tanh") || gp::IsOp(made, "Mul") ||
                            gp::IsOp(made, "Div") || gp::IsOp(made, "Add") ||
                            gp::IsOp(made, "Where");
        if (!passes || made.n_in == 0) break;
        const uint32_t next = gp::IsOp(made, "Where") ? made.in[1] : made.in[0];
        at = next == 0 ? kNobody : g_.value(next).producer;
      }
    }
    return 0;
  }

  bool Sizes(uint32_t first, const ge_node& last, AttendSpec* s) const {
    const ge_node& n = g_.node(first);
    const Dims q = g_.dims(n.in[0]), k = g_.dims(n.in[1]), v = g_.dims(last.in[1]);
    const Dims scores = g_.dims(n.out[0]), shares = g_.dims(last.in[0]);
    if (q.size() < 3 || k.size() != q.size() || v.size() < 3 || shares.size() != v.size()) {
      return false;
    }
    const auto leading = [](const Dims& d) { return Dims(d.begin(), d.end() - 2); };
    if (leading(q) != leading(k) || leading(shares) != leading(v)) return false;
    s->batch = Product(leading(k));
    s->rows = q[q.size() - 2];
    s->size = q.back();
    s->keys = k.back();
    s->v_size = v.back();
    if (Product(leading(v)) != s->batch || v[v.size() - 2] != s->keys || shares.back() != s->keys ||
        shares[shares.size() - 2] != s->rows || scores.back() != s->keys) {
      return false;
    }
    s->of_product = true;
    s->q = {s->rows * s->size, 0, s->size};
    s->k = {s->keys * s->size, 0, 0};
    s->v = {s->keys * s->v_size, 0, s->v_size};
    s->y = {s->rows * s->v_size, 0, s->v_size};
    return true;
  }

  // Elements of an operand along the axes of scores of these dims.
  bool Strides(uint32_t operand, const Dims& scores, ScoreStep* step) const {
    Dims d = g_.dims(operand);
    if (d.size() > scores.size()) return false;
    d.insert(d.begin(), scores.size() - d.size(), 1);
    step->view = Dims(scores.begin(), scores.end() - 1);
    step->step.assign(step->view.size(), 0);
    step->key_step = d.back() == 1 && scores.back() != 1 ? 0 : 1;
    int64_t stride = d.back();
    for (size_t i = d.size() - 1; i-- > 0; stride *= d[i]) {
      if (d[i] != 1 && d[i] != scores[i]) return false;
      step->step[i] = d[i] == 1 ? 0 : stride;
    }
    return d.back() == 1 || d.back() == scores.back();
  }

  bool AddOperand(uint32_t operand, const Dims& scores, ScoreStep step, AttendSpec* s) const {
    if (!Strides(operand, scores, &step)) return false;
    step.operand = u_->in.size();
    u_->in.push_back(operand);
    s->steps.push_back(std::move(step));
    return true;
  }

  bool AddStep(uint32_t at, uint32_t from, AttendSpec* s) const {
    const ge_node& n = g_.node(at);
    const Dims scores = g_.dims(n.out[0]);
    ScoreStep step;
    if (gp::IsOp(n, "Where")) {
      step.kind = ScoreStep::kWhere;
      step.keep = from == n.in[1];
      if (!IsScalar(step.keep ? n.in[2] : n.in[1], &step.a)) return false;
      return g_.dtype(n.in[0]) == GE_BOOL && AddOperand(n.in[0], scores, step, s);
    }
    Unit made;
    Why why;
    if (!g_.Parse(at, &made, &why) || !Is<PointwiseSpec>(made)) return false;
    for (size_t k = 0; k < made.post_ops.size(); ++k) {
      const PostOp& post = made.post_ops[k];
      if (post.channel != nullptr) return false;
      step.fn = post.fn;
      step.a = post.a;
      step.b = post.b;
      if (!post.binary()) {
        s->steps.push_back(step);
        continue;
      }
      const bool either = post.fn == Fn::kAdd || post.fn == Fn::kMul;
      const bool transposed = k == 0 && made.in[0] != from;
      if (transposed && (!either || post.operand != from)) return false;
      const uint32_t operand = transposed ? made.in[0] : post.operand;
      if (operand == from || operand == 0) return false;
      step.kind = ScoreStep::kBinary;
      if (!AddOperand(operand, scores, step, s)) return false;
      step.kind = ScoreStep::kUnary;
    }
    return true;
  }

  const Parser& g_;
  Unit* u_;
  std::vector<uint32_t> running_;  // by step: what it is done to
};

}  // namespace

bool GroupOfAttention(const Parser& parser, uint32_t product, Unit* unit) {
  return Search(parser, unit).From(product);
}

}  // namespace ge_engines
