// Functions as values. A gradient of a function value would be one for everything it holds; so
// before the sweep each ge.CallIndirect becomes a call of the functions that it may be: what
// ge.Partial made is called at once, what an If chose is called in its branches, and a function
// that is handed to another one is followed by putting that one in the place of its call.
#include "passes/grad/control/forward_node.h"
#include "passes/grad/control/pullback.h"
#include "passes/grad/kit.h"

namespace ge::grad {
namespace {

bool IsGe(const ge_node& n, const char* op) { return ge_is(n.domain, "ge") && ge_is(n.op, op); }

const ge_node* ProducerOf(const ge_graph* g, uint32_t value) {
  const uint32_t at = GE_VALUE(g, value)->producer;
  return at == UINT32_MAX ? nullptr : GE_NODE(g, at);
}

std::vector<Val> Arguments(Reverse& r, const ge_node& n, uint32_t from) {
  std::vector<Val> in = InputsOf(r, n);
  return {in.begin() + from, in.end()};
}

// What was held, then what is given.
void CallPartial(Reverse& r, const ge_node& partial, const ge_node& n) {
  std::vector<Val> in = InputsOf(r, partial);
  const std::vector<Val> given = Arguments(r, n, 1);
  in.insert(in.end(), given.begin(), given.end());
  const NewFunction::Bodies bodies{{NewFunction::Body(partial, "fn")}, {ge_text("fn")}};
  const ge_links links = bodies.Links();
  r.Supplant(n, r.fn().Node("ge", "Call", in, {}, n.n_out, &links, n.id));
}

// A branch that calls its own result `which`.
uint32_t CallingBranch(Reverse& r, uint32_t of, uint32_t which, const std::vector<Val>& captures,
                       const std::vector<Val>& given, uint32_t outputs) {
  const ge_edit* e = r.context().edit;
  NewFunction made(r.context(), "CALL", of, true);
  const ge_graph* g = e->graph(e->host, of);
  if (g == nullptr) return 0;
  CopyNodes copy(g, made.fn());
  std::vector<Val> operands;
  for (uint32_t i = 0; i < g->n_in; ++i) {
    copy.Set(g->in[i], made.Param(r.fn().TypeOf(captures[i])));
  }
  for (const Val v : given) operands.push_back(made.Param(r.fn().TypeOf(v)));
  for (uint32_t i = 0; i < g->n_node; ++i) copy.Put(*GE_NODE(g, i));
  operands.insert(operands.begin(), copy.Get(g->out[which]));
  return made.Finish(made.fn().Node("ge", "CallIndirect", operands, {}, outputs));
}

void CallInBranches(Reverse& r, const ge_node& choice, uint32_t value, const ge_node& n) {
  uint32_t which = 0;
  while (choice.out[which] != value) ++which;
  const std::vector<Val> captures = Arguments(r, choice, 1), given = Arguments(r, n, 1);
  NewFunction::Bodies bodies{{}, {ge_text("then_branch"), ge_text("else_branch")}};
  for (const char* role : {"then_branch", "else_branch"}) {
    bodies.fn.push_back(
        CallingBranch(r, NewFunction::Body(choice, role), which, captures, given, n.n_out));
  }
  std::vector<Val> in = {r.Now(choice.in[0])};
  in.insert(in.end(), captures.begin(), captures.end());
  in.insert(in.end(), given.begin(), given.end());
  const ge_links links = bodies.Links();
  r.Supplant(n, r.fn().Node("", "If", in, {}, n.n_out, &links, n.id));
}

// What the call runs, in its place.
bool Inline(Reverse& r, const ge_node& n) {
  const uint32_t of = NewFunction::Body(n, "fn");
  const ge_edit* e = r.context().edit;
  const ge_graph* g = e->graph(e->host, of);
  if (g == nullptr || of == r.fn().id()) return false;
  CopyNodes copy(g, r.fn(), n.id);
  const std::vector<Val> in = InputsOf(r, n);
  for (uint32_t i = 0; i < g->n_in; ++i) copy.Set(g->in[i], in[i]);
  for (uint32_t i = 0; i < g->n_node; ++i) copy.Put(*GE_NODE(g, i));
  std::vector<Val> out;
  for (uint32_t i = 0; i < g->n_out; ++i) out.push_back(copy.Get(g->out[i]));
  r.Supplant(n, out);
  return true;
}

}  // namespace

bool ResolveFunction(Reverse& reverse, const ge_graph* graph, const ge_node& n) {
  if (IsGe(n, "Call") && !CallsItself(reverse.context(), NewFunction::Body(n, "fn"))) {
    for (uint32_t i = 0; i < n.n_in; ++i) {
      if (n.in[i] != 0 && GE_VALUE(graph, n.in[i])->type.dtype == 0) return Inline(reverse, n);
    }
  }
  if (!IsGe(n, "CallIndirect")) return false;
  const ge_node* from = ProducerOf(graph, n.in[0]);
  if (from == nullptr) return false;
  if (IsGe(*from, "Partial")) return CallPartial(reverse, *from, n), true;
  if (ge_is(from->op, "If")) return CallInBranches(reverse, *from, n.in[0], n), true;
  if (ge_is(from->op, "Identity")) {
    std::vector<Val> in = InputsOf(reverse, n);
    in[0] = reverse.Now(from->in[0]);
    return reverse.Supplant(
               n, reverse.fn().Node("ge", "CallIndirect", in, {}, n.n_out, nullptr, n.id)),
           true;
  }
  return false;
}

}  // namespace ge::grad
