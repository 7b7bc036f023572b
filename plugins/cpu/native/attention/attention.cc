#include "plugins/cpu/native/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "plugins/cpu/kit/loop_parts.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/kit/thresholds.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"

namespace ge_engines::cpu::native {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

constexpr int64_t kRowsAhead = 4;  // whose masks are on their way

// What one thread works with.
struct AttendRoom {
  float *scores, *k, *v, *top, *sum;
  int64_t* offsets;  // of the steps' operands, by row of the chunk
};

class Attended final : public Kernel {
 public:
  explicit Attended(const AttendPlan& plan)
      : p_(plan), s_(p_.s), simd_(*plan.simd), block_(p_.block()), columns_(p_.columns()) {}

  ge_rc Do(const Call& call) const override {
    const size_t room = 4 + s_.steps.size() + 1;
    const auto* lengths = reinterpret_cast<const int64_t*>(call.p[room - 1]);
    for (int64_t b = 0; s_.lengths && b < s_.batch; ++b) {
      const int64_t all = s_.past + s_.fresh;  // more than what a short mask leaves
      if (lengths[b] >= 0 && lengths[b] <= all) continue;
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                              "length %lld of batch %lld is outside [0, %lld], the keys that there "
                              "are",
                              static_cast<long long>(lengths[b]), static_cast<long long>(b),
                              static_cast<long long>(all));
    }
    ForJobs(p_.threads, p_.jobs(), call.p[room], p_.floats(),
            [&](int64_t i, float* own) { Job(call.p, i, RoomIn(own)); });
    return GE_OK;
  }

 private:
  // One chunk of rows of a head.
  struct Chunk {
    int64_t row, rows;  // of all of the head's
    int64_t first;      // that row among those of all heads
    int64_t keys;       // that the batch has
    int64_t own;        // the key at the place of its first row
    const float *q, *k, *v;
    float* y;
  };

  AttendRoom RoomIn(float* own) const {
    AttendRoom r;
    r.offsets = reinterpret_cast<int64_t*>(own);
    own += 2 * static_cast<int64_t>(s_.steps.size()) * p_.chunk;
    r.top = own;
    own += p_.chunk;
    r.sum = own;
    own += p_.chunk;
    r.scores = own;
    own += std::min(p_.chunk, kAttendRows) * block_;
    r.k = own;  // of a thin one: the product of a block
    r.v = own + CeilDiv(block_, columns_) * columns_ * s_.size;
    return r;
  }

  void Job(float* const* p, int64_t i, const AttendRoom& room) const {
    // Heads that share a mask follow each other while it is in a cache.
    const int64_t pairs = s_.batch * s_.heads, pair = i % pairs;
    const int64_t b = pair / s_.heads, h = pair % s_.heads, kv = h / s_.share;
    Chunk c;
    c.row = i / pairs * p_.chunk;
    c.rows = std::min(p_.chunk, s_.rows - c.row);
    c.first = pair * s_.rows + c.row;
    const auto* lengths = reinterpret_cast<const int64_t*>(p[4 + s_.steps.size()]);
    c.keys = s_.lengths ? std::min(lengths[b], s_.keys) : s_.keys;
    c.own = (s_.lengths ? lengths[b] - s_.rows : s_.past) + c.row;
    c.q = p[1] + b * s_.q.batch + h * s_.q.head + c.row * s_.q.row;
    c.k = p[2] + b * s_.k.batch + kv * s_.k.head;
    c.v = p[3] + b * s_.v.batch + kv * s_.v.head;
    c.y = p[0] + b * s_.y.batch + h * s_.y.head + c.row * s_.y.row;
    Begin(c, room);
    const int64_t end = Seen(c, c.rows - 1);
    for (int64_t j = First(c, 0); j < end; j += block_) {
      const int64_t keys = std::min(block_, end - j);
      if (!p_.thin()) Pack(c, room, j, keys);
      for (int64_t r = 0; r < c.rows; r += kAttendRows) {
        const int64_t rows = std::min(kAttendRows, c.rows - r);
        const bool seen = j < Seen(c, r + rows - 1) && j + keys > First(c, r);
        if (seen) Tile(p, c, room, r, rows, j, keys);
      }
    }
    for (int64_t r = 0; r < c.rows; ++r) {
      float* y = c.y + r * s_.y.row;
      if (s_.sees_none && !(room.sum[r] > 0) && SeesNone(p, c, room, r)) {
        std::fill_n(y, s_.v_size, 0.0f);
      } else {
        simd_.unary(Fn::kLinear, 1 / room.sum[r], 0, y, y, s_.v_size);
      }
    }
  }

