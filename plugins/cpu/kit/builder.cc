#include "plugins/cpu/kit/builder.h"

#include <cstring>
#include <stdexcept>

#include "plugins/units/copy_layout.h"
#include "plugins/units/tagged_layout.h"

namespace ge_engines::cpu {
namespace {

uint64_t Bytes(const Layout& l) {
  return static_cast<uint64_t>(l.extent()) * static_cast<uint64_t>(l.size);
}

// Buffers: result, x. For elements that are not 4 bytes.
class Move final : public Loop {
 public:
  explicit Move(uint64_t bytes) : bytes_(bytes) {}
  void Run(float* const* p) const override { std::memcpy(p[0], p[1], bytes_); }

 private:
  uint64_t bytes_;
};

// The same into another order: of an element each, since hardly any image of theirs comes here.
class Reorder final : public Loop {
 public:
  Reorder(const Layout& from, const Layout& to) : from_(from), to_(to) {}
  void Run(float* const* p) const override { CopyLayout(from_, p[1], to_, p[0]); }

 private:
  Layout from_, to_;
};

// Whole numbers of 16 bits and more may be sizes or indices, which somebody has checked where they
// lay.
uint32_t FlagsOfConstant(const Parser& parser, uint32_t value) {
  switch (parser.dtype(value)) {
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

Builder::Builder(const Simd& simd, const ge_host_api* host, const Parser& parser,
                 const ge_segment& segment, Program* program)
    : simd_(simd), host_(host), p_(parser), segment_(segment), out_(*program) {
  auto add = [&](Storage::Kind kind, uint32_t index, uint32_t value, uint64_t bytes) {
    Storage s;
    s.kind = kind;
    s.index = index;
    s.value = value;
    s.bytes = bytes;
    out_.storages.push_back(s);
    lies_in_.emplace_back();
    return static_cast<uint32_t>(out_.storages.size() - 1);
  };
  for (uint32_t i = 0; i < segment.n_in; ++i) {
    const uint32_t v = segment.in[i];
    const Layout l = Border(v, segment.in_layout, i);
    AddRep(v, {l, {add(Storage::kIn, i, v, Bytes(l)), 0}});
  }
  for (uint32_t i = 0; i < segment.n_out; ++i) {
    const uint32_t v = segment.out[i];
    const Layout l = Border(v, segment.out_layout, i);
    leaves_[v] = {l, {add(Storage::kOut, i, v, Bytes(l)), 0}};
  }
  workspace_ = add(Storage::kWorkspace, 0, 0, 0);
}

Layout Builder::Border(uint32_t value, const uint32_t* ids, uint32_t at) const {
  const uint32_t id = ids != nullptr ? ids[at] : 0;
  if (id == 0) return Plain(value);
  const std::optional<LayoutTag> form =
      id < segment_.n_layout && segment_.layout[id] != nullptr
          ? LayoutTagOf(*segment_.layout[id], p_.dims(value).size())
          : std::nullopt;
  if (!form || (p_.size(value) != 4 && !Converts())) {
    throw std::runtime_error("a border is in a layout that was not offered");
  }
  return form->On(p_.dims(value), p_.size(value));
}

void Builder::BuildConversion() {
  if (segment_.n_in != 1 || segment_.n_out != 1 || segment_.in[0] != segment_.out[0]) {
    throw std::runtime_error("a conversion has one value to convert");
  }
  Publish(segment_.out[0]);
  Finish();
}

void Builder::ListReads(const Unit& unit, std::vector<uint32_t>* v) {
  v->clear();
  for (uint32_t x : unit.in) {
    if (x != 0) v->push_back(x);
  }
  for (const PostOp& p : unit.post_ops) {
    if (p.operand != 0) v->push_back(p.operand);
  }
  std::sort(v->begin(), v->end());
  v->erase(std::unique(v->begin(), v->end()), v->end());
}

void Builder::Build(const std::vector<Unit>& units) {
  std::vector<uint32_t> reads;
  uses_.reserve(2 * units.size());
  reps_.reserve(2 * units.size());
  for (const Unit& u : units) {
    ListReads(u, &reads);
    for (uint32_t v : reads) ++uses_[v];
  }
  Start(units);
  for (const Unit& u : units) {
    node_ = u.root;
    if (segment_.stop != nullptr && __atomic_load_n(segment_.stop, __ATOMIC_RELAXED) != 0) {
      throw Stopped("stopped by the host");
    }
    const size_t first = out_.steps.size();
    Emit(u);
    for (uint32_t v : u.out) Publish(v);
    TellSteps(u, first);
    ListReads(u, &reads);
    for (uint32_t v : reads) --uses_[v];
  }
  Finish();
  out_.internals.clear();
  for (Storage& s : out_.storages) {
    if (s.kind != Storage::kInternal) continue;
    ge_internal in = {};
    in.bytes = (s.bytes + 63) / 64 * 64;
    in.align = 64;
    in.first_step = s.first == UINT32_MAX ? 0 : s.first;
    in.last_step = std::max(in.first_step, s.last);
    in.alias_of = UINT32_MAX;
    in.value = s.value;
    s.index = static_cast<uint32_t>(out_.internals.size());
    out_.internals.push_back(in);
  }
  ListMade();
  ListConstants(units);
}

// What the host is told of constants: those that units name, and what became of them.
void Builder::ListConstants(const std::vector<Unit>& units) {
  for (const Unit& u : units) {
    for (uint32_t n : u.nodes) {
      const ge_node& node = p_.node(n);
      for (uint32_t i = 0; i < node.n_in; ++i) {
        if (p_.constant(node.in[i])) copied_.emplace_back(node.in[i], 0);
      }
    }
  }
  std::sort(copied_.begin(), copied_.end());
  out_.uses.clear();
  for (size_t i = 0; i < copied_.size();) {
    const uint32_t v = copied_[i].first;
    uint64_t bytes = 0;
    for (; i < copied_.size() && copied_[i].first == v; ++i) bytes += copied_[i].second;
    const uint32_t how = kept_.count(v) > 0     ? GE_CONST_KEEP
                         : packed_.count(v) > 0 ? GE_CONST_PACKED
                                                : GE_CONST_COPIED;
    out_.uses.push_back({v, how, bytes, {}});
  }
  out_.packs.assign(out_.wanted.size(), {});
  for (const auto& [name, wanted] : out_.wanted) {
    ge_pack& pack = out_.packs[wanted.index];
    pack.h = GE_HDR(ge_pack, GE_TAG_PACK);
    pack.value = name.second.data();
    pack.n_value = static_cast<uint32_t>(name.second.size());
    pack.key = gp::Str(name.first);
    pack.bytes = wanted.bytes;
    pack.align = 64;
    pack.flags = wanted.flags;
  }
}

void Builder::EmitNothing(const Unit& unit) {
  for (uint32_t v : unit.out) {
    const auto leaf = leaves_.find(v);
    AddRep(v, leaf != leaves_.end() ? leaf->second : Rep{Plain(v), NewInternal(v, 0)});
  }
}

void Builder::Emit(const Unit& unit) {
  if (Is<NothingSpec>(unit)) return EmitNothing(unit);
  if (unit.kind().post_ops == PostOps::kPlain) return EmitPointwise(unit);
  out_.library = out_.library || CallsLibrary(unit);
  EmitMain(unit);
}

void Builder::EmitMain(const Unit&) { throw std::runtime_error("the engine has no such work"); }

void Builder::AddConversion(const Rep& from, const Rep& to) {
  if (to.layout.size != 4) {
    if (!from.layout.dense() || !to.layout.dense()) {
      AddStep("convert " + Sizes(to.layout.dims()),
              std::make_unique<Reorder>(from.layout, to.layout), {to.place, from.place});
      return;
    }
    AddStep("move " + Sizes(to.layout.dims()), std::make_unique<Move>(Bytes(to.layout)),
            {to.place, from.place});
    return;
  }
  const Dims d = to.layout.dims(), zero(d.size(), 0);
  AddStep("convert " + Sizes(d),
          CopyLoop(simd_, to.layout, {{from.layout, to.layout, zero, zero, d}}),
          {to.place, from.place});
}

Fill Builder::PackingOf(const Layout& want) const {
  return [simd = &simd_, want](const void* const* from, void* to) {
    const Dims d = want.dims(), zero(d.size(), 0);
    float* const places[] = {static_cast<float*>(to),
                             static_cast<float*>(const_cast<void*>(from[0]))};  // read only
    CopyLoop(*simd, want, {{Layout::Dense(d), want, zero, zero, d}})->Run(places);
  };
}

// ---- values ------------------------------------------------------------------------------------

void Builder::AddRep(uint32_t value, const Rep& rep) {
  reps_[value].push_back(rep);
  auto& values = lies_in_[rep.place.storage];
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

const Rep* Builder::Find(uint32_t value, const Layout& want) const {
  const auto found = reps_.find(value);
  if (found == reps_.end()) return nullptr;
  for (const Rep& r : found->second) {
    if (r.layout == want) return &r;
  }
  return nullptr;
}

Rep Builder::Main(uint32_t value) {
  if (p_.constant(value)) return GetDense(value);
  if (reps_[value].empty()) throw std::runtime_error("a value is read before it is made");
  for (const Rep& r : reps_[value]) {
    if (r.layout.cblock > 0) return r;
  }
  return reps_[value].front();
}

Rep Builder::Unblocked(uint32_t value) {
  if (p_.constant(value)) return GetDense(value);
  for (const Rep& r : reps_[value]) {
    if (r.layout.cblock == 0) return r;
  }
  return GetDense(value);
}

Rep Builder::Get(uint32_t value, const Layout& want) {
  if (const Rep* r = Find(value, want)) return *r;
  if (p_.constant(value)) {
    AddRep(value, Constant(value, want));
    return reps_[value].back();
  }
  for (const Rep& r : reps_[value]) {
    if (!SameMemory(r.layout, want)) continue;
    const Rep view = {want, r.place};
    if (want.same_dims(r.layout)) AddRep(value, view);
    return view;
  }
  const Rep from = Main(value);
  if (from.layout.same_dims(want)) return Convert(value, from, want, nullptr);
  // Other dims (1s added or a reshape): through the plain form.
  const Layout plain = Layout::Dense(want.dims(), want.size);
  const Rep dense = {plain, GetDense(value).place};
  return want == plain ? dense : Convert(0, dense, want, nullptr);
}

// Emits a conversion; value = 0: the result is not remembered.
Rep Builder::Convert(uint32_t value, const Rep& from, const Layout& want, const BufferRef* to) {
  const Rep result = {want, to != nullptr ? *to : NewInternal(value, Bytes(want))};
  AddConversion(from, result);
  if (value != 0) AddRep(value, result);
  return result;
}

// Axis count of `target`, 1s in front. Blocked like the target where it has channels.
Rep Builder::Operand(uint32_t value, const Layout& target) {
  Dims d = p_.dims(value);
  d.insert(d.begin(), static_cast<size_t>(target.rank) - d.size(), 1);
  if (target.cblock > 0 && d[1] != 1) return Get(value, Layout::Blocked(d, target.cblock));
  if (d == target.dims()) {
    if (target.dense()) return Get(value, target);
    if (target.cblock == 0) return Get(value, target);
  }
  return Get(value, Layout::Dense(d));
}

BufferRef Builder::NewInternal(uint32_t value, uint64_t bytes) {
  Storage s;
  s.kind = Storage::kInternal;
  s.bytes = bytes;
  s.value = value;
  return NewBuffer(s);
}

Rep Builder::NewResult(uint32_t value, const Layout& layout) {
  if (const BufferRef* out = Leaf(value, layout)) return {layout, *out};
  return {layout, NewInternal(value, Bytes(layout))};
}

const BufferRef* Builder::Leaf(uint32_t value, const Layout& layout) const {
  const auto leaf = leaves_.find(value);
  return leaf != leaves_.end() && leaf->second.layout == layout ? &leaf->second.place : nullptr;
}

void Builder::Publish(uint32_t value) {
  const auto leaf = leaves_.find(value);
  if (leaf == leaves_.end()) return;
  const Rep to = leaf->second;
  for (const Rep& r : reps_[value]) {
    if (r.place.storage == to.place.storage) return;
  }
  for (const Rep& r : reps_[value]) {
    if (!(r.layout == to.layout) && !SameMemory(r.layout, to.layout)) continue;
    Convert(value, {to.layout, r.place}, to.layout, &to.place);
    return;
  }
  Convert(value, Main(value), to.layout, &to.place);
}

bool Builder::Dead(const BufferRef& place, const Unit& unit) const {
  if (out_.storages[place.storage].kind != Storage::kInternal || place.offset != 0) return false;
  for (uint32_t v : lies_in_[place.storage]) {
    const bool here = std::find(unit.in.begin(), unit.in.end(), v) != unit.in.end() ||
                      std::any_of(unit.post_ops.begin(), unit.post_ops.end(),
                                  [v](const PostOp& p) { return p.operand == v; });
    const auto left = uses_.find(v);
    if (left != uses_.end() && left->second > (here ? 1u : 0u)) return false;
  }
  return true;
}

// ---- constants ---------------------------------------------------------------------------------

BufferRef Builder::NewConstant(uint64_t bytes, uint32_t value, void** data) {
  const AlignedBlock block(bytes);
  *data = block.data();
  return TakeConstant(block, bytes, value);
}

BufferRef Builder::TakeConstant(const AlignedBlock& block, uint64_t bytes, uint32_t value) {
  Storage s;
  s.kind = Storage::kConstant;
  s.index = static_cast<uint32_t>(out_.constants.size());
  s.bytes = bytes;
  s.value = value;
  out_.constants.push_back(block);
  if (value != 0) copied_.emplace_back(value, bytes);
  return NewBuffer(s);
}

BufferRef Builder::NewBuffer(const Storage& storage) {
  out_.storages.push_back(storage);
  lies_in_.emplace_back();
  return {static_cast<uint32_t>(out_.storages.size() - 1), 0};
}

BufferRef Builder::ConstantFloats(const std::vector<float>& data) {
  void* to = nullptr;
  const BufferRef p = NewConstant(data.size() * sizeof(float), 0, &to);
  std::memcpy(to, data.data(), data.size() * sizeof(float));
  return p;
}

BufferRef Builder::Pack(const Ids& values, const std::string& key, uint64_t bytes, Fill fill,
                        bool any_bytes, uint32_t flags) {
  if (bytes < kLeastPack || values.empty()) {
    std::vector<std::string_view> payloads;
    for (uint32_t v : values) {
      payloads.emplace_back(static_cast<const char*>(p_.value(v).data), p_.value(v).data_bytes);
    }
    return TakeConstant(out_.small->Take({key, values}, payloads, bytes, fill), bytes,
                        values.empty() ? 0 : values[0]);
  }
  Storage s;
  s.kind = Storage::kPack;
  s.bytes = bytes;
  const auto next = static_cast<uint32_t>(out_.wanted.size());
  const auto [known, fresh] =
      out_.wanted.try_emplace({key, values}, WantedPack{next, bytes, flags});
  s.index = known->second.index;
  if (!fresh) return NewBuffer(s);
  out_.book->Learn(key, std::move(fill), any_bytes);
  s.value = values[0];
  packed_.insert(values.begin(), values.end());
  return NewBuffer(s);
}

Rep Builder::Constant(uint32_t value, const Layout& want) {
  const uint64_t bytes = Bytes(want);
  const uint32_t flags = FlagsOfConstant(p_, value);
  // Read where it lies, as far as it would not lie better: on a line of its own and, when large, on
  // huge pages (docs/decisions/0006-pages.md).
  constexpr uint64_t kHugePage = uint64_t{2} << 20;
  const auto plain = [bytes] { return "plain " + std::to_string(bytes); };
  // Of a constant that changes with the dims, such as rows of a table of positions, a copy for each
  // would cost more than lines that begin elsewhere.
  const auto lies_well = [&] {
    return reinterpret_cast<uintptr_t>(p_.value(value).data) % 64 == 0 ||
           (out_.like != nullptr && out_.like->wanted.count({plain(), {value}}) == 0);
  };
  if (want.dense() && bytes < kHugePage && bytes >= kLeastPack && lies_well()) {
    return {want, KeptConstant(value).place};
  }
  if (want.dense()) {
    auto copy = [bytes](const void* const* from, void* to) { std::memcpy(to, from[0], bytes); };
    return {want, Pack({value}, plain(), bytes, copy, true, flags)};
  }
  return {want, Pack({value}, "layout " + KeyOf(want), bytes, PackingOf(want), false, flags)};
}

Rep Builder::KeptConstant(uint32_t value) {
  Storage s;
  s.kind = Storage::kKept;
  s.kept = p_.value(value).data;
  s.value = value;
  kept_.insert(value);
  return {Plain(value), NewBuffer(s)};
}

BufferRef Builder::BiasOf(const Unit& unit, int64_t n, int64_t room, int64_t times) {
  for (uint32_t v : unit.bias) {
    if (Product(p_.dims(v)) != n) throw std::runtime_error("a bias of another length");
  }
  const int64_t all = std::max(n * times, room);
  const float beta = unit.bias_factor;
  uint32_t bits = 0;
  std::memcpy(&bits, &beta, sizeof bits);
  const size_t count = unit.bias.size();
  const std::string key =
      "bias " + std::to_string(bits) + " " + ToText({static_cast<int64_t>(count), n, times, all});
  return Pack(unit.bias, key, static_cast<uint64_t>(all) * sizeof(float),
              [=](const void* const* from, void* to) {
                auto* sum = static_cast<float*>(to);
                std::fill(sum, sum + all, 0.0f);
                for (size_t k = 0; k < count; ++k) {
                  const auto* b = static_cast<const float*>(from[k]);
                  for (int64_t i = 0; i < n; ++i) sum[i] += beta * b[i];
                }
                for (int64_t t = 1; t < times; ++t) std::copy(sum, sum + n, sum + t * n);
              });
}

// ---- what steps tell ----

void Builder::TellSteps(const Unit& unit, size_t first) {
  const size_t end = out_.steps.size();
  for (size_t k = first; k < end; ++k) {
    out_.told.AddNodes(static_cast<uint32_t>(k), unit.nodes);
  }
  for (uint32_t v : unit.out) {
    if (v == 0 || p_.constant(v) || reps_[v].empty()) continue;
    const Rep* best = nullptr;
    for (const Rep& r : reps_[v]) {
      const bool fits = r.layout.elements() == Product(p_.dims(v)) && r.layout.size == p_.size(v);
      if (fits && r.layout.dense()) best = &r;
      if (fits && best == nullptr && !LayoutTag::Of(r.layout).plain()) best = &r;
    }
    // A view of what was there before the first step is told behind that one.
    if (best != nullptr) made_.push_back({v, static_cast<uint32_t>(end == 0 ? 0 : end - 1), *best});
  }
}

// Now that internal values have their positions.
void Builder::ListMade() {
  const auto n_step = static_cast<uint32_t>(out_.steps.size());
  for (const Made& m : made_) {
    const Storage& s = out_.storages[m.rep.place.storage];
    // Behind the last step that touches it, the place may hold another value.
    if (m.step >= n_step || (s.kind == Storage::kInternal && m.step > s.last)) continue;
    ge_made made = {};
    made.value = m.value;
    made.index = s.index;
    made.offset = m.rep.place.offset;
    if (!m.rep.layout.dense()) {
      made.layout =
          TaggedLayout(LayoutTag::Of(m.rep.layout), static_cast<size_t>(m.rep.layout.rank));
      if (made.layout == nullptr) continue;
    }
    switch (s.kind) {
      case Storage::kIn:
        made.place = GE_PLACE_IN;
        break;
      case Storage::kOut:
        made.place = GE_PLACE_OUT;
        break;
      case Storage::kInternal:
        made.place = GE_PLACE_INTERNAL;
        break;
      default:  // constants; a workspace has no lifetimes
        continue;
    }
    out_.told.AddValue(m.step, made);
  }
  out_.told.Finish(n_step);
}

// ---- steps -------------------------------------------------------------------------------------

void Builder::Touch(const BufferRef& ref) {
  Storage& s = out_.storages[ref.storage];
  const auto step = static_cast<uint32_t>(out_.steps.size());
  s.first = std::min(s.first, step);
  s.last = std::max(s.last, step);
}

void Builder::AddStep(const std::string& label, std::unique_ptr<Kernel> kernel,
                      std::vector<BufferRef> places) {
  Step s;
  if (out_.profile) s.label = label;
  s.node = node_;
  s.kernel = std::move(kernel);
  for (const BufferRef& p : places) Touch(p);
  s.places = std::move(places);
  out_.steps.push_back(std::move(s));
}

}  // namespace ge_engines::cpu
