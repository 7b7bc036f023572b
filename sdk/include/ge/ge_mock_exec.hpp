// ge_mock_exec.hpp: segments of the mock host and the execs compiled of them. A plugin's answers
// are copied, checked and complained about; constants it claims to have copied or packed become
// inaccessible, packs are filled. Header only, C++17; part of ge_mock_host.hpp, included by tests.
// Threads: an object is one thread's at a time.
#ifndef GE_MOCK_EXEC_HPP_
#define GE_MOCK_EXEC_HPP_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ge/ge_mock_engine.hpp"
#include "ge/ge_mock_place.hpp"

namespace ge::mock {

struct Taken {
  uint32_t offer = 0, choice = 0;  // indices into the answer and into the offer's choices
};
struct Border {
  uint32_t value = 0, layout = 0;
};
struct Segment {
  std::vector<Taken> taken;  // in topological order; MakeSegment sees to it
  std::vector<Border> in, out;
  uint32_t device = 0;
};

inline uint32_t LayoutOf(const Answer& answer, const Taken& taken, uint32_t value) {
  const Offer& o = answer.offers[taken.offer];
  if (taken.choice >= o.choices.size()) return 0;
  for (const auto& [v, layout] : o.choices[taken.choice].layouts) {
    if (v == value) return layout;
  }
  return 0;
}

// The union of offers as one segment, with the values crossing its border.
inline Segment MakeSegment(const Graph& graph, const Answer& answer, std::vector<Taken> taken) {
  Segment s;
  std::vector<int> of(graph.nodes.size(), -1);  // by node: its place in `taken`
  for (size_t k = 0; k < taken.size(); ++k) {
    for (uint32_t n : answer.offers[taken[k].offer].nodes) of[n] = static_cast<int>(k);
  }
  std::vector<bool> done(taken.size());
  const auto ready = [&](size_t k) {
    for (uint32_t n : answer.offers[taken[k].offer].nodes) {
      for (uint32_t v : graph.nodes[n].in) {
        const uint32_t p = v != 0 ? graph.ProducerOf(v) : UINT32_MAX;
        if (p == UINT32_MAX || of[p] < 0 || of[p] == static_cast<int>(k)) continue;
        if (!done[static_cast<size_t>(of[p])]) return false;
      }
    }
    return true;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t k = 0; k < taken.size(); ++k) {
      if (done[k] || !ready(k)) continue;
      s.taken.push_back(taken[k]);
      done[k] = moved = true;
    }
  }
  for (const Taken& t : s.taken) {
    for (uint32_t n : answer.offers[t.offer].nodes) {
      for (uint32_t v : graph.nodes[n].in) {
        const uint32_t p = v != 0 ? graph.ProducerOf(v) : UINT32_MAX;
        if (v == 0 || graph.values[v].constant != nullptr) continue;
        if (p != UINT32_MAX && of[p] >= 0) continue;
        const Border b{v, LayoutOf(answer, t, v)};
        const bool known = std::any_of(s.in.begin(), s.in.end(), [&](const Border& o) {
          return o.value == b.value && o.layout == b.layout;
        });
        if (!known) s.in.push_back(b);
      }
      for (uint32_t v : graph.nodes[n].out) {
        bool leaves = v != 0 && (graph.values[v].flags & GE_VALUE_OUTPUT) != 0;
        for (uint32_t i = 0; v != 0 && i < graph.nodes.size(); ++i) {
          const auto& in = graph.nodes[i].in;
          leaves |= of[i] < 0 && std::find(in.begin(), in.end(), v) != in.end();
        }
        if (leaves) s.out.push_back({v, LayoutOf(answer, t, v)});
      }
    }
    s.device = answer.offers[t.offer].device;
  }
  return s;
}

// An offer of a conversion, as the segment turning `value` from one layout into another.
inline Segment MakeConversion(const Answer& answer, uint32_t offer, uint32_t value) {
  Segment s;
  const Offer& o = answer.offers[offer];
  s.taken = {{offer, 0}};
  s.in = {{value, o.convert_from}};
  s.out = {{value, o.convert_to}};
  s.device = o.device;
  return s;
}