  // Row r of a chunk sees at most the keys from First to Seen.
  int64_t First(const Chunk& c, int64_t r) const {
    return s_.before >= 0 ? std::clamp<int64_t>(c.own + r - s_.before, 0, c.keys) : 0;
  }
  int64_t Seen(const Chunk& c, int64_t r) const {
    return s_.after >= 0 ? std::clamp<int64_t>(c.own + r + s_.after + 1, 0, c.keys) : c.keys;
  }

  // Whether row r, whose sum is 0 or NaN, sees no key: all its scores are -infinity, or a mask that
  // is added hides them, whatever they are.
  bool SeesNone(float* const* p, const Chunk& c, const AttendRoom& room, int64_t r) const {
    if (room.sum[r] == 0) return true;
    for (size_t k = 0; k < s_.steps.size(); ++k) {
      if (s_.steps[k].kind != ScoreStep::kBinary) continue;
      const float* mask =
          p[4 + k] + room.offsets[k * static_cast<size_t>(p_.chunk) + static_cast<size_t>(r)];
      const int64_t first = std::min(First(c, r), Seen(c, r));
      const auto hides = [](float v) { return v == kMasked; };
      if (std::all_of(mask + first, mask + Seen(c, r), hides)) return true;
    }
    return false;
  }

  void Begin(const Chunk& c, const AttendRoom& room) const {
    std::fill(room.top, room.top + c.rows, kMasked);
    std::fill(room.sum, room.sum + c.rows, 0.0f);
    for (int64_t r = 0; r < c.rows; ++r) {
      std::fill_n(c.y + r * s_.y.row, s_.v_size, 0.0f);
      for (size_t k = 0; k < s_.steps.size(); ++k) {
        const ScoreStep& step = s_.steps[k];
        int64_t at = 0, rest = c.first + r;
        for (size_t d = step.view.size(); d-- > 0; rest /= step.view[d]) {
          at += rest % step.view[d] * step.step[d];
        }
        room.offsets[k * static_cast<size_t>(p_.chunk) + static_cast<size_t>(r)] = at;
      }
    }
  }

  // Keys as rows of depths, values as they are, both in panels.
  void Pack(const Chunk& c, const AttendRoom& room, int64_t j, int64_t keys) const {
    for (int64_t at = 0; at < keys; at += columns_) {
      const int64_t some = std::min(columns_, keys - at);
      float* to = room.k + at * s_.size;
      if (s_.transposed) {
        simd_.transpose(c.k + (j + at) * s_.k.row, s_.k.row, to, columns_, some, s_.size);
      } else {
        simd_.copy_rows(c.k + j + at, s_.k.row, to, columns_, s_.size, some);
      }
    }
    for (int64_t at = 0; at < s_.v_size; at += columns_) {
      simd_.copy_rows(c.v + j * s_.v.row + at, s_.v.row, room.v + at * block_, columns_, keys,
                      std::min(columns_, s_.v_size - at));
    }
  }

  void Tile(float* const* p, const Chunk& c, const AttendRoom& room, int64_t r, int64_t rows,
            int64_t j, int64_t keys) const {
    Scores(c, room, r, rows, j, keys);
    float* y = c.y + r * s_.y.row;
    for (int64_t i = 0; i < rows; ++i) {
      float* row = room.scores + i * block_;
      if (i + kRowsAhead < rows) Ahead(p, room, r + i + kRowsAhead, j, keys);
      Steps(p, room, r + i, j, keys, row);
      const int64_t seen = std::clamp<int64_t>(Seen(c, r + i) - j, 0, keys);
      std::fill(row + seen, row + keys, kMasked);
      std::fill(row, row + std::clamp<int64_t>(First(c, r + i) - j, 0, keys), kMasked);
      const float before = simd_.softmax_more(row, keys, room.top + r + i, room.sum + r + i);
      if (before == 1) continue;
      simd_.unary(Fn::kLinear, before, 0, y + i * s_.y.row, y + i * s_.y.row, s_.v_size);
    }
    if (p_.thin()) return AddThin(c, room, rows, j, keys);
    for (int64_t at = 0; at < s_.v_size; at += columns_) {
      simd_.panel_product_add(room.scores, block_, room.v + at * block_, 0, y + at, s_.y.row, rows,
                              std::min(columns_, s_.v_size - at), keys);
    }
  }

