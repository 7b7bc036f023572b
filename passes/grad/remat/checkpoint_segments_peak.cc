// What a function whose segments are repeated takes: its nodes and their copies in a line, each
// value from where it is made to where it is read last.
#include <algorithm>
#include <map>

#include "passes/grad/remat/checkpoint_segments.h"

namespace ge::grad {
namespace {

bool IsView(const ge_node& n) {
  return plugin::IsOp(n, "Reshape") || plugin::IsOp(n, "Flatten") || plugin::IsOp(n, "Squeeze") ||
         plugin::IsOp(n, "Unsqueeze") || plugin::IsOp(n, "Identity");
}

struct Step {
  uint32_t node;
  size_t copy_of;  // the segment that it repeats
};
constexpr size_t kOriginal = SIZE_MAX;

}  // namespace

double CheckpointSegments::Peak() const {
  std::map<uint32_t, std::vector<Step>> ahead;  // of a node of the way back
  for (size_t s = 0; s < count(); ++s) {
    std::vector<char> wanted;
    const uint32_t first = FirstReader(s);
    if (first == g_->n_node) continue;
    for (const uint32_t i : Repeated(s, &wanted)) ahead[first].push_back({i, s});
  }
  std::vector<Step> line;
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const auto copies = ahead.find(i);
    if (copies != ahead.end()) {
      line.insert(line.end(), copies->second.begin(), copies->second.end());
    }
    line.push_back({i, kOriginal});
  }
  // By value, and by the copy of a value behind those: whose memory it is, and what that takes.
  const uint32_t n = g_->n_value;
  std::vector<uint32_t> owner(2 * size_t{n});
  std::vector<uint32_t> made(2 * size_t{n}), last(2 * size_t{n});
  std::vector<double> bytes(2 * size_t{n});
  std::vector<char> copied(n);
  for (uint32_t v = 0; v < 2 * n; ++v) owner[v] = v;
  for (uint32_t at = 0; at < line.size(); ++at) {
    const ge_node& node = *GE_NODE(g_, line[at].node);
    const bool copy = line[at].copy_of != kOriginal;
    const auto read = [&](uint32_t v) {
      if (v == 0) return v;
      const bool mine = copy && MadeIn(line[at].copy_of, v) && copied[v];
      const bool again = !copy && back_[line[at].node] && again_[v];
      return owner[mine || again ? v + n : v];
    };
    for (uint32_t k = 0; k < node.n_in; ++k) last[read(node.in[k])] = at;
    for (uint32_t k = 0; k < node.n_out; ++k) {
      if (node.out[k] == 0) continue;
      const uint32_t v = node.out[k] + (copy ? n : 0);
      if (copy) copied[node.out[k]] = 1;
      made[v] = last[v] = at;
      const bool view = k == 0 && node.n_in > 0 && IsView(node);
      if (view) owner[v] = read(node.in[0]);
      if (!view && node.n_effect == 0) bytes[v] = BytesOf(node.out[k]);
    }
  }
  for (uint32_t i = 0; i < g_->n_out; ++i) {
    last[owner[g_->out[i]]] = static_cast<uint32_t>(line.size());
  }
  std::vector<double> change(line.size() + 2);
  for (uint32_t v = 1; v < 2 * n; ++v) {
    if (bytes[v] > 0) {
      change[made[v]] += bytes[v];
      change[last[v] + 1] -= bytes[v];
    }
  }
  double now = 0, most = 0;
  for (const double c : change) most = std::max(most, now += c);
  return most;
}

}  // namespace ge::grad
