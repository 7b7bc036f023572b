#include "plugins/units/matmul/matmul_transposes.h"

#include <algorithm>

#include "plugins/units/match.h"
#include "plugins/units/matmul/matmul.h"
#include "plugins/units/movement/transpose.h"
#include "plugins/units/parser.h"

namespace ge_engines {
namespace {

bool ParseMatrixTranspose(const Parser& g, uint32_t i, Unit* u, Why* why) {
  const auto perm = gp::AttrInts(g.node(i), "perm");
  const bool turns = perm.size() == 0 || (perm.size() == 2 && perm[0] == 1 && perm[1] == 0);
  if (u->dims.size() != 2 || !turns) return why->Say(GE_WHY_SHAPE, "not the transpose of a matrix");
  u->spec = TransposeSpec{{1, 0}};
  return true;
}

// Of each matrix of a batch; an engine may have transposes of other axes, too.
bool TurnsMatrices(const Dims& perm) {
  const size_t rank = perm.size();
  for (size_t k = 0; k < rank; ++k) {
    const size_t from = k + 2 < rank ? k : 2 * rank - 3 - k;
    if (perm[k] != static_cast<int64_t>(from)) return false;
  }
  return rank >= 2;
}

bool IsTranspose(const Matcher& matcher, uint32_t node, Unit* transpose) {
  Why why;
  return matcher.IsFree(node, "Transpose") && matcher.parser().Parse(node, transpose, &why) &&
         Is<TransposeSpec>(*transpose) && TurnsMatrices(transpose->spec.get<TransposeSpec>().perm);
}

// (A B)^T is B^T A^T: either operand is read as it lies, or transposed.
bool TakeTransposes(const Matcher& matcher, uint32_t node, Unit* u) {
  const Parser& parser = matcher.parser();
  Why why;
  if (!parser.Parse(node, u, &why) || !Is<ProductSpec>(*u)) return false;
  auto& spec = u->spec.get<ProductSpec>();
  Unit transpose;
  if (IsTranspose(matcher, matcher.OnlyUser(u->out[0]), &transpose)) {
    u->nodes.push_back(transpose.root);
    u->out = transpose.out;
    u->dims = transpose.dims;
    std::swap(u->in[0], u->in[1]);
    spec.trans_a = spec.trans_b = true;
  }
  const Ids read = {u->in[0], u->in[1]};
  for (const size_t k : {0u, 1u}) {
    const uint32_t maker = parser.value(read[k]).producer;
    if (matcher.OnlyUser(read[k]) != node || !IsTranspose(matcher, maker, &transpose)) continue;
    u->in[k] = transpose.in[0];
    (k == 0 ? spec.trans_a : spec.trans_b) ^= true;
    if (k == 0 || read[0] != read[1]) u->nodes.push_back(maker);
  }
  std::sort(u->nodes.begin(), u->nodes.end());
  return u->nodes.size() > 1;
}

constexpr Operator kOperators[] = {
    {"Transpose", ParseMatrixTranspose},
    {.op = "MatMul", .parse = ParseMatMul, .data = 0, .first = true, .widen = TakeTransposes},
};

}  // namespace

const UnitKind kMatMulTransposes = {.name = "matmul_transposes", .operators = kOperators};

}  // namespace ge_engines