  void Scores(const Chunk& c, const AttendRoom& room, int64_t r, int64_t rows, int64_t j,
              int64_t keys) const {
    const float* q = c.q + r * s_.q.row;
    if (p_.thin() && s_.transposed) {
      return simd_.dot_rows(q, s_.q.row, c.k + j * s_.k.row, s_.k.row, room.scores, block_, rows,
                            keys, s_.size);
    }
    if (p_.thin()) {
      return simd_.thin_product(q, s_.q.row, c.k + j, s_.k.row, room.scores, block_, rows, keys,
                                s_.size);
    }
    for (int64_t at = 0; at < keys; at += columns_) {
      simd_.panel_product(q, s_.q.row, room.k + at * s_.size, 0, nullptr, room.scores + at, block_,
                          rows, std::min(columns_, keys - at), s_.size);
    }
  }

  void AddThin(const Chunk& c, const AttendRoom& room, int64_t rows, int64_t j,
               int64_t keys) const {
    simd_.thin_product(room.scores, block_, c.v + j * s_.v.row, s_.v.row, room.k, s_.v_size, rows,
                       s_.v_size, keys);
    for (int64_t i = 0; i < rows; ++i) {
      float* y = c.y + i * s_.y.row;
      simd_.binary(Fn::kAdd, y, room.k + i * s_.v_size, y, s_.v_size);
    }
  }

  // Asks for the masks of a row, whose keys lie far from those of the row before.
  void Ahead(float* const* p, const AttendRoom& room, int64_t r, int64_t j, int64_t keys) const {
    for (size_t k = 0; k < s_.steps.size(); ++k) {
      const ScoreStep& step = s_.steps[k];
      if (step.kind == ScoreStep::kUnary || step.key_step == 0) continue;
      const int64_t size = step.kind == ScoreStep::kWhere ? 1 : int64_t{sizeof(float)};
      const int64_t at = room.offsets[k * static_cast<size_t>(p_.chunk) + static_cast<size_t>(r)];
      const char* from = reinterpret_cast<const char*>(p[4 + k]) + (at + j) * size;
      for (int64_t line = 0; line < keys * size; line += 64) __builtin_prefetch(from + line);
    }
  }

  // Row r of the chunk, keys j, j + 1, ...
  void Steps(float* const* p, const AttendRoom& room, int64_t r, int64_t j, int64_t keys,
             float* row) const {
    for (size_t k = 0; k < s_.steps.size(); ++k) {
      const ScoreStep& step = s_.steps[k];
      if (step.kind == ScoreStep::kUnary) {
        simd_.unary(step.fn, step.a, step.b, row, row, keys);
        continue;
      }
      const int64_t at = room.offsets[k * static_cast<size_t>(p_.chunk) + static_cast<size_t>(r)] +
                         j * step.key_step;
      if (step.kind == ScoreStep::kBinary && step.key_step == 1) {
        simd_.binary(step.fn, row, p[4 + k] + at, row, keys);
      } else if (step.kind == ScoreStep::kBinary) {
        simd_.binary_scalar(step.fn, row, p[4 + k][at], row, keys);
      } else {
        Choose(step, reinterpret_cast<const uint8_t*>(p[4 + k]) + at, row, keys);
      }
    }
  }

  void Choose(const ScoreStep& step, const uint8_t* condition, float* row, int64_t keys) const {
    if (step.key_step == 0) {
      if ((*condition != 0) != step.keep) std::fill(row, row + keys, step.a);
    } else if (step.keep) {
      simd_.select(condition, row, 1, &step.a, 0, row, keys);
    } else {
      simd_.select(condition, &step.a, 0, row, 1, row, keys);
    }
  }

  const AttendPlan p_;
  const AttendSpec& s_;
  const Simd& simd_;
  const int64_t block_, columns_;
};

}  // namespace

AttendPlan::AttendPlan(const Simd& kernels, AttendSpec spec, int most)
    : simd(&kernels), s(std::move(spec)), threads(most), chunk(std::min(s.rows, kAttendChunk)) {
  // Rows of one head are shared where there are fewer heads than threads.
  const int64_t heads = s.batch * s.heads;
  if (threads > 1 && heads % threads != 0 && heads < 4 * threads && s.rows >= 2 * kAttendRows) {
    const int64_t pieces = CeilDiv(4 * threads, heads);
    chunk = std::clamp(CeilDiv(s.rows, pieces), kAttendRows, chunk);
  }
  const double work = static_cast<double>(heads * s.rows) * static_cast<double>(s.keys) *
                      static_cast<double>(s.size + s.v_size);
  if (work < double{kPanelParallel}) threads = 1;
}

