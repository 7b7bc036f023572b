#include "passes/grad/rematerialise.h"

#include <algorithm>

#include "passes/grad/copy_nodes.h"

namespace ge::grad {
namespace {

class Stretches {
 public:
  Stretches(Fn& fn, const Reverse& sweep, const std::vector<Val>& kept)
      : fn_(fn), g_(fn.Picture()), kept_(g_->n_value), again_(g_->n_value), of_(g_->n_node) {
    for (const Val v : kept) kept_[v.id] = 1;
    for (uint32_t i = 0; i < g_->n_node; ++i) {
      const ge_node& n = *GE_NODE(g_, i);
      back_.push_back(!sweep.IsForward(n.id));
    }
  }
  void Cut(size_t stretches);
  size_t Repeat(size_t stretch);

 private:
  bool Pure(const ge_node& n) const { return n.n_effect == 0 && n.n_after == 0; }
  double BytesOf(uint32_t v) const;
  bool ReadBack(uint32_t v) const;

  Fn& fn_;
  const ge_graph* g_;
  std::vector<char> back_;          // by node: of the way back
  std::vector<char> kept_, again_;  // by value
  std::vector<size_t> of_;          // the stretch of a forward node
};

// Sizes that are not known are the same in all of them as a rule: a batch.
double Stretches::BytesOf(uint32_t v) const {
  const ge_type& t = GE_VALUE(g_, v)->type;
  double bytes = t.bits / 8.0;
  for (int32_t i = 0; i < t.rank; ++i) bytes *= t.dims[i] < 0 ? 1 : static_cast<double>(t.dims[i]);
  return bytes;
}

bool Stretches::ReadBack(uint32_t v) const {
  const ge_value& value = *GE_VALUE(g_, v);
  return std::any_of(value.user, value.user + value.n_user,
                     [&](uint32_t user) { return back_[user] != 0; });
}

void Stretches::Cut(size_t stretches) {
  double total = 0, so_far = 0;
  std::vector<double> bytes(g_->n_node);
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    for (uint32_t k = 0; !back_[i] && k < n.n_out; ++k) {
      if (n.out[k] != 0 && ReadBack(n.out[k])) bytes[i] += BytesOf(n.out[k]);
    }
    total += bytes[i];
  }
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const double share = total > 0 ? so_far / total : 1;
    of_[i] = std::min(stretches - 1, static_cast<size_t>(share * static_cast<double>(stretches)));
    so_far += bytes[i];
  }
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    for (uint32_t k = 0; !back_[i] && k < n.n_out; ++k) {
      if (n.out[k] == 0) continue;
      const ge_value& v = *GE_VALUE(g_, n.out[k]);
      bool later = kept_[n.out[k]] || !Pure(n) || of_[i] + 1 == stretches;
      for (uint32_t u = 0; u < v.n_user && !later; ++u) {
        later = !back_[v.user[u]] && of_[v.user[u]] != of_[i];
      }
      kept_[n.out[k]] = later;
      again_[n.out[k]] = !later && ReadBack(n.out[k]);
    }
  }
}

// The stretch's nodes once more, ahead of the first node of the way back that reads one of them and
// behind the one before it: otherwise nothing would keep them from being computed early.
size_t Stretches::Repeat(size_t stretch) {
  std::vector<uint32_t> nodes;
  std::vector<char> wanted = again_;
  for (uint32_t i = g_->n_node; i-- > 0;) {
    const ge_node& n = *GE_NODE(g_, i);
    bool used = false;
    for (uint32_t k = 0; k < n.n_out; ++k) used = used || (n.out[k] && wanted[n.out[k]]);
    if (back_[i] || of_[i] != stretch || !used) continue;
    nodes.push_back(i);
    for (uint32_t k = 0; k < n.n_in; ++k) {
      const uint32_t v = n.in[k];
      const uint32_t from = v != 0 ? GE_VALUE(g_, v)->producer : UINT32_MAX;
      if (from != UINT32_MAX && !back_[from] && of_[from] == stretch && !kept_[v]) wanted[v] = 1;
    }
  }
  std::reverse(nodes.begin(), nodes.end());
  uint32_t first = 0, before = UINT32_MAX;
  const auto reads = [&](uint32_t i) {
    const ge_node& n = *GE_NODE(g_, i);
    return std::any_of(n.in, n.in + n.n_in, [&](uint32_t v) {
      const uint32_t from = v != 0 ? GE_VALUE(g_, v)->producer : UINT32_MAX;
      return from != UINT32_MAX && !back_[from] && of_[from] == stretch && again_[v];
    });
  };
  for (; first < g_->n_node && !(back_[first] && reads(first)); ++first) {
    if (back_[first]) before = first;
  }
  if (nodes.empty() || first == g_->n_node || before == UINT32_MAX) return 0;
  CopyNodes copy(g_, fn_, GE_NODE(g_, first)->id);
  copy.After(GE_NODE(g_, before)->id);
  for (uint32_t v = 1; v < g_->n_value; ++v) {
    const uint32_t from = GE_VALUE(g_, v)->producer;
    const bool copied = from != UINT32_MAX && !back_[from] && of_[from] == stretch && wanted[v];
    if (!copied) copy.Share(v);
  }
  for (const uint32_t i : nodes) copy.Put(*GE_NODE(g_, i));
  const ge_edit* e = fn_.edit();
  for (uint32_t i = 0; i < g_->n_node; ++i) {
    const ge_node& n = *GE_NODE(g_, i);
    for (uint32_t k = 0; back_[i] && k < n.n_in; ++k) {
      const uint32_t from = n.in[k] != 0 ? GE_VALUE(g_, n.in[k])->producer : UINT32_MAX;
      if (from == UINT32_MAX || back_[from] || of_[from] != stretch || !again_[n.in[k]]) continue;
      e->set_input(e->host, fn_.id(), n.id, k, copy.Get(n.in[k]).id);
    }
  }
  return nodes.size();
}

}  // namespace

size_t Rematerialise(Fn& fn, const Reverse& sweep, size_t stretches, const std::vector<Val>& kept) {
  if (stretches < 2) return 0;
  Stretches s(fn, sweep, kept);
  s.Cut(stretches);
  size_t nodes = 0;
  for (size_t i = stretches - 1; i-- > 0;) nodes += s.Repeat(i);
  return nodes;
}

}  // namespace ge::grad
