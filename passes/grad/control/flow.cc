// The way back through If, Loop, Scan and ge.Call. Forward they also answer what their way back
// reads; Loop and Scan stack it, and their way back is a Scan over the stacks from the last to the
// first, which carries the cotangents of what was carried and sums up those of what was captured.
#include <algorithm>
#include <array>

#include "passes/grad/control/forward_node.h"
#include "passes/grad/control/joint.h"
#include "passes/grad/control/pullback.h"
#include "passes/grad/kit.h"

namespace ge::grad {
namespace {

std::vector<bool> There(const std::vector<Val>& values) {
  std::vector<bool> there;
  for (const Val v : values) there.push_back(static_cast<bool>(v));
  return there;
}

// ---- If

struct Branch {
  std::shared_ptr<Joint> joint;
  std::vector<size_t> slot;  // of each residual
};

// Residuals of both branches share slots where their types are the same.
std::vector<Type> ShareSlots(std::array<Branch, 2>& branches) {
  std::vector<Type> slots;
  std::vector<char> taken;
  for (const Type& t : branches[0].joint->residuals()) {
    branches[0].slot.push_back(slots.size());
    slots.push_back(t);
  }
  taken.assign(slots.size(), 0);
  for (const Type& t : branches[1].joint->residuals()) {
    size_t s = 0;
    while (s < taken.size() && (taken[s] || slots[s].dtype != t.dtype || !Same(slots[s], t))) ++s;
    if (s == taken.size()) {
      slots.push_back(t);
      taken.push_back(0);
    }
    taken[s] = 1;
    branches[1].slot.push_back(s);
  }
  return slots;
}

// What stands in a slot of the other branch: nobody reads it.
Val Placeholder(Fn& fn, const Type& t) {
  std::vector<int64_t> dims;
  for (const ge_dim& d : t.dims) dims.push_back(d.value < 0 ? 0 : d.value);
  return fn.Op("Expand", {fn.Scalar(t.dtype, 0), fn.Ints(dims)});
}

uint32_t ForwardBranch(Context& context, uint32_t of, const Branch& branch,
                       const std::vector<Type>& captures, const std::vector<Type>& slots) {
  NewFunction made(context, "FWD", of);
  std::vector<Val> params;
  for (const Type& t : captures) params.push_back(made.Param(t));
  Joint::Forward forward = branch.joint->PutForward(made.fn(), params);
  std::vector<Val> results = std::move(forward.results), slot(slots.size());
  for (size_t i = 0; i < branch.slot.size(); ++i) slot[branch.slot[i]] = forward.residuals[i];
  for (size_t s = 0; s < slots.size(); ++s) {
    results.push_back(slot[s] ? slot[s] : Placeholder(made.fn(), slots[s]));
  }
  return made.Finish(results);
}

struct BackOfIf {
  std::vector<Val> captures, residuals, cts;  // of the outer function
  std::vector<bool> reads, gives;             // by capture, of either branch
};

uint32_t BackBranch(Context& context, uint32_t of, const Branch& branch, const BackOfIf& b) {
  NewFunction made(context, "BWD", of);
  std::vector<Val> params, slots, residuals, cts, results;
  for (size_t i = 0; i < b.captures.size(); ++i) {
    const bool taken = b.reads[i] && b.captures[i];
    params.push_back(taken ? made.Param(b.captures[i].fn->TypeOf(b.captures[i])) : Val{});
  }
  for (const Val v : b.residuals) slots.push_back(made.Param(v.fn->TypeOf(v)));
  for (const Val v : b.cts) cts.push_back(v ? made.Param(v.fn->TypeOf(v)) : Val{});
  for (const size_t s : branch.slot) residuals.push_back(slots[s]);
  const std::vector<Val> gradients = branch.joint->PutBack(made.fn(), params, residuals, cts);
  for (size_t i = 0; i < b.gives.size(); ++i) {
    if (!b.gives[i]) continue;
    results.push_back(gradients[i] ? gradients[i] : made.fn().Zeros(params[i]));
  }
  return made.Finish(results);
}

// Each branch answers its own pullback.
bool ThroughIfByPullback(Reverse& r, const ge_node& n, const std::vector<Val>& in,
                         const std::vector<Val>& cts, const std::array<Branch, 2>& branches) {
  NewFunction::Bodies forward{{}, {ge_text("then_branch"), ge_text("else_branch")}};
  const size_t captures = in.size() - 1;
  std::vector<bool> gives(captures);
  for (size_t i = 0; i < captures; ++i) {
    gives[i] = branches[0].joint->gives()[i] || branches[1].joint->gives()[i];
  }
  for (size_t k = 0; k < 2; ++k) {
    const uint32_t of = NewFunction::Body(n, k == 0 ? "then_branch" : "else_branch");
    NewFunction made(r.context(), "FWD", of, true);
    std::vector<Val> params;
    for (size_t i = 0; i < captures; ++i) params.push_back(made.Param(r.fn().TypeOf(in[i + 1])));
    forward.fn.push_back(made.Finish(PutForwardWithPullback(r.context(), of, *branches[k].joint,
                                                            made, params, There(cts), gives)));
  }
  std::vector<Val> given = {PutForwardNode(r, n, in, AttrsOf(n), forward, 1)[0]};
  for (const Val v : cts) {
    if (v) given.push_back(v);
  }
  const auto outputs = static_cast<uint32_t>(std::count(gives.begin(), gives.end(), true));
  if (outputs == 0) return true;
  const std::vector<Val> made = r.fn().Node("ge", "CallIndirect", given, {}, outputs);
  for (size_t i = 0, k = 0; i < captures; ++i) {
    if (gives[i]) r.Add(n.in[i + 1], made[k++]);
  }
  return true;
}

bool ThroughIf(Reverse& r, const ge_node& n) {
  std::vector<Val> in = InputsOf(r, n);
  BackOfIf b;
  b.captures.assign(in.begin() + 1, in.end());
  b.cts = r.Cotangents(n);
  std::vector<bool> wanted = r.Wanted(n);
  wanted.erase(wanted.begin());
  const uint32_t of[2] = {NewFunction::Body(n, "then_branch"), NewFunction::Body(n, "else_branch")};
  std::array<Branch, 2> branches;
  for (int k = 0; k < 2; ++k) {
    branches[k].joint = Joint::Of(r.context(), of[k], wanted, There(b.cts));
    if (!branches[k].joint) return false;
  }
  if (KeepsFunctions(*branches[0].joint) || KeepsFunctions(*branches[1].joint)) {
    return ThroughIfByPullback(r, n, in, b.cts, branches);
  }
  const std::vector<Type> slots = ShareSlots(branches);
  std::vector<Type> types;
  for (const Val v : b.captures) types.push_back(r.fn().TypeOf(v));
  NewFunction::Bodies forward{{}, {ge_text("then_branch"), ge_text("else_branch")}}, back = forward;
  for (int k = 0; k < 2; ++k) {
    forward.fn.push_back(ForwardBranch(r.context(), of[k], branches[k], types, slots));
  }
  b.residuals = PutForwardNode(r, n, in, AttrsOf(n), forward, slots.size());
  uint32_t outputs = 0;
  for (size_t i = 0; i < b.captures.size(); ++i) {
    const bool one = branches[0].joint->gives()[i], two = branches[1].joint->gives()[i];
    b.gives.push_back(one || two);
    b.reads.push_back(branches[0].joint->reads()[i] || branches[1].joint->reads()[i] || one != two);
    outputs += one || two;
  }
  if (outputs == 0) return true;
  for (int k = 0; k < 2; ++k) back.fn.push_back(BackBranch(r.context(), of[k], branches[k], b));
  std::vector<Val> inputs = {in[0]};
  for (size_t i = 0; i < b.captures.size(); ++i) {
    if (b.reads[i]) inputs.push_back(b.captures[i]);
  }
  inputs.insert(inputs.end(), b.residuals.begin(), b.residuals.end());
  for (const Val v : b.cts) {
    if (v) inputs.push_back(v);
  }
  const ge_links links = back.Links();
  const std::vector<Val> made = r.fn().Node("", "If", inputs, {}, outputs, &links);
  for (size_t i = 0, k = 0; i < b.captures.size(); ++i) {
    if (b.gives[i]) r.Add(n.in[i + 1], made[k++]);
  }
  return true;
}

// ---- ge.Call

bool ThroughCall(Reverse& r, const ge_node& n) {
  const uint32_t of = NewFunction::Body(n, "fn");
  bool failed = false;
  if (ThroughCustom(r, n, of, &failed)) return !failed;
  const std::vector<Val> in = InputsOf(r, n), cts = r.Cotangents(n);
  if (CallsItself(r.context(), of)) return ThroughRecursion(r, n, of);
  const std::shared_ptr<Joint> joint = Joint::Of(r.context(), of, r.Wanted(n), There(cts));
  if (!joint) return false;
  Joint::Calls& calls = joint->calls();
  if (calls.forward == 0) {
    NewFunction made(r.context(), "FWD", of);
    std::vector<Val> params;
    for (const Val v : in) params.push_back(made.Param(r.fn().TypeOf(v)));
    Joint::Forward forward = joint->PutForward(made.fn(), params);
    std::vector<Val> results = std::move(forward.results);
    results.insert(results.end(), forward.residuals.begin(), forward.residuals.end());
    calls.forward = made.Finish(results);
  }
  const NewFunction::Bodies bodies{{calls.forward}, {ge_text("fn")}};
  const std::vector<Val> residuals =
      PutForwardNode(r, n, in, AttrsOf(n), bodies, joint->residuals().size());
  std::vector<Val> inputs;
  for (size_t i = 0; i < in.size(); ++i) {
    if (joint->reads()[i]) inputs.push_back(in[i]);
  }
  inputs.insert(inputs.end(), residuals.begin(), residuals.end());
  for (const Val v : cts) {
    if (v) inputs.push_back(v);
  }
  if (calls.back == 0) {
    NewFunction made(r.context(), "BWD", of);
    std::vector<Val> params, saved, given, results;
    for (size_t i = 0; i < in.size(); ++i) {
      params.push_back(joint->reads()[i] ? made.Param(r.fn().TypeOf(in[i])) : Val{});
    }
    for (const Val v : residuals) saved.push_back(made.Param(r.fn().TypeOf(v)));
    for (const Val v : cts) given.push_back(v ? made.Param(r.fn().TypeOf(v)) : Val{});
    for (const Val v : joint->PutBack(made.fn(), params, saved, given)) {
      if (v) results.push_back(v);
    }
    calls.back = made.Finish(results);
  }
  const auto outputs =
      static_cast<uint32_t>(std::count(joint->gives().begin(), joint->gives().end(), true));
  if (outputs == 0) return true;
  const NewFunction::Bodies back{{calls.back}, {ge_text("fn")}};
  const ge_links links = back.Links();
  const std::vector<Val> made = r.fn().Node("ge", "Call", inputs, {}, outputs, &links);
  for (size_t i = 0, k = 0; i < in.size(); ++i) {
    if (joint->gives()[i]) r.Add(n.in[i], made[k++]);
  }
  return true;
}

}  // namespace

bool ThroughIteration(Reverse& r, const ge_node& n);

bool BackThroughFlow(Reverse& reverse, const ge_node& n) {
  if (!IsFlow(n)) return false;
  const std::string_view op = plugin::View(n.op);
  const size_t before = reverse.context().problems.size();
  bool done = false;
  if (n.n_effect > 0) {
    reverse.Problem(n, "it has effects; take states out of what is derived");
    return true;
  }
  if (op == "If") done = ThroughIf(reverse, n);
  if (op == "Call") done = ThroughCall(reverse, n);
  if (op == "Loop" || op == "Scan") done = ThroughIteration(reverse, n);
  if (done) return true;
  const bool said = reverse.context().problems.size() > before;
  reverse.Problem(n, said ? "what it runs has no gradient, as said above"
                          : "no rule says how its gradient is built");
  return true;
}

}  // namespace ge::grad
