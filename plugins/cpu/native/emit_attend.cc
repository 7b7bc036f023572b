// Attention as steps of a program.
#include "plugins/cpu/native/attend.h"
#include "plugins/cpu/native/emit.h"

namespace ge_engines::cpu::native {

// All keys or values, those of the past first: [batch, heads, past + fresh, size], as output k of
// the unit where it is wanted. `steps` says how the fresh ones lie.
Place NativeBuilder::Joined(const Unit& u, const AttendSpec& s, size_t k, HeadSteps* steps,
                            int64_t size) {
  const Place fresh = GetDense(u.in[k]).place;
  const uint32_t out = k < u.out.size() ? u.out[k] : 0;
  const size_t past = k == 1 ? s.past_k : s.past_v;
  if (out == 0 && past == 0) return fresh;
  const int64_t heads = s.heads / s.share, all = s.past + s.fresh;
  const Layout to = Layout::Dense({s.batch, heads, all, size});
  Layout from = Layout::Dense({s.batch, heads, s.fresh, size});
  from.stride[0] = steps->batch, from.stride[1] = steps->head, from.stride[2] = steps->row;
  const Rep y = out != 0
                    ? NewResult(out, to)
                    : Rep{to, NewInternal(0, static_cast<uint64_t>(to.extent()) * sizeof(float))};
  std::vector<BoxCopy> boxes;
  std::vector<Place> places = {y.place};
  if (past != 0) {
    const Dims before = {s.batch, heads, s.past, size};
    boxes.push_back({Layout::Dense(before), to, {0, 0, 0, 0}, {0, 0, 0, 0}, before});
    places.push_back(GetDense(u.in[past]).place);
  }
  boxes.push_back({from, to, {0, 0, 0, 0}, {0, 0, s.past, 0}, from.dims()});
  places.push_back(fresh);
  AddStep("join " + Sizes(to.dims()), CopyLoop(simd_, to, boxes), std::move(places));
  if (out != 0) AddRep(out, y);
  *steps = {heads * all * size, all * size, size};
  return y.place;
}

// A tensor [batch, heads, rows, columns] as it lies, where the elements of a row or of a column are
// neighbours; else in plain order. *turned: of columns.
Place NativeBuilder::HeadsOf(uint32_t v, bool may_turn, HeadSteps* steps, bool* turned) {
  Rep x = Unblocked(v);
  const auto near = [&](int axis) { return x.layout.stride[axis] == 1 || x.layout.dim[axis] == 1; };
  *turned = may_turn && near(2) && !near(3);
  if (!*turned && !near(3)) x = GetDense(v);
  const int64_t* stride = x.layout.stride;
  *steps = {stride[0], stride[1], stride[*turned ? 3 : 2]};
  return x.place;
}

// The only reader of the result, if it brings rows before heads: the result may lie so.
bool NativeBuilder::RowsBeforeHeads(const Unit& u) const {
  const ge_value& y = p_.value(u.out[0]);
  if (y.n_user != 1 || (y.flags & GE_VALUE_OUTPUT) != 0 || leaves_.count(u.out[0]) > 0)
    return false;
  const ge_node& reader = p_.node(y.user[0]);
  const auto perm = gp::AttrInts(reader, "perm");
  return gp::IsOp(reader, "Transpose") && Dims(perm.begin(), perm.end()) == Dims{0, 2, 1, 3};
}

// The operands of two products, which may be views of tensors whose rows hold all heads.
std::vector<Place> NativeBuilder::ProductHeads(const Unit& u, AttendSpec* s) {
  const Dims q = p_.dims(u.in[0]), v = p_.dims(u.in[2]);
  const bool four = q.size() == 4 && v.size() == 4 && v[0] == q[0] && v[1] == q[1];
  if (!four) {
    const Place k = Matrix(u.in[1], false, true, &s->turned).place;
    s->k.row = s->turned ? s->size : s->keys;
    return {GetDense(u.in[0]).place, k, GetDense(u.in[2]).place};
  }
  s->batch = q[0], s->heads = q[1];
  s->y = {s->heads * s->rows * s->v_size, s->rows * s->v_size, s->v_size};
  bool turned = false;
  const Place from = HeadsOf(u.in[0], false, &s->q, &turned);
  const Place k = HeadsOf(u.in[1], true, &s->k, &s->turned);
  return {from, k, HeadsOf(u.in[2], false, &s->v, &turned)};
}

void NativeBuilder::EmitSpec(const Unit& u, const AttendSpec& spec) {
  AttendSpec s = spec;
  std::vector<Place> reads;
  if (s.of_product) {
    reads = ProductHeads(u, &s);
  } else {
    const Place k = Joined(u, spec, 1, &s.k, s.size);
    reads = {GetDense(u.in[0]).place, k, Joined(u, spec, 2, &s.v, s.v_size)};
  }
  const Place q = reads[0];
  for (const ScoreStep& step : s.steps) {
    reads.push_back(step.kind == ScoreStep::kUnary ? q : GetDense(u.in[step.operand]).place);
  }
  reads.push_back(s.lengths ? GetDense(u.in[s.lengths_in]).place : q);
  Layout target = Layout::Dense(u.dims);
  if (u.dims.size() == 4 && s.heads == u.dims[1] && s.y.row == s.v_size && RowsBeforeHeads(u)) {
    target.stride[0] = s.heads * s.rows * s.v_size;
    target.stride[1] = s.v_size, target.stride[2] = s.heads * s.v_size;
    s.y = {target.stride[0], target.stride[1], target.stride[2]};
  }
  const AttendPlan plan(simd_, std::move(s), machine_.threads);
  const uint64_t floats = plan.floats() * static_cast<uint64_t>(plan.threads);
  reads.push_back(NewInternal(0, floats * sizeof(float)));
  const Rep y = NewResult(u.out[0], target);
  reads.insert(reads.begin(), y.place);
  AddStep("attention " + Sizes(u.dims), AttendWork(plan), std::move(reads));
  AddRep(u.out[0], y);
}

}  // namespace ge_engines::cpu::native
