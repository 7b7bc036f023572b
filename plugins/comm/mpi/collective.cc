#include "plugins/comm/mpi/collective.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "ge/ge_plugin.hpp"

namespace ge_engines::mpi {
namespace {

using ge::plugin::TensorBytes;
using ge::plugin::View;

constexpr uint64_t kPackBelow = 256 << 10;  // bytes; a copy costs less than one more message there
constexpr uint64_t kAlign = 64;

const ge_attr* AttrOf(const ge_node& n, std::string_view name) {
  for (uint32_t i = 0; i < n.n_attr; ++i) {
    if (View(n.attr[i].name) == name) return &n.attr[i];
  }
  return nullptr;
}

std::string TextOf(const ge_node& n, std::string_view name) {
  const ge_attr* a = AttrOf(n, name);
  return a == nullptr ? std::string() : std::string(View(a->s));
}

// "data=2" and "data": the number of ranks; 0 where the axis is not all of the mesh.
int64_t RanksOf(const ge_node& n) {
  const std::string mesh = TextOf(n, "mesh"), head = TextOf(n, "axes") + "=";
  if (mesh.compare(0, head.size(), head) != 0) return 0;
  const std::string size = mesh.substr(head.size());
  return size.find_first_not_of("0123456789") == std::string::npos ? std::atoll(size.c_str()) : 0;
}

uint64_t Mixed(uint64_t hash, uint64_t number) { return (hash ^ number) * 0x100000001b3u; }

// Of what all ranks have in common: the operator, its attributes, the results.
uint64_t DigestOf(const ge_graph* g, const ge_node& n) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const std::string& text : {std::string(View(n.op)), TextOf(n, "mesh"), TextOf(n, "axes")}) {
    for (const char c : text) hash = Mixed(hash, static_cast<uint8_t>(c));
  }
  for (uint32_t k = 0; k < n.n_out; ++k) {
    const ge_type& t = GE_VALUE(g, n.out[k])->type;
    hash = Mixed(hash, static_cast<uint64_t>(t.dtype));
    for (int32_t d = 0; d < t.rank; ++d) hash = Mixed(hash, static_cast<uint64_t>(t.dims[d]));
  }
  return hash;
}

uint32_t PositionOf(const uint32_t* list, uint32_t n, uint32_t value) {
  return static_cast<uint32_t>(std::find(list, list + n, value) - list);
}

Refused WhyNotValues(const ge_graph* g, const ge_node& n, const World& world) {
  for (uint32_t i = 0; i < n.n_in; ++i) {
    const ge_value& v = *GE_VALUE(g, n.in[i]);
    uint64_t bytes = 0;
    if (!TensorBytes(v.type, &bytes)) return {GE_WHY_SHAPE, "a size is not known"};
    if (v.type.bits % 8 != 0) return {GE_WHY_DTYPE, "elements of less than a byte"};
    if (v.flags & GE_VALUE_CONSTANT) return {GE_WHY_OTHER, "an input is a constant"};
    if (View(n.op) != "AllReduce" || world.Sums(v.type.dtype)) continue;
    return {GE_WHY_DTYPE, std::string("MPI has no sum of ") + ge::plugin::DTypeName(v.type.dtype) +
                              "; train in float32"};
  }
  if (View(n.op) == "AllGather" && BytesOf(g, n) > INT32_MAX) {
    return {GE_WHY_SHAPE, "more than 2 GiB in one AllGather"};
  }
  return {};
}

}  // namespace

bool IsCollective(const ge_node& n) {
  return View(n.domain) == "comm" && (View(n.op) == "AllReduce" || View(n.op) == "AllGather");
}

uint64_t BytesOf(const ge_graph* g, const ge_node& n) {
  uint64_t all = 0;
  for (uint32_t k = 0; k < n.n_out; ++k) {
    uint64_t bytes = 0;
    if (TensorBytes(GE_VALUE(g, n.out[k])->type, &bytes)) all += bytes;
  }
  return all;
}

Refused WhyNot(const ge_graph* g, const ge_node& n) {
  std::string why;
  const World* world = World::Get(&why);
  if (world == nullptr) return {GE_WHY_RESOURCE, why};
  const int64_t ranks = RanksOf(n);
  if (ranks == 0) {
    return {GE_WHY_ATTRIBUTE, "the mesh '" + TextOf(n, "mesh") + "' has more than one axis"};
  }
  if (ranks != world->ranks()) {
    return {GE_WHY_RESOURCE, "the mesh '" + TextOf(n, "mesh") + "' has " + std::to_string(ranks) +
                                 " ranks and MPI started " + std::to_string(world->ranks()) +
                                 "; start them by mpirun -np " + std::to_string(ranks)};
  }
  return WhyNotValues(g, n, *world);
}

