#include "passes/grad/remat/checkpoint_segments.h"

#include <algorithm>
#include <set>

#include "passes/grad/entry.h"
#include "passes/grad/kit.h"
#include "passes/grad/train/settings.h"

namespace ge::grad {
namespace {

bool IsDear(const ge_node& n) {
  static const std::set<std::string_view> ops = {
      "MatMul",      "Gemm",       "Conv", "ConvTranspose", "Einsum",
      "LSTM",        "GRU",        "RNN",  "Attention",     "MatMulInteger",
      "ConvInteger", "DeformConv", "Det",  "DFT",           "GridSample"};
  return n.n_body > 0 || ops.count(plugin::View(n.op)) != 0;
}

// A machine's pace, so that work and traffic can be added up: only what they are to each other
// counts. 50 GF/s and 10 GB/s a core.
constexpr double kFlopsPerNs = 50, kBytesPerNs = 10;

}  // namespace

CheckpointSegments::CheckpointSegments(Fn& fn, const Reverse& sweep, const std::vector<Val>& kept,
                                       int64_t rows)
    : fn_(fn),
      g_(fn.Picture()),
      rows_(rows),
      fixed_(g_->n_value),
      read_back_(g_->n_value),
      kept_(g_->n_value, 1),
      again_(g_->n_value),
      of_(g_->n_node) {
  for (const Val v : kept) fixed_[v.id] = 1;
  for (uint32_t i = 0; i < g_->n_out; ++i) fixed_[g_->out[i]] = 1;
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    back_.push_back(!sweep.IsForward(n.id));
    dear_.push_back(IsDear(n));
    bool varies = false;
    for (uint32_t k = 0; k < n.n_in; ++k) {
      const ge_value& v = *GE_VALUE(g_, n.in[k]);
      const bool made = n.in[k] != 0 && (v.flags & GE_VALUE_CONSTANT) == 0;
      varies = varies || (made && IsFloat(v.type.dtype) &&
                          (v.producer == UINT32_MAX || varies_[v.producer] != 0));
    }
    const bool floats = n.n_out > 0 && n.out[0] != 0 && IsFloat(GE_VALUE(g_, n.out[0])->type.dtype);
    varies_.push_back(floats && (varies || n.n_effect > 0));
    double flops = 0, bytes = 0;
    const ge_edit* e = fn.edit();
    e->work(e->host, fn.id(), n.id, &flops, &bytes);  // nothing where it is not known
    cost_.push_back(flops / kFlopsPerNs + bytes / kBytesPerNs);
    for (uint32_t k = 0; back_.back() && k < n.n_in; ++k) read_back_[n.in[k]] = 1;
    const bool repeats = Pure(n) && (back_.back() || DrawsAnew(e, n).empty());
    for (uint32_t k = 0; !repeats && k < n.n_out; ++k) fixed_[n.out[k]] = 1;
  }
  read_back_[0] = 0;
  Reset(1);
}

bool CheckpointSegments::MadeIn(size_t segment, uint32_t value) const {
  const uint32_t from = value != 0 ? GE_VALUE(g_, value)->producer : UINT32_MAX;
  return from != UINT32_MAX && !back_[from] && of_[from] == segment;
}

double CheckpointSegments::BytesOf(uint32_t v) const {
  const ge_type& t = GE_VALUE(g_, v)->type;
  double bytes = t.bits / 8.0;
  for (int32_t i = 0; i < t.rank; ++i) {
    // Sizes that are not known are the same in all of them as a rule: a batch.
    const int64_t unknown = std::max<int64_t>(rows_, 1);
    bytes *= static_cast<double>(t.dims[i] < 0 ? unknown : t.dims[i]);
  }
  return bytes;
}

uint32_t CheckpointSegments::UnknownSize() const {
  for (uint32_t v = 1; v < g_->n_value; ++v) {
    const ge_value& value = *GE_VALUE(g_, v);
    if (value.producer == UINT32_MAX || value.n_user == 0 || value.type.dtype == 0) continue;
    bool known = value.type.rank >= 0;
    for (int32_t i = 0; i < value.type.rank; ++i) {
      known = known && (value.type.dims[i] >= 0 || rows_ > 0);
    }
    if (!known) return v;
  }
  return 0;
}

// ---- cutting

void CheckpointSegments::Reset(size_t segments) {
  levels_.assign(std::max<size_t>(segments, 1), kEverything);
  std::fill(of_.begin(), of_.end(), 0);
}

void CheckpointSegments::CutEvenly(size_t segments) {
  Reset(segments);
  double total = 0, so_far = 0;
  std::vector<double> bytes(g_->n_node);
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    for (uint32_t k = 0; !back_[i] && k < n.n_out; ++k) {
      if (read_back_[n.out[k]]) bytes[i] += BytesOf(n.out[k]);
    }
    total += bytes[i];
  }
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const double share = total > 0 ? so_far / total : 1;
    of_[i] = std::min(count() - 1, static_cast<size_t>(share * static_cast<double>(count())));
    so_far += bytes[i];
  }
}

