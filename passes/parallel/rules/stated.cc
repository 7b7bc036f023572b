#include "passes/parallel/rules/stated.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "passes/kit/refusal.h"
#include "passes/parallel/mesh.h"

namespace ge::parallel {
namespace {

struct Stated {
  const ge_graph* g;
  const ge_node& n;
  int64_t shares;
  std::vector<Way> ways;
  std::string wrong;       // of the first way that cannot be; empty: none
  bool no_memory = false;  // for these
};

std::string CountText(uint32_t in, uint32_t out) {
  return std::to_string(in) + " inputs and " + std::to_string(out) + " outputs";
}

// The places that axes stand for. False, and nothing wrong: some shares would have no element.
// `what`: "input" or "output".
bool TakePlaces(Stated* s, const char* what, const uint32_t* values, const int32_t* axes,
                uint32_t n, std::vector<int>* to) {
  bool all_have_some = true;
  for (uint32_t i = 0; i < n; ++i) {
    const std::vector<int64_t> dims = DimsOf(s->g, values[i]);
    if (axes[i] == GE_SHARD_WHOLE || axes[i] == GE_SHARD_TERM) {
      to->push_back(axes[i] == GE_SHARD_TERM ? kTerm : kWhole);
    } else if (axes[i] < 0 || axes[i] >= static_cast<int32_t>(dims.size())) {
      s->wrong = std::string(what) + " " + std::to_string(i) + " is split along axis " +
                 std::to_string(axes[i]) + ", wanted one of its " + std::to_string(dims.size()) +
                 ", GE_SHARD_WHOLE or GE_SHARD_TERM";
      return false;
    } else {
      const int64_t size = dims[static_cast<size_t>(axes[i])];
      all_have_some = all_have_some && ShareOf(size, s->shares, s->shares - 1).size > 0;
      to->push_back(axes[i]);
    }
  }
  return all_have_some;
}

// Why such a way computes nothing that ranks could put together; empty: it may.
std::string WrongOf(const Stated& s, const Way& way) {
  const auto apart = [](int place) { return place != kWhole; };
  if (std::none_of(way.in.begin(), way.in.end(), apart)) {
    const bool makes = std::any_of(way.out.begin(), way.out.end(), apart);
    return makes ? "no input is split or a term, and an output is" : "nothing is split";
  }
  for (uint32_t k = 0; k < s.n.n_out; ++k) {
    if (s.n.out[k] == 0 || way.out[k] != kWhole) continue;
    return "an input is split or a term, and output " + std::to_string(k) +
           " is whole; say which axis of it is split, or by `partial` what it is a term of";
  }
  return {};
}

void TakeWay(Stated* s, const ge_shard& shard) {
  if (shard.n_in != s->n.n_in || shard.n_out != s->n.n_out) {
    s->wrong = "it is of " + CountText(shard.n_in, shard.n_out) + ", the node has " +
               CountText(s->n.n_in, s->n.n_out);
    return;
  }
  if (shard.partial > GE_SHARD_MIN) {
    s->wrong = "partial is " + std::to_string(shard.partial) +
               ", wanted 0, GE_SHARD_SUM, GE_SHARD_MAX or GE_SHARD_MIN";
    return;
  }
  Way way;
  const bool in = TakePlaces(s, "input", s->n.in, shard.in_axis, shard.n_in, &way.in);
  if (!s->wrong.empty()) return;
  const bool out = TakePlaces(s, "output", s->n.out, shard.out_axis, shard.n_out, &way.out);
  if (!s->wrong.empty()) return;
  constexpr int kTerms[] = {kWhole, kTerm, kMaxTerm, kMinTerm};  // by GE_SHARD_SUM ...
  if (shard.partial != 0) std::fill(way.out.begin(), way.out.end(), kTerms[shard.partial]);
  s->wrong = WrongOf(*s, way);
  if (s->wrong.empty() && in && out) s->ways.push_back(std::move(way));
}

// Called by the plugin: no exception may pass.
ge_rc Take(void* to, const ge_shard* shard) {
  Stated& s = *static_cast<Stated*>(to);
  if (!s.wrong.empty()) return GE_OK;
  try {
    TakeWay(&s, *shard);
  } catch (const std::bad_alloc&) {
    s.no_memory = true;
  }
  return s.no_memory ? GE_OUT_OF_MEMORY : GE_OK;
}

}  // namespace

Split SplitOf(const ge_edit* edit, uint32_t fn, const ge_graph* graph, const ge_node& node,
              int64_t shares) {
  Split split = SplitOf(graph, node, shares);
  if (split.known || node.n_body > 0 || node.n_effect > 0) return split;
  Stated stated{graph, node, shares, {}, {}};
  const ge_rc rc = edit->shard(edit->host, fn, node.id, &stated, Take);
  if (rc == GE_NOT_FOUND) return split;
  if (stated.no_memory) throw std::bad_alloc();
  if (rc != GE_OK || !stated.wrong.empty()) {
    const std::string who = NodeText(node);
    throw passes::Refusal{
        GE_INTERNAL,
        rc != GE_OK ? who + ": its function shard failed, code " + std::to_string(rc)
                    : who + ": its function shard states a way that cannot be: " + stated.wrong};
  }
  split.known = true;
  split.ways = std::move(stated.ways);
  return split;
}

}  // namespace ge::parallel
