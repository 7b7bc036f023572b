#include "plugins/ref/kernels/rows.h"

namespace ref {
namespace {

struct RotaryPlan {
  int64_t batch, heads, steps, size;   // X
  int64_t batch_at, head_at, step_at;  // elements between neighbours
  int64_t half, positions;             // pairs that are turned; rows of the caches with ids
  bool interleaved;
};

// Turns the pairs of one head by the angles of one position. row: x, then cos, then sin.
void RotateRow(const RotaryPlan& p, double* row) {
  const double *cosine = row + p.size, *sine = cosine + p.half;
  for (int64_t k = 0; k < p.half; ++k) {
    double& a = row[p.interleaved ? 2 * k : k];
    double& b = row[p.interleaved ? 2 * k + 1 : p.half + k];
    const double real = cosine[k] * a - sine[k] * b;
    b = sine[k] * a + cosine[k] * b;
    a = real;
  }
}

ge_rc RunRotary(const RotaryPlan& p, const Call& c) {
  const Tensor x = c.in(0), y = c.out(0);
  double* row = static_cast<double*>(c.workspace());
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t s = 0; s < p.steps; ++s) {
      int64_t at = b * p.steps + s;
      if (c.has_in(3)) {
        const int64_t id = Load(c.in(3).as<int64_t>(), at);
        if (id < 0 || id >= p.positions) {
          return c.Fail(GE_INVALID_ARGUMENT, "position_ids[%lld] is %lld, [0, %lld) is wanted",
                        static_cast<long long>(at), static_cast<long long>(id),
                        static_cast<long long>(p.positions));
        }
        at = id;
      }
      LoadRow(c.in(1), at * p.half, p.half, row + p.size);
      LoadRow(c.in(2), at * p.half, p.half, row + p.size + p.half);
      for (int64_t h = 0; h < p.heads; ++h) {
        const int64_t from = b * p.batch_at + h * p.head_at + s * p.step_at;
        LoadRow(x, from, p.size, row);
        RotateRow(p, row);
        PutRow(y, from, p.size, row);
      }
    }
  }
  return GE_OK;
}

bool PlanRotary(const NodeView& n, RotaryPlan* p, Why* why) {
  if (!NeedPorts(n, 3, 4, why) || !NeedOneFloatType(n, 1u << 3, why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return false;
  }
  const TensorType x = n.in(0);
  if (x.rank != 3 && x.rank != 4) return why->Say(GE_WHY_SHAPE, "X has neither rank 3 nor 4");
  const bool four = x.rank == 4;
  p->batch = x.dims[0];
  p->heads = four ? x.dims[1] : n.Int("num_heads");
  if (!four && (p->heads < 1 || x.dims[2] % p->heads != 0)) {
    return why->Say(GE_WHY_ATTRIBUTE, "num_heads does not divide the hidden size");
  }
  p->steps = x.dims[four ? 2 : 1];
  p->size = four ? x.dims[3] : x.dims[2] / p->heads;
  p->head_at = four ? p->steps * p->size : p->size;
  p->step_at = four ? p->size : p->heads * p->size;
  p->batch_at = p->heads * p->steps * p->size;
  const int64_t given = n.Int("rotary_embedding_dim"), turned = given == 0 ? p->size : given;
  if (turned < 0 || turned > p->size || turned % 2 != 0) {
    return why->Say(GE_WHY_ATTRIBUTE, "%lld elements to turn, an even number up to %lld is wanted",
                    static_cast<long long>(turned), static_cast<long long>(p->size));
  }
  p->half = turned / 2;
  p->interleaved = n.Int("interleaved") != 0;
  const TensorType cosine = n.in(1);
  bool ok = SameDims(cosine.shape(), n.in(2).shape());
  if (n.has_in(3)) {
    p->positions = cosine.rank == 2 ? cosine.dims[0] : 0;
    ok = ok && HasDims(cosine, {p->positions, p->half}) && n.in(3).dtype == GE_I64 &&
         HasDims(n.in(3), {p->batch, p->steps});
  } else {
    ok = ok && HasDims(cosine, {p->batch, p->steps, p->half});
  }
  return ok || NoRole(why);
}

std::unique_ptr<Prepared> PrepareRotary(const NodeView& n, Why* why) {
  RotaryPlan p{};
  if (!PlanRotary(n, &p, why)) return nullptr;
  auto made = Make([p](const Call& c) { return RunRotary(p, c); });
  made->workspace = static_cast<uint64_t>(p.size + 2 * p.half) * sizeof(double);
  made->in_place = 1;
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(rotary_embedding, "RotaryEmbedding", PrepareRotary)
