#include "plugins/device/recorder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "plugins/device/engine.h"
#include "plugins/units/copy_layout.h"
#include "plugins/units/movement/reshape.h"
#include "plugins/units/tagged_layout.h"

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
    : e_(engine), book_(*book), p_(parser), segment_(segment), out_(*program) {}

// What comes, and where that goes which leaves.
void Recorder::TakeBorders() {
  for (uint32_t i = 0; i < segment_.n_in; ++i) {
    const uint32_t v = segment_.in[i];
    const LayoutTag tag = Border(v, segment_.in_layout, i);
    Give(v, {tag, NewStorage(Kind::kIn, i, v, Bytes(v, tag))});
  }
  for (uint32_t i = 0; i < segment_.n_out; ++i) {
    const uint32_t v = segment_.out[i];
    const LayoutTag tag = Border(v, segment_.out_layout, i);
    leaves_[v] = {tag, NewStorage(Kind::kOut, i, v, Bytes(v, tag))};
  }
  workspace_ = NewStorage(Kind::kWorkspace, 0, 0, 0).storage;
}

// The host's layout for `value`; ids may be nullptr.
LayoutTag Recorder::Border(uint32_t value, const uint32_t* ids, uint32_t at) const {
  const uint32_t id = ids != nullptr ? ids[at] : 0;
  if (id == 0) return {};
  const std::optional<LayoutTag> tag =
      id < segment_.n_layout && segment_.layout[id] != nullptr
          ? LayoutTagOf(*segment_.layout[id], p_.dims(value).size())
          : std::nullopt;
  const std::span<const LayoutTag> known = e_.Layouts();
  if (!tag || std::find(known.begin(), known.end(), *tag) == known.end()) {
    throw std::runtime_error("a border is in a layout that was not offered");
  }
  return *tag;
}

Ref Recorder::NewStorage(Kind kind, uint32_t index, uint32_t value, uint64_t bytes) {
  out_.storages.push_back({kind, index, bytes, value});
  return {static_cast<uint32_t>(out_.storages.size() - 1), 0, bytes};
}

void Recorder::Record(const std::vector<Unit>& units) {
  places_.reserve(2 * units.size());
  TakeBorders();
  for (const Unit& u : units) {
    node_ = u.root;
    if (segment_.stop != nullptr && __atomic_load_n(segment_.stop, __ATOMIC_RELAXED) != 0) {
      throw Stopped("stopped by the host");
    }
    const size_t first = out_.steps.size();
    RecordUnit(u);
    for (uint32_t v : u.out) Publish(v);
    TellSteps(u, first);
  }
  for (const auto& [v, rep] : leaves_) {
    if (Bytes(v) != 0 && places_.count(v) == 0) throw std::runtime_error("an output is not made");
  }
  ListReports();
  ListConstants(units);
}