// The result of compile or shape for one segment; frees it.
struct Exec {
  Exec(Engine& e, const Graph& whole, Segment s, std::vector<Layout> layout)
      : engine(e), graph(whole), segment(std::move(s)), layouts(std::move(layout)) {}
  ~Exec() {
    if (handle == nullptr || engine.api().exec_destroy == nullptr) return;
    CallScope scope(engine.host(), "exec_destroy");
    engine.api().exec_destroy(handle);
    scope.Returned();
  }
  Exec(const Exec&) = delete;
  Exec& operator=(const Exec&) = delete;

  Engine& engine;
  const Graph& graph;  // must outlive it
  const Segment segment;
  const std::vector<Layout> layouts;
  ge_rc rc = GE_OK;
  std::string error;
  ge_exec* handle = nullptr;
  uint32_t flags = 0, n_step = 1;
  bool tells_steps = false;  // launches call after_step
  uint64_t workspace = 0, workspace_align = 64;
  std::vector<ge_internal> internals;
  std::vector<uint64_t> out_bytes;                     // by output
  std::vector<std::pair<uint32_t, uint32_t>> aliases;  // output, input
  std::vector<ge_const_use> constants;
  std::vector<std::unique_ptr<Place>> packs;
  std::vector<std::vector<unsigned char>> packed;  // what each of them holds
  std::shared_ptr<Constants> payloads;             // those that are kept
  uint64_t pack_bytes() const {
    uint64_t n = 0;
    for (const auto& p : packs) n += p->bytes();
    return n;
  }
};

// Bytes of a value in a layout; 0 where only the plugin knows.
inline uint64_t BytesIn(const std::vector<Layout>& layouts, uint32_t layout, const Type& type) {
  if (layout == 0) return BytesOf(type.dtype, type.dims);
  const Layout& l = layouts[layout];
  if (l.kind == GE_LAYOUT_OPAQUE) return l.opaque_bytes;
  return static_cast<uint64_t>(CountIn(l, type.dims)) * plugin::ElementBits(type.dtype) / 8;
}

// Turns segments into execs, each call with views of its own.
class Compiler {
 public:
  Compiler(Engine& engine, const Graph& graph, const Answer& answer)
      : e_(engine), g_(graph), answer_(answer) {}
  // The content of packs where fill writes nothing.
  unsigned char pack_garbage = 0xFF;

  // One exec a segment; ask rc of each. `stop` as ge_segment.stop.
  std::vector<std::unique_ptr<Exec>> Compile(const std::vector<Segment>& segments,
                                             const uint32_t* stop = nullptr) {
    return Call(nullptr, segments, stop);
  }
  std::unique_ptr<Exec> Compile(const Segment& segment) {
    return std::move(Compile(std::vector<Segment>{segment})[0]);
  }
  // By the engine's `shape`, which must not be NULL, from an exec of the same nodes.
  std::unique_ptr<Exec> Shape(const Exec& like, const Segment& segment) {
    return std::move(Call(like.handle, {segment}, nullptr)[0]);
  }

 private:
  std::vector<std::unique_ptr<Exec>> Call(ge_exec* like, const std::vector<Segment>& segments,
                                          const uint32_t* stop) {
    Host& host = e_.host();
    const auto payloads = std::make_shared<Constants>(g_, Alignments(segments));
    std::vector<std::unique_ptr<Exec>> execs;
    for (const Segment& s : segments) {
      execs.push_back(std::make_unique<Exec>(e_, g_, s, answer_.layouts));
      execs.back()->payloads = payloads;
    }
    const char* call = like != nullptr ? "shape" : "compile";
    {
      const View view(g_, host.style, payloads, "the graph view of compile");
      Arena given("the segments of compile", host.style.exact);
      Arena room("the answers of compile", host.style.exact);
      std::vector<ge_segment> records;
      for (const Segment& s : segments) records.push_back(RecordOf(s, view, stop, &given));
      std::deque<Error> why;
      std::vector<ge_compiled> zeros(segments.size());
      for (ge_compiled& z : zeros) z.err = (why.emplace_back(host), why.back().get());
      uint32_t stride = 0, out_stride = 0;
      const ge_segment* in =
          given.Records(host.style, records.data(), records.size(), GE_TAG_SEGMENT, &stride);
      ge_compiled* out =
          room.Records(host.style, zeros.data(), zeros.size(), GE_TAG_COMPILED, &out_stride);
      given.MakeReadOnly();
      Error err(host);
      ge_rc rc = GE_OK;
      {
        CallScope scope(host, call);
        rc = like != nullptr
                 ? e_.api().shape(like, in, out, err.get())
                 : e_.api().compile(e_.handle(), in, static_cast<uint32_t>(records.size()), stride,
                                    out, out_stride, err.get());
        scope.Returned();
      }
      const std::string text = err.Text(call, rc);
      for (size_t i = 0; i < execs.size(); ++i) {
        const auto* c = reinterpret_cast<const ge_compiled*>(reinterpret_cast<const char*>(out) +
                                                             i * out_stride);
        Take(*c, rc, text, &why[i], call, execs[i].get());
      }
    }
    RetireCopied(execs, payloads.get());
    for (auto& x : execs) {
      if (x->rc == GE_OK) FillPacks(x.get());
    }
    return execs;
  }

