#include "passes/grad/control/pullback.h"

#include <algorithm>

#include "passes/grad/control/forward_node.h"

namespace ge::grad {

bool KeepsFunctions(const Joint& joint) {
  const std::vector<Type>& kept = joint.residuals();
  return std::any_of(kept.begin(), kept.end(), [](const Type& t) { return t.dtype == 0; });
}

std::vector<Val> PutForwardWithPullback(Context& context, uint32_t of, const Joint& joint,
                                        NewFunction& made, const std::vector<Val>& params,
                                        const std::vector<bool>& seeded,
                                        const std::vector<bool>& gives) {
  Joint::Forward forward = joint.PutForward(made.fn(), params);
  NewFunction back(context, "BWD", of);
  std::vector<Val> held, back_params(params.size()), residuals, cts, gradients;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!joint.reads()[i] && !(gives[i] && !joint.gives()[i])) continue;
    held.push_back(params[i]);
    back_params[i] = back.Param(made.fn().TypeOf(params[i]));
  }
  for (size_t i = 0; i < forward.residuals.size(); ++i) {
    held.push_back(forward.residuals[i]);
    residuals.push_back(back.Param(joint.residuals()[i]));
  }
  for (size_t i = 0; i < seeded.size(); ++i) {
    cts.push_back(seeded[i] ? back.Param(joint.result(i)) : Val{});
  }
  const std::vector<Val> found = joint.PutBack(back.fn(), back_params, residuals, cts);
  for (size_t i = 0; i < gives.size(); ++i) {
    if (gives[i]) gradients.push_back(found[i] ? found[i] : back.fn().Zeros(back_params[i]));
  }
  const NewFunction::Bodies bodies{{back.Finish(gradients)}, {ge_text("fn")}};
  const ge_links links = bodies.Links();
  std::vector<Val> results = std::move(forward.results);
  results.push_back(made.fn().Node("ge", "Partial", held, {}, 1, &links)[0]);
  return results;
}

namespace {

// The forward function before there is a way back, so that calls of it within it have types: the
// function itself, and a pullback that answers zeros. Answers the nodes, to be taken away.
std::vector<uint32_t> PutSkeleton(Context& context, uint32_t of, NewFunction& made,
                                  const std::vector<Val>& params, const std::vector<bool>& active,
                                  const std::vector<bool>& seeded) {
  std::vector<uint32_t> nodes(2);
  const NewFunction::Bodies self{{of}, {ge_text("fn")}};
  ge_links links = self.Links();
  std::vector<Val> results = made.fn().Node(
      "ge", "Call", params, {}, static_cast<uint32_t>(seeded.size()), &links, 0, nodes.data());
  NewFunction zero(context, "BWD", of);
  std::vector<Val> held, gradients;
  for (size_t i = 0; i < params.size(); ++i) {
    if (!active[i]) continue;
    held.push_back(params[i]);
    gradients.push_back(zero.fn().Zeros(zero.Param(made.fn().TypeOf(params[i]))));
  }
  for (size_t i = 0; i < seeded.size(); ++i) {
    if (seeded[i]) zero.Param(made.fn().TypeOf(results[i]));
  }
  const NewFunction::Bodies bodies{{zero.Finish(gradients)}, {ge_text("fn")}};
  links = bodies.Links();
  results.push_back(made.fn().Node("ge", "Partial", held, {}, 1, &links, 0, nodes.data() + 1)[0]);
  made.Results(results);
  return nodes;
}

// The derivative of a recursive function. A body of it may be derived for other inputs already,
// further out, where fewer of them depended on what the gradient is for: so it begins a stack of
// its own, and the functions noted in `recursions` end it.
std::shared_ptr<Joint> JointOf(Context& context, uint32_t of, const std::vector<bool>& active,
                               const std::vector<bool>& seeded) {
  std::vector<std::string> around;
  around.swap(context.stack);
  std::shared_ptr<Joint> joint = Joint::Of(context, of, active, seeded);
  around.swap(context.stack);
  return joint;
}

// The forward function of `of`, made where it is not there; 0 where it has no gradient.
uint32_t ForwardOf(Context& context, uint32_t of, const std::vector<bool>& active,
                   const std::vector<bool>& seeded) {
  const std::string key = KeyOf(of, active, seeded);
  const auto found = context.recursions.find(key);
  if (found != context.recursions.end()) return found->second;
  const ge_edit* e = context.edit;
  const ge_graph* g = e->graph(e->host, of);
  if (g == nullptr) return 0;
  Fn original(e, of);
  std::vector<Type> types;
  for (uint32_t i = 0; i < g->n_in; ++i) types.push_back(original.TypeOf(original.At(g->in[i])));
  NewFunction made(context, "FWD", of, true);
  std::vector<Val> params;
  for (const Type& t : types) params.push_back(made.Param(t));
  const std::vector<uint32_t> nodes = PutSkeleton(context, of, made, params, active, seeded);
  context.recursions[key] = made.fn().id();
  const std::shared_ptr<Joint> joint = JointOf(context, of, active, seeded);
  if (!joint) return context.recursions[key] = 0;
  const std::vector<Val> results =
      PutForwardWithPullback(context, of, *joint, made, params, seeded, active);
  made.Finish(results);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    e->erase(e->host, made.fn().id(), *node);
  }
  return made.fn().id();
}

