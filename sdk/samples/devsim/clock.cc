#include "clock.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine.h"
#include "ge/ge_plugin.hpp"

namespace devsim {
namespace {

using ge::plugin::Fail;

struct Priced {
  std::vector<uint32_t> nodes;
  uint64_t setup_ns, launch_ns, edge_saving_ns;
  std::vector<uint64_t> marginal_ns;  // by layout choice
};
using PriceList = std::vector<Priced>;

ge_rc NoteOffer(void* list, const ge_offer* o) {
  if (o->n_node == 0 || o->cost == nullptr) return GE_OK;
  Priced p{
      {o->node, o->node + o->n_node}, o->cost->setup_ns, o->cost->launch_ns, o->edge_saving_ns, {}};
  for (uint32_t c = 0; c < o->n_choice; ++c) p.marginal_ns.push_back(o->choice[c].marginal_ns);
  if (o->n_choice == 0) p.marginal_ns.push_back(o->cost->marginal_ns);
  static_cast<PriceList*>(list)->push_back(std::move(p));
  return GE_OK;
}
ge_rc NoteDecline(void*, const ge_decline*) { return GE_OK; }
// What a launch takes does not depend on how layouts are numbered.
ge_rc NoteLayout(void*, const ge_layout*, uint32_t* id) {
  *id = 1;
  return GE_OK;
}

const Priced* Find(const PriceList& list, const ge_taken& taken) {
  for (const Priced& p : list) {
    if (p.nodes.size() == taken.n_node && std::equal(p.nodes.begin(), p.nodes.end(), taken.node) &&
        taken.choice < p.marginal_ns.size()) {
      return &p;
    }
  }
  return nullptr;
}

bool Reads(const ge_graph& graph, const ge_taken& taken, uint32_t value) {
  for (uint32_t k = 0; k < taken.n_node; ++k) {
    const ge_node* node = GE_NODE(&graph, taken.node[k]);
    if (std::count(node->in, node->in + node->n_in, value) != 0) return true;
  }
  return false;
}

// How many values that offer `t` makes are read by another one of the segment.
uint64_t ValuesThatStay(const ge_segment& s, uint32_t t) {
  uint64_t n = 0;
  for (uint32_t k = 0; k < s.taken[t].n_node; ++k) {
    const ge_node* node = GE_NODE(s.graph, s.taken[t].node[k]);
    for (uint32_t o = 0; o < node->n_out; ++o) {
      bool stays = false;
      for (uint32_t u = 0; u < s.n_taken && node->out[o] != 0; ++u) {
        stays = stays || (u != t && Reads(*s.graph, s.taken[u], node->out[o]));
      }
      n += stays;
    }
  }
  return n;
}

}  // namespace

Clock::~Clock() {
  if (host_ns_ != nullptr) munmap(host_ns_, kBytes);
}

ge_rc Clock::Open(const std::string& file, ge_err* err) {
  if (file.empty()) return GE_OK;
  const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  void* at = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, kBytes) == 0) {
    at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  const int why = errno;
  if (fd >= 0) close(fd);
  if (at == MAP_FAILED) {
    return Fail(err, GE_INVALID_ARGUMENT, UINT32_MAX, "devsim: clock '%.300s' cannot be used: %s",
                file.c_str(), std::strerror(why));
  }
  host_ns_ = static_cast<uint64_t*>(at);
  return GE_OK;
}

uint64_t Clock::HostNs() const {
  return host_ns_ == nullptr ? 0 : __atomic_load_n(host_ns_, __ATOMIC_ACQUIRE);
}

void Clock::HostReaches(uint64_t at_ns) {
  uint64_t now = HostNs();
  while (host_ns_ != nullptr && now < at_ns &&
         !__atomic_compare_exchange_n(host_ns_, &now, at_ns, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_ACQUIRE)) {
  }
}

void Clock::HostWorks(uint64_t ns) {
  if (host_ns_ != nullptr) __atomic_add_fetch(host_ns_, ns, __ATOMIC_ACQ_REL);
  DeviceWorks(ns);
}

void Clock::DeviceWorks(uint64_t ns) {
  if (host_ns_ != nullptr) __atomic_add_fetch(host_ns_ + 1, ns, __ATOMIC_ACQ_REL);
}

void ReachedAt::Add(uint64_t value, uint64_t at_ns) {
  if (at_.size() == kKept) at_.erase(at_.begin());
  at_.emplace_back(value, at_ns);
}

uint64_t ReachedAt::Of(uint64_t value) const {
  for (const auto& [reached, at_ns] : at_) {
    if (reached >= value) return at_ns;
  }
  return 0;
}

ge_rc LaunchNs(ge_engine* engine, const ge_segment& segment, uint64_t* ns, ge_err* err) {
  PriceList list;
  ge_sink sink = {};
  sink.h = GE_HDR(ge_sink, GE_TAG_SINK);
  sink.host = &list;
  sink.offer = NoteOffer;
  sink.decline = NoteDecline;
  sink.layout = NoteLayout;
  const ge_rc rc = Query(engine, segment.graph, &sink, err);
  if (rc != GE_OK) return rc;
  uint64_t setup = 0, launch = 0, sum = 0, saved = 0;
  for (uint32_t t = 0; t < segment.n_taken; ++t) {
    const ge_taken& taken = segment.taken[t];
    const Priced* p = Find(list, taken);
    if (p == nullptr || p->marginal_ns[taken.choice] == GE_UNKNOWN_NS) {
      return Fail(err, GE_UNIMPLEMENTED, taken.node[0],
                  "devsim: the wrapped engine states no price, so option clock cannot be used");
    }
    setup = std::max(setup, p->setup_ns);
    launch = std::max(launch, p->launch_ns);
    sum += p->marginal_ns[taken.choice];
    saved += p->edge_saving_ns * ValuesThatStay(segment, t);
  }
  *ns = setup + launch + sum - std::min(saved, sum);
  return GE_OK;
}

}  // namespace devsim