void Recorder::RecordConversion() {
  if (segment_.n_in != 1 || segment_.n_out != 1 || segment_.in[0] != segment_.out[0]) {
    throw std::runtime_error("a conversion has one value to convert");
  }
  node_ = UINT32_MAX;
  TakeBorders();
  Publish(segment_.out[0]);
  ListReports();
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

// ---- values and their layouts ------------------------------------------------------------------

void Recorder::Give(uint32_t value, const Rep& rep) {
  const auto [home, fresh] = places_.try_emplace(value, rep);
  if (fresh) return;
  const bool better = home->second.tag.plain();
  const Rep other = better ? std::exchange(home->second, rep) : rep;
  converted_[{value, other.tag}] = other.place;
}

LayoutTag Recorder::TagOf(uint32_t value) const {
  const auto found = places_.find(value);
  return found == places_.end() ? LayoutTag() : found->second.tag;
}

LayoutTag Recorder::LayoutOf(const Unit& unit) const {
  return LayoutOfWork(e_, unit, p_, [this](uint32_t v) { return TagOf(v); });
}

Ref Recorder::Read(uint32_t value, const LayoutTag& tag) {
  const auto found = places_.find(value);
  if (found == places_.end()) return Constant(value, tag);
  const Rep home = found->second;
  if (home.tag == tag || SameMemory(LayoutIn(home.tag, value), LayoutIn(tag, value))) {
    return home.place;
  }
  const auto known = converted_.find({value, tag});
  if (known != converted_.end()) return known->second;
  const Ref place = NewStorage(Kind::kInternal, 0, value, Bytes(value, tag));
  Convert(value, home, {tag, place});
  converted_[{value, tag}] = place;
  return place;
}

Ref Recorder::Constant(uint32_t value, const LayoutTag& tag) {
  if (!p_.constant(value)) throw std::runtime_error("a value is read before it is made");
  const Layout to = LayoutIn(tag, value);
  const uint64_t bytes = to.bytes();
  const uint32_t flags = FlagsOfConstant(p_.dtype(value));
  if (bytes == 0) return {workspace_, 0, 0};
  if (tag.plain()) {
    const auto copy = [bytes](const void* const* from, void* to) {
      std::memcpy(to, from[0], bytes);
    };
    return Pack({value}, "plain " + std::to_string(bytes), bytes, copy, flags, true);
  }
  const std::string key = (tag.last ? "last " : "blocks " + std::to_string(tag.block) + " ") +
                          ToText(to.dims()) + " " + std::to_string(to.size);
  const auto lay_out = [to](const void* const* from, void* place) {
    CopyLayout(Layout::Dense(to.dims(), to.size), from[0], to, place);
  };
  return Pack({value}, key, bytes, lay_out, flags, true);
}

// What leaves in blocks has zeros for padding: a kernel's own place may have anything there, so it
// lies elsewhere until Publish.
Ref Recorder::Write(uint32_t value, const LayoutTag& tag) {
  const auto leaf = leaves_.find(value);
  const bool there =
      leaf != leaves_.end() && leaf->second.tag == tag && !LayoutIn(tag, value).padded();
  const Ref place =
      there ? leaf->second.place : NewStorage(Kind::kInternal, 0, value, Bytes(value, tag));
  places_[value] = {tag, place};
  return place;
}

void Recorder::Convert(uint32_t value, const Rep& from, const Rep& to) {
  if (to.place.bytes == 0) return;
  const Layout x = LayoutIn(from.tag, value), y = LayoutIn(to.tag, value);
  if (!y.padded() && (from.tag == to.tag || SameMemory(x, y))) {
    return Add(std::make_unique<Move>(), {Writes(to.place), Reads(from.place)});
  }
  e_.RecordConversion({p_.dims(value), p_.dtype(value), p_.size(value), from.tag, to.tag},
                      from.place, to.place, this);
}

// Brings a result into its output, unless it was written there. Later units read it there, too.
void Recorder::Publish(uint32_t value) {
  const auto leaf = leaves_.find(value);
  const auto home = places_.find(value);
  if (leaf == leaves_.end() || home == places_.end()) return;
  const Rep to = leaf->second;
  if (home->second.place.storage == to.place.storage) return;
  const auto [other, fresh] = converted_.try_emplace({value, to.tag}, to.place);
  if (!fresh && other->second.storage == to.place.storage) return;
  Convert(value, fresh ? home->second : Rep{to.tag, other->second}, to);
  if (home->second.tag == to.tag) home->second = to;
  other->second = to.place;
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
  places_[result] = {LayoutTag(), Read(value)};
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

void Recorder::ListReports() {
  ListInternals();
  ListMade();
}

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
    const auto leaf = leaves_.find(v);
    made_.push_back({v, static_cast<uint32_t>(end == 0 ? 0 : end - 1),
                     leaf != leaves_.end() ? leaf->second : place->second});
  }
}

void Recorder::ListMade() {
  const auto n_step = static_cast<uint32_t>(out_.steps.size());
  for (const Made& m : made_) {
    const Storage& s = out_.storages[m.rep.place.storage];
    // Behind the last step that touches it, the place may hold another value.
    if (m.step >= n_step || (s.kind == Kind::kInternal && m.step > s.last)) continue;
    ge_made made = {};
    made.value = m.value;
    made.index = s.index;
    made.offset = m.rep.place.offset;
    if (!m.rep.tag.plain()) {
      made.layout = TaggedLayout(m.rep.tag, p_.dims(m.value).size());
      if (made.layout == nullptr) continue;
    }
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