bool AttendPlan::thin() const { return s.rows <= kAttendThinRows; }
int64_t AttendPlan::block() const {
  return std::min(thin() ? kAttendThinKeys : kAttendKeys, s.keys);
}
int64_t AttendPlan::columns() const { return simd->panel_columns(); }

uint64_t AttendPlan::floats() const {
  const int64_t steps = static_cast<int64_t>(s.steps.size());
  const int64_t packed = thin() ? s.rows * s.v_size
                                : CeilDiv(block(), columns()) * columns() * s.size +
                                      CeilDiv(s.v_size, columns()) * columns() * block();
  const int64_t all = 2 * chunk * (1 + steps) + std::min(chunk, kAttendRows) * block() + packed;
  return static_cast<uint64_t>(CeilDiv(all, 16) * 16);
}

// Products of what is in a cache at 0.9 of their peak, the exponentials of its Softmax and 0.1 ns
// for each other step of a score; copies into panels; one read of keys and values from memory.
double AttendPlan::ns(const Machine& machine) const {
  const auto pairs = static_cast<double>(s.batch * s.heads), rows = static_cast<double>(s.rows);
  const auto depth = static_cast<double>(s.size + s.v_size);
  const bool window = s.before >= 0 && s.after >= 0;
  // A chunk of rows meets the windows of all of them.
  const int64_t met = window ? s.before + s.after + chunk : s.keys;
  const auto keys = static_cast<double>(std::min(met, s.keys));
  const bool half = s.windowed() && !window && s.rows == s.keys;
  const double scores = pairs * rows * keys * (half ? 0.5 : 1);
  const double rate = ByIsa(machine, 150, 95, 25) * std::min(1.0, (rows + 2) / 8);
  const double each = 2 * depth / rate + ByIsa(machine, 0.52, 1.25, 3.3) +
                      0.1 * static_cast<double>(s.steps.size());
  const double packed =
      thin() ? 0 : pairs * std::ceil(rows / static_cast<double>(chunk)) * keys * depth * 0.25;
  const double bytes = pairs / static_cast<double>(s.share) * keys * depth * 4;
  const double ns =
      std::max((scores * each + packed) / machine.compute, bytes / (15 * machine.stream[2]));
  return threads > 1 ? kForkNs + ns / (0.9 * threads) : ns;
}

std::unique_ptr<Kernel> AttentionKernel(const AttendPlan& plan) {
  return std::make_unique<Attended>(plan);
}

