#include "passes/grad/control/joint.h"

#include <algorithm>
#include <unordered_map>

#include "passes/grad/kit.h"

namespace ge::grad {

std::string KeyOf(uint32_t fn, const std::vector<bool>& active, const std::vector<bool>& seeded) {
  std::string key = std::to_string(fn) + ':';
  for (const bool b : active) key += b ? '1' : '0';
  key += ':';
  for (const bool b : seeded) key += b ? '1' : '0';
  return key;
}

std::shared_ptr<Joint> Joint::Of(Context& context, uint32_t fn, const std::vector<bool>& active,
                                 const std::vector<bool>& seeded) {
  const std::string key = KeyOf(fn, active, seeded) + (context.again ? ":again" : "");
  const auto found = context.joints.find(key);
  if (found != context.joints.end()) return found->second;
  if (std::count(context.stack.begin(), context.stack.end(), key) != 0) {
    context.problems.push_back(
        "a function calls itself and is not marked as one that does (recursive)");
    return nullptr;
  }
  const ge_edit* e = context.edit;
  uint32_t copy = 0;
  const std::string name = "grad.joint." + std::to_string(++context.next_name);
  e->copy(e->host, fn, plugin::Str(name), &copy);
  context.stack.push_back(key);
  std::shared_ptr<Joint> joint(new Joint(context, copy));
  const bool ok = joint->Derive(active, seeded);
  context.stack.pop_back();
  if (!ok) joint = nullptr;
  context.joints[key] = joint;
  return joint;
}

bool Joint::Derive(const std::vector<bool>& active, const std::vector<bool>& seeded) {
  const ge_graph* g = fn_.Picture();
  if (g == nullptr) return false;
  params_.assign(g->in, g->in + g->n_in);
  results_.assign(g->out, g->out + g->n_out);
  Reverse sweep(fn_, context_);
  for (size_t i = 0; i < params_.size(); ++i) {
    if (active[i]) sweep.Want(fn_.At(params_[i]));
  }
  cts_.assign(results_.size(), 0);
  for (size_t i = 0; i < results_.size(); ++i) {
    if (!seeded[i]) continue;
    const Val ct = fn_.Param("ct." + std::to_string(i), fn_.TypeOf(fn_.At(results_[i])));
    cts_[i] = ct.id;
    sweep.Seed(fn_.At(results_[i]), ct);
  }
  if (!sweep.Run()) return false;
  for (size_t i = 0; i < params_.size(); ++i) {
    gradients_.push_back(active[i] ? sweep.Gradient(fn_.At(params_[i])).id : 0);
    gives_.push_back(gradients_.back() != 0);
  }
  for (uint32_t& r : results_) {
    reached_.push_back(sweep.IsActive(r));
    r = sweep.Now(r).id;
    result_types_.push_back(fn_.TypeOf(fn_.At(r)));
  }
  Cut(sweep);
  return true;
}

void Joint::Cut(const Reverse& sweep) {
  g_ = fn_.Picture();
  if (g_ == nullptr) return;
  std::vector<char> is_back(g_->n_node), wanted(g_->n_value);
  for (uint32_t i = 0; i < g_->n_node; ++i) is_back[i] = !sweep.IsForward(GE_NODE(g_, i)->id);
  for (const uint32_t v : gradients_) wanted[v] = v != 0;
  reads_.assign(params_.size(), false);
  for (uint32_t i = g_->n_node; i-- > 0;) {
    const ge_node& n = *GE_NODE(g_, i);
    bool used = false;
    for (uint32_t k = 0; k < n.n_out; ++k) used = used || (n.out[k] && wanted[n.out[k]]);
    if (!is_back[i] || !used) continue;
    back_.push_back(i);
    for (uint32_t k = 0; k < n.n_in; ++k) wanted[n.in[k]] = n.in[k] != 0;
  }
  std::reverse(back_.begin(), back_.end());
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    if (!is_back[i]) forward_.push_back(i);
  }
  FindTrips();
  const ShapeNeeds sizes(g_, params_);
  for (uint32_t v = 1; v < g_->n_value; ++v) {
    const ge_value& value = *GE_VALUE(g_, v);
    if (!wanted[v] || (value.flags & GE_VALUE_CONSTANT) != 0) continue;
    const auto param = std::find(params_.begin(), params_.end(), v);
    if (param != params_.end()) reads_[static_cast<size_t>(param - params_.begin())] = true;
    if (param != params_.end() || std::count(cts_.begin(), cts_.end(), v) != 0) continue;
    if (value.producer == UINT32_MAX || is_back[value.producer]) continue;
    residuals_.push_back(v);
    residual_types_.push_back(fn_.TypeOf(fn_.At(v)));
    needs_.push_back(sizes.Of(v));
  }
}