void CheckpointSegments::CutAtDear() {
  constexpr size_t kMost = 16;  // what two of them share is kept: more of them keep more
  const auto dear = [&](uint32_t i) { return dear_[i] && !back_[i]; };
  size_t all = 0, so_far = 0;
  for (uint32_t i = 0; i < g_->n_node; ++i) all += dear(i);
  Reset(std::min(kMost, all + 1));
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    so_far += dear(i);
    of_[i] = so_far * (count() - 1) / std::max<size_t>(all, 1);
  }
}

void CheckpointSegments::CutAtNames(const std::vector<std::string>& patterns) {
  std::vector<char> met(patterns.size());
  const auto fits = [&](std::string_view name) {
    bool any = false;
    for (size_t p = 0; !name.empty() && p < patterns.size(); ++p) {
      if (FitsPattern(name, patterns[p])) {
        any = true;
        met[p] = 1;
      }
    }
    return any;
  };
  std::vector<size_t> of;
  size_t segment = 0;
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    of.push_back(segment);
    bool named = !back_[i] && fits(plugin::View(n.name));
    for (uint32_t k = 0; k < n.n_out; ++k) {
      if (back_[i] || n.out[k] == 0) continue;
      const bool value = fits(plugin::View(GE_VALUE(g_, n.out[k])->name));
      named = named || value;
    }
    for (uint32_t k = 0; named && k < n.n_out; ++k) fixed_[n.out[k]] = 1;
    segment += named;
  }
  for (size_t p = 0; p < patterns.size(); ++p) {
    if (met[p]) continue;
    throw Refusal{GE_INVALID_ARGUMENT, "remat names '" + patterns[p] +
                                           "', which fits no node and no value of the way "
                                           "there"};
  }
  Reset(segment + 1);
  of_ = std::move(of);
}

// Whether the way back may run a copy of the node.
bool CheckpointSegments::MayRepeat(uint32_t node) const {
  const Level level = levels_[of_[node]];
  return level == kNothing || (level == kDear && !dear_[node]);
}

void CheckpointSegments::Settle() {
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    const Level level = levels_[of_[i]];
    for (uint32_t k = 0; !back_[i] && k < n.n_out; ++k) {
      const uint32_t out = n.out[k];
      if (out == 0) continue;
      const ge_value& v = *GE_VALUE(g_, out);
      bool keep = fixed_[out] || level == kEverything || (level == kDear && dear_[i]);
      // What a copy in another segment reads has to be there when that one is repeated.
      for (uint32_t u = 0; u < v.n_user && !keep; ++u) {
        const uint32_t by = v.user[u];
        keep = !back_[by] && of_[by] != of_[i] && MayRepeat(by);
      }
      kept_[out] = keep;
      again_[out] = !keep && read_back_[out];
    }
  }
}

// ---- what is computed again

std::vector<uint32_t> CheckpointSegments::Repeated(size_t segment,
                                                   std::vector<char>* wanted) const {
  std::vector<uint32_t> nodes;
  *wanted = again_;
  for (uint32_t i = g_->n_node; i-- > 0;) {
    if (back_[i] || of_[i] != segment) continue;
    const ge_node& n = *GE_NODE(g_, i);
    bool used = false;
    for (uint32_t k = 0; k < n.n_out; ++k) used = used || (n.out[k] && (*wanted)[n.out[k]]);
    if (!used) continue;
    nodes.push_back(i);
    for (uint32_t k = 0; k < n.n_in; ++k) {
      if (MadeIn(segment, n.in[k]) && !kept_[n.in[k]]) (*wanted)[n.in[k]] = 1;
    }
  }
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

uint32_t CheckpointSegments::FirstReader(size_t segment) const {
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    if (!back_[i]) continue;
    for (uint32_t k = 0; k < n.n_in; ++k) {
      if (again_[n.in[k]] && MadeIn(segment, n.in[k])) return i;
    }
  }
  return g_->n_node;
}

uint32_t CheckpointSegments::LastBehind(uint32_t node) const {
  for (uint32_t i = node; i-- > 0;) {
    const ge_node& n = *GE_NODE(g_, i);
    if (back_[i] && varies_[i] && GE_VALUE(g_, n.out[0])->n_user > 0) return i;
  }
  return UINT32_MAX;
}

double CheckpointSegments::BytesSaved(size_t segment) const {
  double bytes = 0;
  for (uint32_t v = 1; v < g_->n_value; ++v) {
    if (again_[v] && MadeIn(segment, v)) bytes += BytesOf(v);
  }
  // What only the copies need until then is kept for them.
  std::vector<char> wanted, counted(g_->n_value);
  for (const uint32_t i : Repeated(segment, &wanted)) {
    const ge_node& n = *GE_NODE(g_, i);
    for (uint32_t k = 0; k < n.n_in; ++k) {
      const uint32_t v = n.in[k];
      const uint32_t from = v != 0 ? GE_VALUE(g_, v)->producer : UINT32_MAX;
      if (from == UINT32_MAX || fixed_[v] || read_back_[v] || counted[v]) continue;
      if (MadeIn(segment, v) && wanted[v]) continue;
      bytes -= BytesOf(v);
      counted[v] = 1;
    }
  }
  return bytes;
}

double CheckpointSegments::CostOf(size_t segment) const {
  std::vector<char> wanted;
  double ns = 0;
  for (const uint32_t i : Repeated(segment, &wanted)) ns += cost_[i];
  return ns;
}

}  // namespace ge::grad
