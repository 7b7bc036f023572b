#include "plugins/device/recorder.h"

#include <algorithm>
#include <cstring>

#include "plugins/device/engine.h"
#include "plugins/units/movement/reshape.h"

namespace ge_engines::device {
namespace {

using Kind = Storage::Kind;

// Places: result, x.
class Move final : public Kernel {
 public:
  Result Queue(const Call& c) const override {
    return c.driver.Copy(c.device, c.stream, c.at[0].data, c.at[1].data, c.at[0].bytes);
  }
};

// Whole numbers of 16 bits and more may be sizes or indices, which somebody has checked where they
// lay.
uint32_t FlagsOfConstant(int32_t dtype) {
  switch (dtype) {
    case GE_F32:
    case GE_F64:
    case GE_F16:
    case GE_BF16:
    case GE_I8:
    case GE_U8:
      return GE_PACK_ANY_BYTES;
    default:
      return 0;
  }
}

}  // namespace

Recorder::Recorder(const Engine& engine, PackBook* book, const Parser& parser,
                   const ge_segment& segment, Program* program)
    : e_(engine), book_(*book), p_(parser), segment_(segment), out_(*program) {
  const auto plain = [](const uint32_t* ids, uint32_t at) {
    if (ids != nullptr && ids[at] != 0) {
      throw std::runtime_error("a border is in a layout that was not offered");
    }
  };
  for (uint32_t i = 0; i < segment.n_in; ++i) {
    plain(segment.in_layout, i);
    const uint32_t v = segment.in[i];
    places_[v] = NewStorage(Kind::kIn, i, v, Bytes(v));
  }
  for (uint32_t i = 0; i < segment.n_out; ++i) {
    plain(segment.out_layout, i);
    const uint32_t v = segment.out[i];
    leaves_[v] = NewStorage(Kind::kOut, i, v, Bytes(v));
  }
  workspace_ = NewStorage(Kind::kWorkspace, 0, 0, 0).storage;
}

uint64_t Recorder::Bytes(uint32_t value) const {
  return static_cast<uint64_t>(Product(p_.dims(value))) * static_cast<uint64_t>(p_.size(value));
}

Ref Recorder::NewStorage(Kind kind, uint32_t index, uint32_t value, uint64_t bytes) {
  out_.storages.push_back({kind, index, bytes, value});
  return {static_cast<uint32_t>(out_.storages.size() - 1), 0, bytes};
}

void Recorder::Record(const std::vector<Unit>& units) {
  places_.reserve(2 * units.size());
  for (const Unit& u : units) {
    node_ = u.root;
    if (segment_.stop != nullptr && __atomic_load_n(segment_.stop, __ATOMIC_RELAXED) != 0) {
      throw Stopped("stopped by the host");
    }
    const size_t first = out_.steps.size();
    RecordUnit(u);
    TellSteps(u, first);
  }
  for (const auto& [v, place] : leaves_) {
    if (Bytes(v) != 0 && places_.count(v) == 0) throw std::runtime_error("an output is not made");
  }
  ListInternals();
  ListMade();
  ListConstants(units);
}

void Recorder::RecordUnit(const Unit& unit) {
  if (Is<NothingSpec>(unit)) {
    for (uint32_t v : unit.out) {
      if (v != 0) (void)Write(v);
    }
  } else if (Is<ViewSpec>(unit) && unit.post_ops.empty()) {
    View(unit.out[0], unit.in[0]);
  } else {
    e_.Record(unit, this);
  }
}

int Recorder::number() const { return e_.device(segment_.device)->number(); }

Ref Recorder::Read(uint32_t value) {
  const auto found = places_.find(value);
  if (found != places_.end()) return found->second;
  if (!p_.constant(value)) throw std::runtime_error("a value is read before it is made");
  const uint64_t bytes = Bytes(value);
  if (bytes == 0) return {workspace_, 0, 0};
  const auto copy = [bytes](const void* const* from, void* to) { std::memcpy(to, from[0], bytes); };
  return Pack({value}, "plain " + std::to_string(bytes), bytes, copy,
              FlagsOfConstant(p_.dtype(value)), true);
}

Ref Recorder::Write(uint32_t value) {
  const auto leaf = leaves_.find(value);
  const Ref place =
      leaf != leaves_.end() ? leaf->second : NewStorage(Kind::kInternal, 0, value, Bytes(value));
  places_[value] = place;
  return place;
}

Ref Recorder::Between(uint64_t bytes) { return NewStorage(Kind::kInternal, 0, 0, bytes); }

Ref Recorder::Workspace(uint64_t bytes) {
  out_.workspace = std::max(out_.workspace, bytes);
  out_.storages[workspace_].bytes = out_.workspace;
  return {workspace_, 0, bytes};
}

Ref Recorder::Pack(const Ids& values, const std::string& key, uint64_t bytes, Fill fill,
                   uint32_t flags, bool any_bytes) {
  const auto [known, fresh] = packs_.try_emplace({key, values});
  if (!fresh) return known->second;
  book_.Learn(key, std::move(fill), any_bytes);
  packed_.insert(values.begin(), values.end());
  known->second =
      NewStorage(Kind::kPack, static_cast<uint32_t>(out_.packs.size()), values[0], bytes);
  const Program::PackText& text = out_.pack_texts.emplace_back(Program::PackText{key, values});
  ge_pack pack = {};
  pack.h = GE_HDR(ge_pack, GE_TAG_PACK);
  pack.value = text.values.data();
  pack.n_value = static_cast<uint32_t>(text.values.size());
  pack.key = gp::Str(text.key);
  pack.bytes = bytes;
  pack.align = 256;  // as blocks of devices lie
  pack.flags = flags;
  out_.packs.push_back(pack);
  return known->second;
}

void Recorder::View(uint32_t result, uint32_t value) {
  const Ref place = Read(value);
  if (leaves_.count(result) == 0) {
    places_[result] = place;
    return;
  }
  const Ref to = Write(result);
  if (to.bytes != 0) Add(std::make_unique<Move>(), {Writes(to), Reads(place)});
}

void Recorder::Add(std::unique_ptr<Kernel> kernel, std::vector<Use> uses) {
  if (uses.size() > kMostUses) throw std::runtime_error("a kernel with too many places");
  const auto step = static_cast<uint32_t>(out_.steps.size());
  for (const Use& use : uses) {
    Storage& s = out_.storages[use.ref.storage];
    s.first = std::min(s.first, step);
    s.last = std::max(s.last, step);
  }
  out_.steps.push_back({std::move(kernel), node_, std::move(uses)});
}

// ---- what the host is told ---------------------------------------------------------------------

void Recorder::ListInternals() {
  for (Storage& s : out_.storages) {
    if (s.kind != Kind::kInternal) continue;
    ge_internal in = {};
    in.bytes = s.bytes;
    in.align = 256;
    in.first_step = s.first == UINT32_MAX ? 0 : s.first;
    in.last_step = std::max(in.first_step, s.last);
    in.alias_of = UINT32_MAX;
    in.value = s.value;
    s.index = static_cast<uint32_t>(out_.internals.size());
    out_.internals.push_back(in);
  }
}

void Recorder::TellSteps(const Unit& unit, size_t first) {
  const size_t end = out_.steps.size();
  for (size_t k = first; k < end; ++k) out_.told.AddNodes(static_cast<uint32_t>(k), unit.nodes);
  for (uint32_t v : unit.out) {
    const auto place = places_.find(v);
    if (v == 0 || p_.constant(v) || place == places_.end()) continue;
    // A view of what was there before the first step is told behind that one.
    made_.push_back({v, static_cast<uint32_t>(end == 0 ? 0 : end - 1), place->second});
  }
}

void Recorder::ListMade() {
  const auto n_step = static_cast<uint32_t>(out_.steps.size());
  for (const Made& m : made_) {
    const Storage& s = out_.storages[m.place.storage];
    // Behind the last step that touches it, the place may hold another value.
    if (m.step >= n_step || (s.kind == Kind::kInternal && m.step > s.last)) continue;
    ge_made made = {};
    made.value = m.value;
    made.index = s.index;
    made.offset = m.place.offset;
    switch (s.kind) {
      case Kind::kIn:
        made.place = GE_PLACE_IN;
        break;
      case Kind::kOut:
        made.place = GE_PLACE_OUT;
        break;
      case Kind::kInternal:
        made.place = GE_PLACE_INTERNAL;
        break;
      default:  // constants; a workspace has no lifetimes
        continue;
    }
    out_.told.AddValue(m.step, made);
  }
  out_.told.Finish(n_step);
}

// Each constant that a node names is packed, or was read here.
void Recorder::ListConstants(const std::vector<Unit>& units) {
  std::set<uint32_t> named;
  for (const Unit& u : units) {
    for (uint32_t n : u.nodes) {
      const ge_node& node = p_.node(n);
      for (uint32_t i = 0; i < node.n_in; ++i) {
        if (p_.constant(node.in[i])) named.insert(node.in[i]);
      }
    }
  }
  for (uint32_t v : named) {
    const uint32_t how = packed_.count(v) > 0 ? GE_CONST_PACKED : GE_CONST_COPIED;
    out_.constants.push_back({v, how, 0, {}});
  }
}

}  // namespace ge_engines::device