uint32_t GoesOn(const ge_graph* body) {
  uint32_t more = body->out[0];
  while (GE_VALUE(body, more)->producer != UINT32_MAX) {
    const ge_node& from = *GE_NODE(body, GE_VALUE(body, more)->producer);
    if (!ge_is(from.op, "Identity")) break;
    more = from.in[0];
  }
  return more;
}

// A Loop whose count is a constant or a parameter, and whose body hands its condition on.
void Joint::FindTrips() {
  const ge_edit* e = context_.edit;
  const auto given = [&](uint32_t v, std::vector<size_t>* by) {
    const auto param = std::find(params_.begin(), params_.end(), v);
    if (v != 0 && param != params_.end()) {
      by->push_back(static_cast<size_t>(param - params_.begin()));
      return true;
    }
    return v == 0 || (GE_VALUE(g_, v)->flags & GE_VALUE_CONSTANT) != 0;
  };
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    if (!ge_is(n.op, "Loop") || n.n_body != 1 || n.n_in < 2) continue;
    std::vector<size_t> by;
    if (!given(n.in[0], &by) || !given(n.in[1], &by)) continue;
    const ge_graph* body = e->graph(e->host, n.body[0]);
    if (body == nullptr || body->n_out == 0 || body->n_in < 2) continue;
    const uint32_t more = GoesOn(body);
    if (more != body->in[1] && (GE_VALUE(body, more)->flags & GE_VALUE_CONSTANT) == 0) continue;
    // What is scanned is as long as it runs often; what is carried has sizes of its own.
    const ge_attr* captures = ge_find_attr(&n, "captures");
    const auto captured = static_cast<uint32_t>(captures != nullptr ? captures->i : 0);
    for (uint32_t k = n.n_in - 2 - captured; k < n.n_out; ++k) {
      const ge_value& v = *GE_VALUE(g_, n.out[k]);
      if (v.dim != nullptr && v.type.rank > 0 && v.dim[0].id != 0) trips_[v.dim[0].id] = by;
    }
  }
}

Joint::Forward Joint::PutForward(Fn& to, const std::vector<Val>& params) const {
  CopyNodes copy(g_, to);
  for (size_t i = 0; i < params_.size(); ++i) copy.Set(params_[i], params[i]);
  for (const uint32_t i : forward_) copy.Put(*GE_NODE(g_, i));
  Forward made;
  for (const uint32_t v : results_) made.results.push_back(copy.Get(v));
  for (const uint32_t v : residuals_) made.residuals.push_back(copy.Get(v));
  return made;
}

std::vector<Val> Joint::PutBack(Fn& to, const std::vector<Val>& params,
                                const std::vector<Val>& residuals,
                                const std::vector<Val>& cts) const {
  CopyNodes copy(g_, to);
  for (size_t i = 0; i < params_.size(); ++i) {
    if (reads_[i]) copy.Set(params_[i], params[i]);
  }
  for (size_t i = 0; i < residuals_.size(); ++i) copy.Set(residuals_[i], residuals[i]);
  for (size_t i = 0; i < cts_.size(); ++i) {
    if (cts_[i] != 0) copy.Set(cts_[i], cts[i]);
  }
  for (const uint32_t i : back_) copy.Put(*GE_NODE(g_, i));
  std::vector<Val> gradients;
  for (const uint32_t v : gradients_) gradients.push_back(v != 0 ? copy.Get(v) : Val{});
  return gradients;
}

}  // namespace ge::grad