Collective::Collective(const ge_segment& s) {
  std::string why;
  world_ = World::Get(&why);
  const ge_node& node = *GE_NODE(s.graph, s.taken[0].node[0]);
  digest_ = DigestOf(s.graph, node);
  gather_ = View(node.op) == "AllGather";
  for (uint32_t i = 0; i < node.n_in; ++i) {
    const ge_type& t = GE_VALUE(s.graph, node.in[i])->type;
    Tensor x;
    x.in = PositionOf(s.in, s.n_in, node.in[i]);
    x.out = PositionOf(s.out, s.n_out, node.out[i]);
    if (x.out == s.n_out) x.out = UINT32_MAX;
    x.dtype = t.dtype;
    (void)TensorBytes(t, &x.bytes);
    x.count = x.bytes * 8 / t.bits;
    tensors_.push_back(x);
  }
  if (gather_) {
    ReadGather(s, node);
  } else {
    PlacePacks();
  }
}

// Small tensors of one dtype lie one behind the other in the workspace, and are summed at once.
void Collective::PlacePacks() {
  std::map<int32_t, std::vector<Tensor*>> small;
  for (Tensor& x : tensors_) {
    if (x.bytes < kPackBelow || x.out == UINT32_MAX) small[x.dtype].push_back(&x);
  }
  for (auto& [dtype, list] : small) {
    workspace_ = (workspace_ + kAlign - 1) / kAlign * kAlign;
    Pack pack{dtype, workspace_, 0};
    for (Tensor* x : list) {
      x->packed_at = workspace_;
      workspace_ += x->bytes;
      pack.count += x->count;
    }
    packs_.push_back(pack);
  }
}

void Collective::ReadGather(const ge_segment& s, const ge_node& n) {
  const ge_type& y = GE_VALUE(s.graph, n.out[0])->type;
  const auto dim = static_cast<int32_t>(AttrOf(n, "dim")->i);
  for (int32_t d = 0; d < dim; ++d) outer_ *= static_cast<uint64_t>(y.dims[d]);
  inner_ = y.bits / 8;
  for (int32_t d = dim + 1; d < y.rank; ++d) inner_ *= static_cast<uint64_t>(y.dims[d]);
  const int64_t ranks = world_->ranks(), each = (y.dims[dim] + ranks - 1) / ranks;
  for (int64_t r = 0; r < ranks; ++r) {
    share_.push_back(std::clamp<int64_t>(y.dims[dim] - r * each, 0, each));
    bytes_.push_back(static_cast<int>(outer_ * static_cast<uint64_t>(share_.back()) * inner_));
  }
  if (outer_ > 1) workspace_ = outer_ * static_cast<uint64_t>(y.dims[dim]) * inner_;
}

std::string Collective::AllReduce(const ge_launch& l, bool* cancelled) const {
  char* room = static_cast<char*>(l.workspace.ptr);
  std::vector<Sum> sums;
  for (const Pack& p : packs_) sums.push_back({p.dtype, p.count, room + p.at, room + p.at});
  for (const Tensor& x : tensors_) {
    if (x.packed_at == UINT64_MAX) {
      sums.push_back({x.dtype, x.count, l.in[x.in].ptr, l.out[x.out].ptr});
    } else if (x.bytes > 0) {
      std::memcpy(room + x.packed_at, l.in[x.in].ptr, x.bytes);
    }
  }
  const std::string why = world_->AllReduce(sums, l.stop, cancelled);
  if (!why.empty()) return why;
  for (const Tensor& x : tensors_) {
    if (x.packed_at == UINT64_MAX || x.out == UINT32_MAX || x.bytes == 0) continue;
    std::memcpy(l.out[x.out].ptr, room + x.packed_at, x.bytes);
  }
  return {};
}

// Shares of the outermost dim lie one behind the other as they come.
std::string Collective::AllGather(const ge_launch& l, bool* cancelled) const {
  char* to = static_cast<char*>(l.out[0].ptr);
  char* room = outer_ > 1 ? static_cast<char*>(l.workspace.ptr) : to;
  const std::string why = world_->AllGather(l.in[0].ptr, bytes_, room, l.stop, cancelled);
  if (!why.empty() || outer_ <= 1) return why;
  for (uint64_t o = 0; o < outer_; ++o) {
    const char* from = room;
    for (size_t r = 0; r < share_.size(); ++r) {
      const uint64_t run = static_cast<uint64_t>(share_[r]) * inner_;
      std::memcpy(to, from + o * run, run);
      to += run;
      from += bytes_[r];
    }
  }
  return {};
}

ge_rc Collective::Run(const ge_launch& launch, ge_err* err) {
  bool cancelled = false;
  std::string why;
  if (!checked_) why = world_->WantSame(digest_, launch.stop, &cancelled);
  checked_ = checked_ || why.empty();
  if (why.empty()) why = gather_ ? AllGather(launch, &cancelled) : AllReduce(launch, &cancelled);
  if (why.empty()) return GE_OK;
  return ge::plugin::Fail(err, cancelled ? GE_CANCELLED : GE_DEVICE_LOST, UINT32_MAX, "mpi: %s",
                          why.c_str());
}

}  // namespace ge_engines::mpi