  std::vector<uint32_t> Alignments(const std::vector<Segment>& segments) const {
    std::vector<uint32_t> align(g_.values.size());
    for (const Segment& s : segments) {
      for (const Taken& t : s.taken) {
        const Offer& o = answer_.offers[t.offer];
        for (uint32_t n : o.nodes) {
          for (uint32_t v : g_.nodes[n].in) {
            const Tensor* c = g_.values[v].constant.get();
            if (c == nullptr) continue;
            const uint32_t own = std::max(1u, plugin::ElementBits(c->dtype) / 8);
            align[v] = std::max(align[v], o.const_align != 0 ? o.const_align : own);
          }
        }
      }
    }
    return align;
  }

  ge_segment RecordOf(const Segment& segment, const View& view, const uint32_t* stop,
                      Arena* arena) {
    ge_segment out = {};
    std::vector<ge_taken> taken;
    for (const Taken& t : segment.taken) {
      const Offer& o = answer_.offers[t.offer];
      taken.push_back(
          {o.cookie, arena->Copy(o.nodes), static_cast<uint32_t>(o.nodes.size()), t.choice, {}});
    }
    out.graph = view.get();
    out.device = segment.device;
    out.stop = stop;
    out.taken = arena->Copy(taken);
    out.n_taken = static_cast<uint32_t>(taken.size());
    const auto list = [arena](const std::vector<Border>& from, uint32_t Border::*field) {
      std::vector<uint32_t> v;
      for (const Border& b : from) v.push_back(b.*field);
      return arena->Copy(v);
    };
    out.in = list(segment.in, &Border::value);
    out.in_layout = list(segment.in, &Border::layout);
    out.out = list(segment.out, &Border::value);
    out.out_layout = list(segment.out, &Border::layout);
    out.n_in = static_cast<uint32_t>(segment.in.size());
    out.n_out = static_cast<uint32_t>(segment.out.size());
    std::vector<const ge_layout*> table;
    for (size_t i = 0; i < answer_.layouts.size(); ++i) {
      table.push_back(i == 0 ? nullptr : LayoutRecord(answer_.layouts[i], arena));
    }
    out.layout = arena->Copy(table);
    out.n_layout = static_cast<uint32_t>(table.size());
    return out;
  }
  const ge_layout* LayoutRecord(const Layout& layout, Arena* arena) {
    ge_layout r = {};
    r.kind = layout.kind;
    r.perm = arena->Copy(layout.perm);
    r.n_perm = static_cast<uint32_t>(layout.perm.size());
    r.block_axis = arena->Copy(layout.block_axis);
    r.block_size = arena->Copy(layout.block_size);
    r.n_block = static_cast<uint32_t>(layout.block_axis.size());
    r.tag = arena->Text(layout.tag);
    r.opaque_bytes = layout.opaque_bytes;
    return arena->Struct(e_.host().style, r, GE_TAG_LAYOUT);
  }

