#include "plugins/comm/kit/collective.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <string_view>

#include "ge/ge_plugin.hpp"

namespace ge_engines::comm {
namespace {

using ge::plugin::AttrInt;
using ge::plugin::AttrString;
using ge::plugin::TensorBytes;
using ge::plugin::View;
using Kind = Transfer::Kind;

constexpr uint64_t kPackBelow = 256 << 10;  // bytes; a copy costs less than one more message there
constexpr uint64_t kAlign = 64;

constexpr struct {
  std::string_view op;
  Kind kind;
} kOps[] = {{"AllReduce", Kind::kReduce},
            {"AllGather", Kind::kGather},
            {"ReduceScatter", Kind::kScatter},
            {"AllToAll", Kind::kExchange}};

Kind KindOf(const ge_node& n) {
  for (const auto& op : kOps) {
    if (View(n.op) == op.op) return op.kind;
  }
  return Kind::kReduce;
}

bool IsReduced(Kind kind) { return kind == Kind::kReduce || kind == Kind::kScatter; }

bool ReadReduction(const ge_node& n, Reduction* to) {
  const std::string_view text = AttrString(n, "reduction");
  *to = text == "max" ? Reduction::kMax : text == "min" ? Reduction::kMin : Reduction::kSum;
  return text == "sum" || text == "max" || text == "min";
}

uint64_t Mixed(uint64_t hash, uint64_t number) { return (hash ^ number) * 0x100000001b3u; }

uint64_t MixedText(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = Mixed(hash, static_cast<uint8_t>(c));
  return Mixed(hash, 256);  // where it ends
}

// All ranks see the same type of what is whole: the results, or what is scattered. Of a tensor that
// moves from one dim to another no rank sees the whole.
uint64_t DigestOf(const ge_graph* g, const ge_node& n) {
  uint64_t hash = MixedText(0xcbf29ce484222325u, View(n.op));
  for (const char* name : {"mesh", "axes", "reduction"}) {
    hash = MixedText(hash, AttrString(n, name));
  }
  for (const char* name : {"dim", "size", "gather_dim", "split_dim", "program"}) {
    hash = Mixed(hash, static_cast<uint64_t>(AttrInt(n, name, -1)));
  }
  const Kind kind = KindOf(n);
  const bool in = kind == Kind::kScatter;
  for (uint32_t k = 0; k < (in ? n.n_in : n.n_out); ++k) {
    const ge_type& t = GE_VALUE(g, in ? n.in[k] : n.out[k])->type;
    hash = Mixed(hash, static_cast<uint64_t>(t.dtype));
    for (int32_t d = 0; kind != Kind::kExchange && d < t.rank; ++d) {
      hash = Mixed(hash, static_cast<uint64_t>(t.dims[d]));
    }
  }
  return hash;
}

uint32_t PositionOf(const uint32_t* list, uint32_t n, uint32_t value) {
  const auto at = static_cast<uint32_t>(std::find(list, list + n, value) - list);
  return at == n ? UINT32_MAX : at;
}

Refused WhyNotValues(const ge_graph* g, const ge_node& n, const Transport& transport) {
  const Kind kind = KindOf(n);
  for (uint32_t i = 0; i < n.n_in + n.n_out; ++i) {
    const ge_value& v = *GE_VALUE(g, i < n.n_in ? n.in[i] : n.out[i - n.n_in]);
    uint64_t bytes = 0;
    if (!TensorBytes(v.type, &bytes)) return {GE_WHY_SHAPE, "a size is not known"};
    if (v.type.bits % 8 != 0) return {GE_WHY_DTYPE, "elements of less than a byte"};
    if ((v.flags & GE_VALUE_CONSTANT) != 0 && v.data == nullptr && bytes > 0) {
      return {GE_WHY_OTHER, "an input is a constant whose content is not there"};
    }
    if (kind != Kind::kReduce && bytes > transport.MostBytes()) {
      return {GE_WHY_SHAPE, "more than " + std::to_string(transport.MostBytes()) +
                                " bytes in one " + std::string(View(n.op))};
    }
    if (!IsReduced(kind) || transport.Reduces(v.type.dtype)) continue;
    return {GE_WHY_DTYPE, std::string("no reduction of ") + ge::plugin::DTypeName(v.type.dtype) +
                              " between ranks; train in float32"};
  }
  return {};
}

// A dim's size of a value, where the dim is one of it.
bool HasDim(const ge_type& t, int64_t dim, int64_t size) {
  return dim >= 0 && dim < t.rank && t.dims[dim] == size;
}

// Whether sizes are those that the attributes and the group say.
Refused WhyNotShares(const ge_graph* g, const ge_node& n, const Group& group) {
  const Kind kind = KindOf(n);
  const size_t ranks = group.members.size();
  const auto share = [&](int64_t whole) { return ShareOf(whole, ranks, group.place).size; };
  const Refused wrong = {GE_WHY_SHAPE, "a tensor is not the share of rank " +
                                           std::to_string(group.rank) + " that the attributes say"};
  const uint32_t wanted = kind == Kind::kReduce ? n.n_out : 1;
  if (n.n_in != wanted || n.n_out != wanted) return {GE_WHY_OTHER, "other inputs than outputs"};
  if (kind == Kind::kReduce) return {};
  const ge_type &x = GE_VALUE(g, n.in[0])->type, &y = GE_VALUE(g, n.out[0])->type;
  const int64_t size = AttrInt(n, "size");
  if (kind == Kind::kGather) {
    const int64_t dim = AttrInt(n, "dim");
    return HasDim(x, dim, share(size)) && HasDim(y, dim, size) ? Refused{} : wrong;
  }
  if (kind == Kind::kScatter) {
    const int64_t dim = AttrInt(n, "dim");
    const bool good = dim >= 0 && dim < x.rank && HasDim(y, dim, share(x.dims[dim]));
    return good ? Refused{} : wrong;
  }
  const int64_t gathered = AttrInt(n, "gather_dim"), split = AttrInt(n, "split_dim");
  const bool good = gathered != split && split >= 0 && split < x.rank &&
                    HasDim(x, gathered, share(size)) && HasDim(y, gathered, size) &&
                    HasDim(y, split, share(x.dims[split]));
  return good ? Refused{} : wrong;
}

}  // namespace

bool IsCollective(const ge_node& n) {
  return View(n.domain) == "comm" &&
         std::any_of(std::begin(kOps), std::end(kOps),
                     [&](const auto& op) { return View(n.op) == op.op; });
}

std::string NameOf(const ge_graph* g, const ge_node& n) {
  std::string_view name = View(n.name);
  if (name.empty() && n.n_out > 0) name = View(GE_VALUE(g, n.out[0])->name);
  return std::string(View(n.op)) + " '" + std::string(name.substr(0, 80)) + "'";
}

uint64_t MovedBytes(const ge_graph* g, const ge_node& n, const Group& group) {
  uint64_t all = 0;
  const bool in = KindOf(n) == Kind::kScatter || KindOf(n) == Kind::kExchange;
  for (uint32_t k = 0; k < (in ? n.n_in : n.n_out); ++k) {
    uint64_t bytes = 0;
    if (TensorBytes(GE_VALUE(g, in ? n.in[k] : n.out[k])->type, &bytes)) all += bytes;
  }
  const auto ranks = static_cast<double>(group.members.size());
  const double each = static_cast<double>(all) * (ranks - 1) / ranks;
  return static_cast<uint64_t>(KindOf(n) == Kind::kReduce ? 2 * each : each);
}

Refused WhyNot(const ge_graph* g, const ge_node& n, Transport* transport, Group* group) {
  if (std::string why = ReadGroup(n, group); !why.empty()) return {GE_WHY_ATTRIBUTE, why};
  Reduction reduction;
  if (IsReduced(KindOf(n)) && !ReadReduction(n, &reduction)) {
    return {GE_WHY_ATTRIBUTE, "reduction is '" + std::string(AttrString(n, "reduction")) +
                                  "', wanted sum, max or min"};
  }
  if (std::string why = transport->WhyNot(group); !why.empty()) return {GE_WHY_RESOURCE, why};
  if (group->members.size() == 1) {
    return {GE_WHY_OTHER, "one rank alone meets in it, which its decomposition does"};
  }
  const Refused refused = WhyNotValues(g, n, *transport);
  return refused.why != 0 ? refused : WhyNotShares(g, n, *group);
}

// ---- shares of a dim ---------------------------------------------------------------------------

void Collective::Parts::Read(const ge_type& t, int64_t dim, int64_t whole, size_t shares) {
  uint64_t inner = t.bits / 8;
  for (int64_t d = 0; d < dim; ++d) outer *= static_cast<uint64_t>(t.dims[d]);
  for (int64_t d = dim + 1; d < t.rank; ++d) inner *= static_cast<uint64_t>(t.dims[d]);
  for (size_t r = 0; r < shares; ++r) {
    run.push_back(static_cast<uint64_t>(ShareOf(whole, shares, r).size) * inner);
    bytes.push_back(outer * run.back());
  }
}

uint64_t Collective::Parts::all() const {
  return std::accumulate(bytes.begin(), bytes.end(), uint64_t{0});
}

void Collective::Parts::Take(const char* tensor, char* blocks) const {
  const uint64_t row = std::accumulate(run.begin(), run.end(), uint64_t{0});
  uint64_t first = 0;
  for (const uint64_t n : run) {
    for (uint64_t o = 0; n > 0 && o < outer; ++o, blocks += n) {
      std::memcpy(blocks, tensor + o * row + first, n);
    }
    first += n;
  }
}

void Collective::Parts::Put(const char* blocks, char* tensor) const {
  const uint64_t row = std::accumulate(run.begin(), run.end(), uint64_t{0});
  uint64_t first = 0;
  for (const uint64_t n : run) {
    for (uint64_t o = 0; n > 0 && o < outer; ++o, blocks += n) {
      std::memcpy(tensor + o * row + first, blocks, n);
    }
    first += n;
  }
}

// ---- a node ------------------------------------------------------------------------------------

Collective::Collective(const ge_segment& s, const Group& group, bool in_place)
    : group_(group), in_place_(in_place) {
  const ge_node& node = *GE_NODE(s.graph, s.taken[0].node[0]);
  kind_ = KindOf(node);
  (void)ReadReduction(node, &reduction_);
  digest_ = DigestOf(s.graph, node);
  moved_ = MovedBytes(s.graph, node, group);
  if (kind_ == Kind::kReduce) {
    ReadTensors(s, node);
  } else {
    ReadParts(s, node);
  }
}

uint64_t Collective::Room(uint64_t bytes) {
  const uint64_t at = (workspace_ + kAlign - 1) / kAlign * kAlign;
  workspace_ = at + bytes;
  return at;
}

Collective::Source Collective::SourceOf(const ge_segment& s, uint32_t value) {
  const ge_value& v = *GE_VALUE(s.graph, value);
  if ((v.flags & GE_VALUE_CONSTANT) != 0)
    return {0, v.data == nullptr ? "" : static_cast<const char*>(v.data)};
  return {PositionOf(s.in, s.n_in, value), nullptr};
}

// Small tensors of one dtype lie one behind the other in the workspace, and are reduced at once.
// What is packed follows from sizes alone: all ranks have to pack alike.
void Collective::ReadTensors(const ge_segment& s, const ge_node& n) {
  std::map<int32_t, std::vector<size_t>> small;
  for (uint32_t i = 0; i < n.n_in; ++i) {
    const ge_type& t = GE_VALUE(s.graph, n.in[i])->type;
    Tensor x;
    x.from = SourceOf(s, n.in[i]);
    x.out = PositionOf(s.out, s.n_out, n.out[i]);
    x.dtype = t.dtype;
    (void)TensorBytes(t, &x.bytes);
    x.packed = x.bytes < kPackBelow;
    if (x.packed) {
      small[x.dtype].push_back(tensors_.size());
    } else if (x.out == UINT32_MAX) {
      x.room = Room(x.bytes);
    }
    const auto same = [&](const Tensor& other) { return other.from.in == x.from.in; };
    if (in_place_ && x.out != UINT32_MAX && x.from.constant == nullptr &&
        std::none_of(tensors_.begin(), tensors_.end(), same)) {
      alias_.insert(alias_.end(), {x.out, x.from.in});
    }
    tensors_.push_back(x);
  }
  for (const auto& [dtype, list] : small) {
    uint64_t bytes = 0;
    for (const size_t i : list) bytes += tensors_[i].bytes;
    PackOf pack{dtype, Room(bytes), 0, bytes};
    pack.result = in_place_ ? pack.room : Room(bytes);
    bytes = 0;
    for (const size_t i : list) {
      tensors_[i].room = pack.room + bytes;
      tensors_[i].result = pack.result + bytes;
      bytes += tensors_[i].bytes;
    }
    packs_.push_back(pack);
  }
}

void Collective::ReadParts(const ge_segment& s, const ge_node& n) {
  const ge_type &x = GE_VALUE(s.graph, n.in[0])->type, &y = GE_VALUE(s.graph, n.out[0])->type;
  const size_t ranks = group_.members.size();
  dtype_ = x.dtype;
  source_ = SourceOf(s, n.in[0]);
  read_ = s.n_out > 0;
  if (kind_ == Kind::kScatter) {
    const int64_t dim = AttrInt(n, "dim");
    from_.Read(x, dim, x.dims[dim], ranks);
  } else if (kind_ == Kind::kExchange) {
    const int64_t dim = AttrInt(n, "split_dim");
    from_.Read(x, dim, x.dims[dim], ranks);
  }
  if (kind_ != Kind::kScatter) {
    const int64_t dim = AttrInt(n, kind_ == Kind::kGather ? "dim" : "gather_dim");
    to_.Read(y, dim, AttrInt(n, "size"), ranks);
  }
  uint64_t out = 0;
  (void)TensorBytes(y, &out);
  if (from_.apart()) from_room_ = Room(from_.all());
  if (to_.apart() || !read_) to_room_ = Room(out);
}

void Collective::Pack(const Places& at, std::vector<Transfer>* transfers) const {
  transfers->clear();
  if (kind_ != Kind::kReduce) {
    Transfer t{kind_, reduction_, dtype_, source_.At(at), nullptr, 0, &from_.bytes, &to_.bytes};
    t.to = to_room_ == UINT64_MAX ? at.out[0] : at.room + to_room_;
    if (from_room_ != UINT64_MAX) {
      from_.Take(source_.At(at), at.room + from_room_);
      t.from = at.room + from_room_;
    }
    transfers->push_back(t);
    return;
  }
  for (const Tensor& x : tensors_) {
    if (x.packed && x.bytes > 0) std::memcpy(at.room + x.room, x.from.At(at), x.bytes);
  }
  for (const PackOf& p : packs_) {
    transfers->push_back({kind_, reduction_, p.dtype, at.room + p.room, at.room + p.result, p.bytes,
                          nullptr, nullptr});
  }
  for (const Tensor& x : tensors_) {
    if (x.packed) continue;
    char* to = x.out == UINT32_MAX ? at.room + x.room : at.out[x.out];
    transfers->push_back(
        {kind_, reduction_, x.dtype, x.from.At(at), to, x.bytes, nullptr, nullptr});
  }
}

void Collective::Unpack(const Places& at) const {
  if (kind_ != Kind::kReduce) {
    if (to_room_ != UINT64_MAX && read_) to_.Put(at.room + to_room_, at.out[0]);
    return;
  }
  for (const Tensor& x : tensors_) {
    if (!x.packed || x.out == UINT32_MAX || x.bytes == 0) continue;
    std::memcpy(at.out[x.out], at.room + x.result, x.bytes);
  }
}

}  // namespace ge_engines::comm
