// Functions that bring their own derivative. The vjp takes the function's parameters, its results
// and a cotangent for each result, and answers a gradient for each parameter of floats. The jvp
// takes the parameters and a tangent for each of floats, and answers a tangent for each result of
// floats; it is linear in the tangents, so the way back is its transpose.
#include "passes/grad/control/forward_node.h"
#include "passes/grad/control/pullback.h"
#include "passes/grad/kit.h"

namespace ge::grad {
namespace {

bool IsFloatVal(Val v) { return v && IsFloat(v.fn->TypeOf(v).dtype); }

std::vector<Val> CallFunction(Fn& fn, uint32_t callee, const std::vector<Val>& in, size_t outputs) {
  const NewFunction::Bodies bodies{{callee}, {ge_text("fn")}};
  const ge_links links = bodies.Links();
  return fn.Node("ge", "Call", in, {}, static_cast<uint32_t>(outputs), &links);
}

void AddGradients(Reverse& r, const ge_node& n, const std::vector<Val>& in,
                  const std::vector<Val>& made) {
  const std::vector<bool> wanted = r.Wanted(n);
  for (size_t i = 0, k = 0; i < in.size(); ++i) {
    if (!IsFloatVal(in[i])) continue;
    if (wanted[i]) r.Add(n.in[i], made[k]);
    ++k;
  }
}

size_t CountFloats(const std::vector<Val>& values) {
  size_t n = 0;
  for (const Val v : values) n += IsFloatVal(v);
  return n;
}

void ByVjp(Reverse& r, const ge_node& n, uint32_t vjp) {
  const std::vector<Val> in = InputsOf(r, n), cts = r.Cotangents(n);
  std::vector<Val> given = in;
  for (uint32_t k = 0; k < n.n_out; ++k) given.push_back(r.Now(n.out[k]));
  for (uint32_t k = 0; k < n.n_out; ++k) {
    given.push_back(cts[k] ? cts[k] : r.fn().Zeros(r.Now(n.out[k])));
  }
  AddGradients(r, n, in, CallFunction(r.fn(), vjp, given, CountFloats(in)));
}

// A function of parameters and cotangents whose nodes are the jvp's transpose.
bool ByJvp(Reverse& r, const ge_node& n, uint32_t jvp) {
  const std::vector<Val> in = InputsOf(r, n), cts = r.Cotangents(n);
  NewFunction made(r.context(), "BWD", jvp);
  Fn& fn = made.fn();
  std::vector<Val> params, tangents, given = in, results;
  for (const Val v : in) params.push_back(made.Param(r.fn().TypeOf(v)));
  for (const Val p : params) {
    if (IsFloatVal(p)) tangents.push_back(fn.Op("Identity", {fn.Zeros(p)}));
  }
  std::vector<Val> both = params;
  both.insert(both.end(), tangents.begin(), tangents.end());
  std::vector<Val> outs;
  for (uint32_t k = 0; k < n.n_out; ++k) outs.push_back(r.Now(n.out[k]));
  const std::vector<Val> changes = CallFunction(fn, jvp, both, CountFloats(outs));
  Reverse sweep(fn, r.context());
  for (const Val t : tangents) sweep.Want(t);
  for (uint32_t k = 0, c = 0; k < n.n_out; ++k) {
    if (!IsFloatVal(outs[k])) continue;
    if (cts[k]) {
      sweep.Seed(changes[c], made.Param(r.fn().TypeOf(cts[k])));
      given.push_back(cts[k]);
    }
    ++c;
  }
  if (!sweep.Run()) return false;
  for (const Val t : tangents) {
    const Val gradient = sweep.Gradient(t);
    results.push_back(gradient ? gradient : fn.Zeros(t));
  }
  const uint32_t back = made.Finish(results);
  AddGradients(r, n, in, CallFunction(r.fn(), back, given, results.size()));
  return true;
}

}  // namespace

bool ThroughCustom(Reverse& reverse, const ge_node& n, uint32_t of, bool* failed) {
  const ge_model* m = reverse.context().edit->model(reverse.context().edit->host);
  const ge_function& f = *GE_FUNCTION(m, of);
  *failed = false;
  if (f.custom_vjp == 0 && f.custom_jvp == 0) return false;
  const uint32_t vjp = f.custom_vjp, jvp = f.custom_jvp;
  if (vjp != 0) ByVjp(reverse, n, vjp);
  if (vjp == 0) *failed = !ByJvp(reverse, n, jvp);
  return true;
}

}  // namespace ge::grad