  // Copies an answer into *x; an exec not fit for launching gets an rc that says so.
  void Take(const ge_compiled& compiled, ge_rc rc, const std::string& text, Error* why,
            const char* call, Exec* x) {
    x->handle = compiled.exec;
    x->rc = rc != GE_OK ? rc : compiled.rc;
    x->error = why->Text(call, compiled.rc);
    if (rc != GE_OK) x->error = text;
    if (x->rc != GE_OK) return;
    const std::string fault = Read(compiled, x);
    if (fault.empty()) return;
    x->rc = GE_INTERNAL;
    x->error = std::string(call) + " answered " + fault;
    e_.host().Complain(x->error);
  }
  // Empty, or the reason for a host to refuse.
  std::string Read(const ge_compiled& compiled, Exec* x) {
    if (compiled.exec == nullptr) return "GE_OK, but gave no exec";
    if (ge_not_understood(&compiled.h, nullptr, 0) != nullptr)
      return "an extension that no host knows";
    constexpr uint64_t kMost = uint64_t{1} << 40;
    x->flags = compiled.flags;
    x->n_step = std::max(1u, compiled.n_step);
    x->workspace = compiled.workspace;
    x->workspace_align = compiled.workspace_align != 0 ? compiled.workspace_align : 64;
    if (compiled.workspace > kMost ||
        (compiled.workspace_align & (compiled.workspace_align - 1)) != 0) {
      return "a workspace of " + std::to_string(compiled.workspace) + " bytes, aligned to " +
             std::to_string(compiled.workspace_align);
    }
    if (compiled.n_internal > 1000000 ||
        (compiled.n_internal != 0 && compiled.internal == nullptr)) {
      return std::to_string(compiled.n_internal) + " internal values at " +
             (compiled.internal != nullptr ? "an address" : "NULL");
    }
    x->internals.assign(compiled.internal, compiled.internal + compiled.n_internal);
    for (uint32_t i = 0; i < compiled.n_internal; ++i) {
      const ge_internal& v = compiled.internal[i];
      if (v.bytes > kMost || (v.align & (v.align - 1)) != 0 || v.first_step > v.last_step ||
          v.last_step >= x->n_step || (v.alias_of != UINT32_MAX && v.alias_of >= i) ||
          v.value >= g_.values.size()) {
        return "internal value " + std::to_string(i) + " of " + std::to_string(v.bytes) +
               " bytes, aligned to " + std::to_string(v.align) + ", in steps " +
               std::to_string(v.first_step) + " to " + std::to_string(v.last_step) + " of " +
               std::to_string(x->n_step) + ", over value " + std::to_string(v.alias_of);
      }
    }
    return ReadBorder(compiled, x);
  }
  std::string ReadBorder(const ge_compiled& compiled, Exec* x) {
    for (uint32_t i = 0; compiled.alias != nullptr && i < compiled.alias_count; ++i) {
      x->aliases.emplace_back(compiled.alias[2 * i], compiled.alias[2 * i + 1]);
      if (x->aliases[i].first >= x->segment.out.size() ||
          x->aliases[i].second >= x->segment.in.size()) {
        return "an alias of output " + std::to_string(compiled.alias[2 * i]) + " and input " +
               std::to_string(compiled.alias[2 * i + 1]);
      }
    }
    for (uint32_t i = 0; i < x->segment.out.size(); ++i) {
      const Border& b = x->segment.out[i];
      const uint64_t own = BytesIn(x->layouts, b.layout, g_.values[b.value].type);
      const uint64_t said = compiled.out_bytes != nullptr ? compiled.out_bytes[i] : 0;
      if (b.layout == 0 && said != 0 && said != own) {
        return std::to_string(said) + " bytes for plain output " + std::to_string(i) + ", wanted " +
               std::to_string(own);
      }
      x->out_bytes.push_back(b.layout != 0 && said != 0 ? said : own);
    }
    if (compiled.n_constant != 0 && compiled.constant == nullptr) return "constants at NULL";
    x->constants.assign(compiled.constant, compiled.constant + compiled.n_constant);
    for (const ge_const_use& use : x->constants) {
      if (use.value >= g_.values.size() || g_.values[use.value].constant == nullptr) {
        return "a use of constant " + std::to_string(use.value) + ", which is none";
      }
      if (use.disposition > GE_CONST_PACKED) {
        return "disposition " + std::to_string(use.disposition) + " of a constant";
      }
    }
    const std::string fault = ReadSteps(compiled, x);
    return fault.empty() ? ReadPacks(compiled, x) : fault;
  }
  // Bytes of the place named by a made value; 0 where there is none.
  static uint64_t PlaceOf(const ge_made& made, const Exec& x) {
    const auto& s = x.segment;
    if (made.place == GE_PLACE_IN && made.index < s.in.size()) {
      const Border& b = s.in[made.index];
      return std::max<uint64_t>(1, BytesIn(x.layouts, b.layout, x.graph.values[b.value].type));
    }
    if (made.place == GE_PLACE_OUT && made.index < s.out.size()) {
      return std::max<uint64_t>(1, x.out_bytes[made.index]);
    }
    if (made.place == GE_PLACE_INTERNAL && made.index < x.internals.size()) {
      return std::max<uint64_t>(1, x.internals[made.index].bytes);
    }
    return made.place == GE_PLACE_WORKSPACE ? x.workspace : 0;
  }
  std::string ReadSteps(const ge_compiled& compiled, Exec* x) {
    x->tells_steps = compiled.step != nullptr;
    if (!x->tells_steps) return "";
    if (compiled.step_stride < sizeof(ge_step)) return "records of steps too close";
    for (uint32_t s = 0; s < x->n_step; ++s) {
      const auto* step = reinterpret_cast<const ge_step*>(
          reinterpret_cast<const char*>(compiled.step) + uint64_t{s} * compiled.step_stride);
      for (uint32_t i = 0; i < step->n_node; ++i) {
        if (step->node[i] < g_.nodes.size()) continue;
        return "step " + std::to_string(s) + " of node " + std::to_string(step->node[i]);
      }
      for (uint32_t i = 0; i < step->n_made; ++i) {
        const ge_made& m = step->made[i];
        const uint64_t room = PlaceOf(m, *x);
        const bool value = m.value != 0 && m.value < g_.values.size();
        const uint64_t bytes =
            !value || m.layout != nullptr
                ? 0
                : BytesOf(g_.values[m.value].type.dtype, g_.values[m.value].type.dims);
        if (value && m.offset <= room && bytes <= room - m.offset && room != 0) continue;
        return "step " + std::to_string(s) + " that makes value " + std::to_string(m.value) +
               " at byte " + std::to_string(m.offset) + " of place " + std::to_string(m.place) +
               "." + std::to_string(m.index) + ", which has " + std::to_string(room);
      }
    }
    return "";
  }
  std::string ReadPacks(const ge_compiled& compiled, Exec* x) {
    if (compiled.n_pack == 0) return "";
    if (compiled.pack == nullptr || compiled.pack_stride < kFirstPack)
      return "packs at NULL or too close";
    if (e_.api().fill == nullptr) return "packs, but its fill is NULL";
    for (uint32_t i = 0; i < compiled.n_pack; ++i) {
      const ge_pack p = ReadStruct(reinterpret_cast<const ge_pack*>(
          reinterpret_cast<const char*>(compiled.pack) + uint64_t{i} * compiled.pack_stride));
      const std::string name = "pack " + std::to_string(i);
      if (p.h.size < kFirstPack || p.bytes == 0 || p.bytes > uint64_t{1} << 40 ||
          (p.align & (p.align - 1)) != 0 || p.n_value == 0 || p.value == nullptr ||
          (p.key.p == nullptr && p.key.n != 0)) {
        return name + " of " + std::to_string(p.bytes) + " bytes, aligned to " +
               std::to_string(p.align) + ", of " + std::to_string(p.n_value) + " values";
      }
      Wanted w{{p.value, p.value + p.n_value}, std::string(plugin::View(p.key)), p.bytes, p.align};
      for (uint32_t v : w.values) {
        if (v >= g_.values.size() || g_.values[v].constant == nullptr) {
          return name + " of value " + std::to_string(v) + ", which is no constant";
        }
      }
      wanted_[x].push_back(std::move(w));
    }
    return "";
  }