// As many zeros as there will be gradients, so that calls of the function have types.
std::vector<Val> PutZeros(Fn& fn, const std::vector<Val>& params, const std::vector<bool>& active) {
  std::vector<Val> zeros;
  for (size_t i = 0; i < params.size(); ++i) {
    if (active[i]) zeros.push_back(fn.Zeros(params[i]));
  }
  return zeros;
}

// A function from parameters and cotangents to gradients, which runs the way there once more and
// calls itself where `of` does; 0 where it has no gradient.
uint32_t AgainOf(Context& context, uint32_t of, const std::vector<bool>& active,
                 const std::vector<bool>& seeded) {
  const std::string key = "again:" + KeyOf(of, active, seeded);
  const auto found = context.recursions.find(key);
  if (found != context.recursions.end()) return found->second;
  const ge_edit* e = context.edit;
  const ge_graph* g = e->graph(e->host, of);
  if (g == nullptr) return 0;
  const std::vector<uint32_t> in(g->in, g->in + g->n_in), out(g->out, g->out + g->n_out);
  Fn original(e, of);
  NewFunction made(context, "VJP", of, true);
  Fn& fn = made.fn();
  std::vector<Val> params, cts, results;
  for (const uint32_t v : in) params.push_back(made.Param(original.TypeOf(original.At(v))));
  for (size_t i = 0; i < out.size(); ++i) {
    cts.push_back(seeded[i] ? made.Param(original.TypeOf(original.At(out[i]))) : Val{});
  }
  std::vector<uint32_t> nodes;
  fn.Record(&nodes);
  made.Results(PutZeros(fn, params, active));
  fn.Record(nullptr);
  context.recursions[key] = fn.id();
  const std::shared_ptr<Joint> joint = JointOf(context, of, active, seeded);
  if (!joint) return context.recursions[key] = 0;
  const Joint::Forward forward = joint->PutForward(fn, params);
  const std::vector<Val> back = joint->PutBack(fn, params, forward.residuals, cts);
  for (size_t i = 0; i < params.size(); ++i) {
    if (active[i]) results.push_back(back[i] ? back[i] : fn.Zeros(params[i]));
  }
  made.Finish(results);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) e->erase(e->host, fn.id(), *node);
  return fn.id();
}

}  // namespace

bool ThroughRecursion(Reverse& reverse, const ge_node& n, uint32_t of) {
  const std::vector<Val> in = InputsOf(reverse, n), cts = reverse.Cotangents(n);
  std::vector<bool> active = reverse.Wanted(n), seeded;
  std::vector<Val> given;
  for (size_t i = 0; i < in.size(); ++i) {
    active[i] = active[i] && IsFloat(reverse.fn().TypeOf(in[i]).dtype);
  }
  for (const Val v : cts) {
    seeded.push_back(static_cast<bool>(v));
    if (v) given.push_back(v);
  }
  const auto outputs = static_cast<uint32_t>(std::count(active.begin(), active.end(), true));
  const auto give = [&](const std::vector<Val>& made) {
    for (size_t i = 0, k = 0; i < in.size(); ++i) {
      if (active[i]) reverse.Add(n.in[i], made[k++]);
    }
    return true;
  };
  if (reverse.context().again) {
    const uint32_t again = AgainOf(reverse.context(), of, active, seeded);
    if (again == 0) return false;
    const NewFunction::Bodies bodies{{again}, {ge_text("fn")}};
    const ge_links links = bodies.Links();
    given.insert(given.begin(), in.begin(), in.end());
    return give(reverse.fn().Node("ge", "Call", given, {}, outputs, &links));
  }
  const uint32_t forward = ForwardOf(reverse.context(), of, active, seeded);
  if (forward == 0) return false;
  const NewFunction::Bodies bodies{{forward}, {ge_text("fn")}};
  const Val pullback = PutForwardNode(reverse, n, in, {}, bodies, 1)[0];
  given.insert(given.begin(), pullback);
  return give(reverse.fn().Node("ge", "CallIndirect", given, {}, outputs));
}

}  // namespace ge::grad