namespace {

// All keys or values, those of the past first: [batch, heads, past + fresh, size], as output k of
// the unit where it is wanted. `steps` says how the fresh ones lie.
BufferRef Joined(NativeBuilder* b, const Unit& u, const AttendSpec& s, size_t k, HeadSteps* steps,
                 int64_t size) {
  const BufferRef fresh = b->GetDense(u.in[k]).place;
  const uint32_t out = k < u.out.size() ? u.out[k] : 0;
  const size_t past = k == 1 ? s.past_k : s.past_v;
  if (out == 0 && past == 0) return fresh;
  const int64_t heads = s.heads / s.share, all = s.past + s.fresh;
  const Layout to = Layout::Dense({s.batch, heads, all, size});
  Layout from = Layout::Dense({s.batch, heads, s.fresh, size});
  from.stride[0] = steps->batch;
  from.stride[1] = steps->head;
  from.stride[2] = steps->row;
  const Rep y =
      out != 0 ? b->NewResult(out, to)
               : Rep{to, b->NewInternal(0, static_cast<uint64_t>(to.extent()) * sizeof(float))};
  std::vector<BoxCopy> boxes;
  std::vector<BufferRef> places = {y.place};
  if (past != 0) {
    const Dims before = {s.batch, heads, s.past, size};
    boxes.push_back({Layout::Dense(before), to, {0, 0, 0, 0}, {0, 0, 0, 0}, before});
    places.push_back(b->GetDense(u.in[past]).place);
  }
  boxes.push_back({from, to, {0, 0, 0, 0}, {0, 0, s.past, 0}, from.dims()});
  places.push_back(fresh);
  b->AddStep("join " + b->Sizes(to.dims()), CopyLoop(b->simd(), to, boxes), std::move(places));
  if (out != 0) b->AddRep(out, y);
  *steps = {heads * all * size, all * size, size};
  return y.place;
}

// A tensor [batch, heads, rows, columns] as it lies, where the elements of a row or of a column are
// neighbours; else in plain order. *turned: of columns.
BufferRef HeadsOf(NativeBuilder* b, uint32_t v, bool may_transpose, HeadSteps* steps,
                  bool* transposed) {
  Rep x = b->Unblocked(v);
  const auto near = [&](int axis) { return x.layout.stride[axis] == 1 || x.layout.dim[axis] == 1; };
  *transposed = may_transpose && near(2) && !near(3);
  if (!*transposed && !near(3)) x = b->GetDense(v);
  const int64_t* stride = x.layout.stride;
  *steps = {stride[0], stride[1], stride[*transposed ? 3 : 2]};
  return x.place;
}

// The only reader of the result, if it brings rows before heads: the result may lie so.
bool RowsBeforeHeads(NativeBuilder* b, const Unit& u) {
  const ge_value& y = b->parser().value(u.out[0]);
  if (y.n_user != 1 || (y.flags & GE_VALUE_OUTPUT) != 0 || b->Leaves(u.out[0])) return false;
  const ge_node& reader = b->parser().node(y.user[0]);
  const auto perm = gp::AttrInts(reader, "perm");
  return gp::IsOp(reader, "Transpose") && Dims(perm.begin(), perm.end()) == Dims{0, 2, 1, 3};
}

// The operands of two products, which may be views of tensors whose rows hold all heads.
std::vector<BufferRef> ProductHeads(NativeBuilder* b, const Unit& u, AttendSpec* s) {
  const Dims q = b->parser().dims(u.in[0]), v = b->parser().dims(u.in[2]);
  const bool four = q.size() == 4 && v.size() == 4 && v[0] == q[0] && v[1] == q[1];
  if (!four) {
    const BufferRef k = b->Matrix(u.in[1], false, true, &s->transposed).place;
    s->k.row = s->transposed ? s->size : s->keys;
    return {b->GetDense(u.in[0]).place, k, b->GetDense(u.in[2]).place};
  }
  s->batch = q[0];
  s->heads = q[1];
  s->y = {s->heads * s->rows * s->v_size, s->rows * s->v_size, s->v_size};
  bool transposed = false;
  const BufferRef from = HeadsOf(b, u.in[0], false, &s->q, &transposed);
  const BufferRef k = HeadsOf(b, u.in[1], true, &s->k, &s->transposed);
  return {from, k, HeadsOf(b, u.in[2], false, &s->v, &transposed)};
}

class AttentionKind final : public KindOf<AttendSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    Price out;
    const AttendPlan plan(SimdOf(machine.isa), SpecOf(unit), machine.threads);
    double bytes = BytesOf(parser, unit.out[0]);
    for (size_t k = 3; k < unit.in.size(); ++k) bytes += BytesOf(parser, unit.in[k]);
    out.work_ns = kLoopNs + std::max(plan.ns(machine), StreamNs(machine, bytes));
    out.workspace = plan.floats() * static_cast<uint64_t>(plan.threads) * sizeof(float);
    return out;
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const AttendSpec& spec = SpecOf(u);
    AttendSpec s = spec;
    std::vector<BufferRef> reads;
    if (s.of_product) {
      reads = ProductHeads(b, u, &s);
    } else {
      const BufferRef k = Joined(b, u, spec, 1, &s.k, s.size);
      reads = {b->GetDense(u.in[0]).place, k, Joined(b, u, spec, 2, &s.v, s.v_size)};
    }
    const BufferRef q = reads[0];
    for (const ScoreStep& step : s.steps) {
      reads.push_back(step.kind == ScoreStep::kUnary ? q : b->GetDense(u.in[step.operand]).place);
    }
    reads.push_back(s.lengths ? b->GetDense(u.in[s.lengths_in]).place : q);
    Layout target = Layout::Dense(u.dims);
    if (u.dims.size() == 4 && s.heads == u.dims[1] && s.y.row == s.v_size &&
        RowsBeforeHeads(b, u)) {
      target.stride[0] = s.heads * s.rows * s.v_size;
      target.stride[1] = s.v_size;
      target.stride[2] = s.heads * s.v_size;
      s.y = {target.stride[0], target.stride[1], target.stride[2]};
    }
    const AttendPlan plan(b->simd(), std::move(s), b->machine().threads);
    const uint64_t floats = plan.floats() * static_cast<uint64_t>(plan.threads);
    reads.push_back(b->NewInternal(0, floats * sizeof(float)));
    const Rep y = b->NewResult(u.out[0], target);
    reads.insert(reads.begin(), y.place);
    b->AddStep("attention " + b->Sizes(u.dims), AttentionKernel(plan), std::move(reads));
    b->AddRep(u.out[0], y);
  }
};

const AttentionKind kAttentionKind;
}  // namespace

GE_NATIVE_KINDS(attention, &kAttentionKind)

}  // namespace ge_engines::cpu::native