  void RetireCopied(const std::vector<std::unique_ptr<Exec>>& execs, Constants* payloads) const {
    std::vector<bool> kept(g_.values.size());
    for (const auto& x : execs) {
      for (const Taken& t : x->segment.taken) {
        for (uint32_t n : answer_.offers[t.offer].nodes) {
          for (uint32_t v : g_.nodes[n].in) {
            bool copied = x->rc != GE_OK;
            for (const ge_const_use& use : x->constants) {
              copied |= use.value == v && use.disposition != GE_CONST_KEEP;
            }
            if (!copied) kept[v] = true;
          }
        }
      }
    }
    for (uint32_t v = 1; v < kept.size(); ++v) {
      if (!kept[v]) payloads->Retire(v);
    }
  }

  struct Wanted {
    std::vector<uint32_t> values;
    std::string key;
    uint64_t bytes, align;
  };
  void FillPacks(Exec* x) {
    for (const Wanted& w : wanted_[x]) {
      auto place = std::make_unique<Place>(e_, x->segment.device, w.bytes, w.align, "a pack");
      GuardedBlock room(w.bytes, w.align != 0 ? w.align : 64, "a pack that fill writes");
      x->rc = Fill(w, room, &x->error);
      if (x->rc == GE_OK) place->Write(room.data());
      if (x->rc == GE_OK && !place->ok()) {
        x->rc = GE_OUT_OF_MEMORY;
        x->error = place->error();
      }
      if (x->rc != GE_OK) return;
      x->packs.push_back(std::move(place));
      x->packed.emplace_back(room.data(), room.data() + w.bytes);
    }
  }
  // Twice: its output depends on nothing but its arguments.
  ge_rc Fill(const Wanted& wanted, GuardedBlock& room, std::string* error) {
    std::vector<unsigned char> first;
    for (unsigned char garbage : {0x00, 0xFF}) {
      room.Fill(garbage);
      const ge_rc rc = FillOnce(wanted, room, error);
      if (rc != GE_OK) return rc;
      if (first.empty()) {
        first.assign(room.data(), room.data() + wanted.bytes);
        continue;
      }
      uint64_t apart = 0;  // bytes that it leaves as they were are padding
      for (uint64_t i = 0; i < wanted.bytes; ++i) {
        apart += first[i] != room.data()[i] && !(first[i] == 0x00 && room.data()[i] == 0xFF);
      }
      if (apart != 0) {
        e_.host().Complain("fill: wrote " + std::to_string(apart) +
                           " bytes of a pack otherwise when it was asked again");
      }
    }
    room.Fill(pack_garbage);
    return FillOnce(wanted, room, error);
  }
  ge_rc FillOnce(const Wanted& wanted, GuardedBlock& room, std::string* error) {
    Host& host = e_.host();
    const Constants payloads(g_, std::vector<uint32_t>(g_.values.size(), 1));
    Arena arena("the arguments of fill", host.style.exact);
    std::vector<ge_buf> from;
    for (uint32_t v : wanted.values) {
      const Tensor& t = *g_.values[v].constant;
      ge_buf b = {};
      b.ptr = const_cast<unsigned char*>(payloads.at(v));
      b.bytes = t.bytes.size();
      b.dims = arena.Copy(t.dims);
      b.rank = static_cast<int32_t>(t.dims.size());
      b.dtype = t.dtype;
      from.push_back(b);
    }
    ge_pack pack = {};
    pack.n_value = static_cast<uint32_t>(wanted.values.size());
    pack.key = arena.Text(wanted.key);
    pack.bytes = wanted.bytes;
    pack.align = wanted.align;
    ge_buf to = {};
    to.ptr = room.data();
    to.bytes = wanted.bytes;
    const ge_pack* given = arena.Struct(host.style, pack, GE_TAG_PACK);
    const ge_buf *sources = arena.Copy(from), *target = arena.Copy(&to, 1);
    arena.MakeReadOnly();
    Error err(host);
    ge_rc rc = GE_OK;
    {
      CallScope scope(host, "fill");
      rc = e_.api().fill(e_.handle(), given, sources, target, err.get());
      scope.Returned();
    }
    *error = err.Text("fill", rc);
    const std::string harm = room.Harm();
    if (!harm.empty()) host.Complain("fill: " + harm);
    return rc;
  }

  Engine& e_;
  const Graph& g_;
  const Answer& answer_;
  std::map<Exec*, std::vector<Wanted>> wanted_;
};

}  // namespace ge::mock
#endif  // GE_MOCK_EXEC_HPP_
