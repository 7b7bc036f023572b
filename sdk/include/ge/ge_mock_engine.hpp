// ge_mock_engine.hpp: a plugin, its engine and its offers, as held by the mock host. Answers of
// compile and launches are in ge_mock_launch.hpp. Header only, C++17; part of ge_mock_host.hpp,
// included by tests. Threads: an object is one thread's at a time.
#ifndef GE_MOCK_ENGINE_HPP_
#define GE_MOCK_ENGINE_HPP_

#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ge/ge_mock_calls.hpp"
#include "ge/ge_mock_graph.hpp"
#include "ge/ge_mock_memory.hpp"
#include "ge/ge_plugin.h"
#include "ge/ge_plugin.hpp"

namespace ge::mock {

// Bytes of plugins' records when they were published; a shorter record counts as absent.
inline constexpr uint32_t kFirstOffer = 96, kFirstCost = 64, kFirstDecline = 40, kFirstLayout = 80,
                          kFirstPack = 64;

// Copies the fields of T present in `given`; the rest is zero.
template <class T>
T ReadStruct(const T* given) {
  T out{};
  std::memcpy(static_cast<void*>(&out), given, std::min<size_t>(given->h.size, sizeof(T)));
  return out;
}

struct Version {  // that the host says of itself
  uint32_t major = GE_ABI_MAJOR, minor = GE_ABI_MINOR;
  uint64_t hash = GE_HEADER_HASH;
};

using QueryFunction = const ge_plugin_desc* (*)(ge_query_args*);

// nullptr where the plugin refuses; *why then says so.
inline const ge_plugin_desc* AskPlugin(QueryFunction ask, Host& host, const Version& version,
                                       std::string* why) {
  Arena arena("the arguments of ge_plugin_query", host.style.exact);
  ge_query_args args = {};
  args.host_major = version.major;
  args.host_minor = version.minor;
  args.host_header_hash = version.hash;
  ge_query_args* given = arena.Struct(host.style, args, GE_TAG_QUERY_ARGS);
  CallScope scope(host, "ge_plugin_query");
  const ge_plugin_desc* desc = ask(given);
  scope.Returned();
  if (desc != nullptr) return desc;
  const size_t n = strnlen(given->refusal, sizeof given->refusal);
  if (n == sizeof given->refusal) host.Complain("ge_plugin_query: its refusal has no end");
  *why = std::string(given->refusal, n);
  return nullptr;
}

// nullptr with *why where the file cannot be loaded; it stays loaded.
inline QueryFunction LoadPlugin(const std::string& path, std::string* why) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* text = dlerror();
    *why = text != nullptr ? text : "dlopen gave no reason";
    return nullptr;
  }
  auto ask = reinterpret_cast<QueryFunction>(dlsym(handle, "ge_plugin_query"));
  if (ask == nullptr) *why = "it exports no ge_plugin_query";
  return ask;
}

// ---- offers
// ---------------------------------------------------------------------------------------

struct Choice {
  std::vector<std::pair<uint32_t, uint32_t>> layouts;  // value, layout id
  uint64_t marginal_ns = 0;
};
struct Offer {
  std::vector<uint32_t> nodes;
  uint32_t flags = 0, device = 0, const_align = 0;
  uint64_t cookie = 0, edge_saving_ns = 0;
  bool priced = false;
  ge_cost cost = {};
  std::vector<Choice> choices;  // empty: everything plain
  uint32_t convert_from = 0, convert_to = 0;
  double convert_ns_per_byte = 0;
  bool growable() const { return (flags & GE_OFFER_GROWABLE) != 0; }
  bool converts() const { return (flags & GE_OFFER_CONVERT) != 0; }
  bool rounds() const { return (flags & GE_OFFER_ROUNDS) != 0; }
};
struct Decline {
  uint32_t node = 0, why = 0;
  std::string text;
};
struct Answer {
  ge_rc rc = GE_OK;
  std::string error;
  std::vector<Offer> offers;
  std::vector<Decline> declines;
  std::vector<Layout> layouts = {Layout()};  // by id; [0] stands for the plain one
  std::vector<std::string> illegal;          // what of it a host would leave out, and why
};

// Filled by a plugin's query.
class Sink {
 public:
  Sink(const Graph& graph, uint32_t n_device, Answer* answer)
      : graph_(graph), n_device_(n_device), answer_(*answer) {}
  ge_sink table() {
    ge_sink s = {};
    s.host = this;
    s.offer = &TakeOffer;
    s.decline = &TakeDecline;
    s.layout = &TakeLayout;
    return s;
  }

 private:
  static ge_rc TakeOffer(void* host, const ge_offer* offer) {
    return static_cast<Sink*>(host)->Take(offer);
  }
  static ge_rc TakeDecline(void* host, const ge_decline* decline) {
    return static_cast<Sink*>(host)->Take(decline);
  }
  static ge_rc TakeLayout(void* host, const ge_layout* layout, uint32_t* id) {
    return static_cast<Sink*>(host)->Take(layout, id);
  }
  void Illegal(std::string text) {
    if (answer_.illegal.size() < 20) answer_.illegal.push_back(std::move(text));
  }
  // Whether a record can be read.
  bool Sound(const ge_hdr* header, uint32_t least, uint16_t tag, const char* what) {
    if (header == nullptr) return Illegal(std::string(what) + " at NULL"), false;
    if (header->size < least || header->tag != tag) {
      Illegal(std::string(what) + " of " + std::to_string(header->size) + " bytes with tag " +
              std::to_string(header->tag) + "; wanted " + std::to_string(least) + " and " +
              std::to_string(tag));
      return false;
    }
    const ge_hdr* x = ge_not_understood(header, nullptr, 0);
    if (x != nullptr) Illegal(std::string(what) + " with an extension that no host knows");
    return x == nullptr;
  }
  ge_rc Take(const ge_offer* given) {
    if (!Sound(&given->h, kFirstOffer, GE_TAG_OFFER, "an offer")) return GE_OK;
    const ge_offer o = ReadStruct(given);
    Offer out;
    out.flags = o.flags;
    out.device = o.device;
    out.const_align = o.const_align;
    out.cookie = o.cookie;
    out.edge_saving_ns = o.edge_saving_ns;
    out.convert_from = o.convert_from;
    out.convert_to = o.convert_to;
    out.convert_ns_per_byte = o.convert_ns_per_byte;
    if (o.cost != nullptr && Sound(&o.cost->h, kFirstCost, GE_TAG_COST, "a cost")) {
      out.cost = ReadStruct(o.cost);
      out.priced = true;
    }
    const std::string fault = Read(o, &out);
    fault.empty() ? answer_.offers.push_back(std::move(out)) : Illegal("an offer " + fault);
    return GE_OK;
  }
  // Empty, or why a host would leave it out.
  std::string Read(const ge_offer& offer, Offer* out) {
    if (offer.device >= n_device_) return "names device " + std::to_string(offer.device);
    if ((offer.const_align & (offer.const_align - 1)) != 0) {
      return "wants constants aligned to " + std::to_string(offer.const_align);
    }
    if (out->converts()) {
      const uint32_t n = static_cast<uint32_t>(answer_.layouts.size());
      const bool known = offer.convert_from < n && offer.convert_to < n;
      if (offer.n_node != 0) return "of a conversion names nodes";
      return known && offer.convert_ns_per_byte >= 0 ? "" : "converts between unknown layouts";
    }
    if (offer.node == nullptr || offer.n_node == 0 || offer.n_node > graph_.nodes.size()) {
      return "names " + std::to_string(offer.n_node) + " nodes";
    }
    for (uint32_t k = 0; k < offer.n_node; ++k) {
      if (offer.node[k] >= graph_.nodes.size())
        return "names node " + std::to_string(offer.node[k]);
      if (k > 0 && offer.node[k] <= offer.node[k - 1]) return "has nodes that are not ascending";
      if (graph_.nodes[offer.node[k]].n_body != 0) return "takes a node with bodies";
      out->nodes.push_back(offer.node[k]);
    }
    if (offer.n_choice != 0 && offer.choice == nullptr) return "has layout choices at NULL";
    for (uint32_t k = 0; k < offer.n_choice; ++k) {
      Choice c;
      c.marginal_ns = offer.choice[k].marginal_ns;
      for (uint32_t j = 0; j < offer.choice[k].n; ++j) {
        const ge_value_layout& v = offer.choice[k].v[j];
        if (v.value == 0 || v.value >= graph_.values.size()) {
          return "has a layout for value " + std::to_string(v.value);
        }
        if (v.layout >= answer_.layouts.size()) {
          return "names layout " + std::to_string(v.layout) + ", which the sink never gave";
        }
        c.layouts.emplace_back(v.value, v.layout);
      }
      out->choices.push_back(std::move(c));
    }
    return "";
  }
  ge_rc Take(const ge_decline* given) {
    if (!Sound(&given->h, kFirstDecline, GE_TAG_DECLINE, "a decline")) return GE_OK;
    const ge_decline d = ReadStruct(given);
    if (d.node >= graph_.nodes.size()) {
      Illegal("a decline names node " + std::to_string(d.node));
      return GE_OK;
    }
    if (d.text.p == nullptr && d.text.n != 0) Illegal("a decline has its text at NULL");
    answer_.declines.push_back({d.node, d.why, std::string(plugin::View(d.text))});
    return GE_OK;
  }
  ge_rc Take(const ge_layout* given, uint32_t* id) {
    if (id == nullptr) return GE_INVALID_ARGUMENT;
    if (!Sound(&given->h, kFirstLayout, GE_TAG_LAYOUT, "a layout")) return GE_INVALID_ARGUMENT;
    const ge_layout l = ReadStruct(given);
    if (l.kind > GE_LAYOUT_OPAQUE || l.n_perm > 16 || l.n_block > 16) {
      Illegal("a layout of kind " + std::to_string(l.kind) + " with " + std::to_string(l.n_perm) +
              " dims and " + std::to_string(l.n_block) + " blocks");
      return GE_INVALID_ARGUMENT;
    }
    Layout out;
    out.kind = l.kind;
    out.tag = std::string(plugin::View(l.tag));

    out.opaque_bytes = l.opaque_bytes;
    out.perm.assign(l.perm, l.perm + l.n_perm);
    out.block_axis.assign(l.block_axis, l.block_axis + l.n_block);
    out.block_size.assign(l.block_size, l.block_size + l.n_block);
    for (uint32_t i = 1; i < answer_.layouts.size(); ++i) {
      if (answer_.layouts[i] == out) return *id = i, GE_OK;
    }
    answer_.layouts.push_back(std::move(out));
    *id = static_cast<uint32_t>(answer_.layouts.size() - 1);
    return GE_OK;
  }

  const Graph& graph_;
  uint32_t n_device_;
  Answer& answer_;
};

// ---- engines
// --------------------------------------------------------------------------------------

struct Domain {
  std::string name;
  std::string id;  // empty = host memory
  uint32_t flags = 0;
  uint64_t align = 64;
};
struct Device {
  std::string name = "cpu";
  uint32_t flags = 0, max_streams = 1;
  std::vector<Domain> domains = {Domain()};
  bool async() const { return (flags & GE_DEVICE_ASYNC) != 0; }
};
struct EngineOptions {
  std::string text;  // "key=value;key=value"
  uint32_t numerics = GE_NUMERICS_FAST;
  uint32_t precision = GE_PRECISION_F32;
  bool null_text = false;  // {NULL, 0} in place of an empty text
  bool null_err = false;
};

class Engine {
 public:
  // Ask created() for the answer of engine_create. The host and the plugin must outlive it.
  Engine(const ge_plugin_desc* desc, Host& host, const EngineOptions& options = EngineOptions())
      : host_(host), desc_(ReadStruct(desc)), precision_(options.precision) {
    api_ = ReadStruct(desc_.engine);
    Arena arena("the arguments of engine_create", host.style.exact);
    ge_create_args args = {};
    args.host = host.api();
    if (!options.null_text) args.options = arena.Text(options.text);
    args.denormals = host.keep_denormals ? GE_DENORMALS_KEEP : GE_DENORMALS_FLUSH;
    args.numerics = options.numerics;
    args.precision = options.precision;
    const ge_create_args* given = arena.Struct(host.style, args, GE_TAG_CREATE_ARGS);
    arena.MakeReadOnly();
    Error err(host);
    {
      CallScope scope(host, "engine_create");
      created_ = desc_.engine_create(given, &handle_, options.null_err ? nullptr : err.get());
      scope.Returned();
    }
    error_ = options.null_err ? "" : err.Text("engine_create", created_);
    if (created_ == GE_OK && handle_ == nullptr) {
      created_ = GE_INTERNAL;
      error_ = "engine_create answered GE_OK, but gave no engine";
    } else if (created_ != GE_OK && handle_ != nullptr) {
      host.Complain("engine_create: failed, but set *out, which nobody will free");
      handle_ = nullptr;
    }
    if (created_ == GE_OK) ReadDevices();
  }
  ~Engine() {
    if (handle_ == nullptr || desc_.engine_destroy == nullptr) return;
    CallScope scope(host_, "engine_destroy");
    desc_.engine_destroy(handle_);
    scope.Returned();
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  ge_rc created() const { return created_; }
  const std::string& error() const { return error_; }
  Host& host() const { return host_; }
  ge_engine* handle() const { return handle_; }
  const ge_engine_api& api() const { return api_; }
  const std::vector<Device>& devices() const { return devices_; }

  Answer Query(const Graph& graph, bool null_err = false) {
    Answer answer;
    const auto constants = std::make_shared<const Constants>(graph, std::vector<uint32_t>());
    const View view(graph, host_.style, constants, "the graph view of query");
    Sink sink(graph, static_cast<uint32_t>(devices_.size()), &answer);
    Arena arena("the sink of query", host_.style.exact);
    const ge_sink* given = arena.Struct(host_.style, sink.table(), GE_TAG_SINK);
    arena.MakeReadOnly();
    Error err(host_);
    {
      CallScope scope(host_, "query");
      answer.rc = api_.query(handle_, view.get(), given, null_err ? nullptr : err.get());
      scope.Returned();
    }
    answer.error = null_err ? "" : err.Text("query", answer.rc);
    for (const Offer& o : answer.offers) {
      if (!o.rounds() || precision_ != GE_PRECISION_F32) continue;
      answer.illegal.push_back("an offer rounds its inputs, which is not permitted");
      break;
    }
    return answer;
  }

 private:
  void ReadDevices() {
    devices_.assign(1, Device());
    if (api_.devices == nullptr) return;
    const ge_device* record = nullptr;
    uint32_t n = 0, stride = 0;
    Error err(host_);
    {
      CallScope scope(host_, "devices");
      created_ = api_.devices(handle_, &record, &n, &stride, err.get());
      scope.Returned();
    }
    error_ = err.Text("devices", created_);
    if (created_ == GE_OK && (n == 0 || record == nullptr || stride < sizeof(ge_hdr))) {
      created_ = GE_INTERNAL;
      error_ = "devices answered GE_OK, but gave none";
    }
    if (created_ != GE_OK) return;
    devices_.clear();
    for (uint32_t i = 0; i < n; ++i) {
      devices_.push_back(Read(ReadStruct(reinterpret_cast<const ge_device*>(
          reinterpret_cast<const char*>(record) + uint64_t{i} * stride))));
      if (!devices_.back().async() || has_streams()) continue;
      created_ = GE_INTERNAL;
      error_ = "device '" + devices_.back().name +
               "' is asynchronous, but a stream or event function is NULL; set all seven";
    }
  }
  bool has_streams() const {
    return api_.stream_create && api_.stream_destroy && api_.event_create && api_.event_destroy &&
           api_.stream_wait && api_.stream_signal && api_.event_wait;
  }
  static Device Read(const ge_device& device) {
    Device out;
    out.name = std::string(plugin::View(device.name));
    out.flags = device.flags;
    out.max_streams = std::max(1u, device.max_streams);
    if (device.n_domain != 0) out.domains.clear();
    for (uint32_t i = 0; i < device.n_domain && device.domain != nullptr; ++i) {
      const ge_domain m = ReadStruct(reinterpret_cast<const ge_domain*>(
          reinterpret_cast<const char*>(device.domain) + uint64_t{i} * device.domain_stride));
      Domain one;
      one.name = std::string(plugin::View(m.name));
      one.flags = m.flags;
      if (m.align != 0) one.align = m.align;
      one.id.assign(reinterpret_cast<const char*>(m.id), sizeof m.id);
      if (one.id == std::string(sizeof m.id, '\0')) one.id.clear();
      out.domains.push_back(std::move(one));
    }
    return out;
  }

  Host& host_;
  ge_plugin_desc desc_;
  uint32_t precision_;
  ge_engine_api api_ = {};
  ge_engine* handle_ = nullptr;
  ge_rc created_ = GE_OK;
  std::string error_;
  std::vector<Device> devices_;
};

}  // namespace ge::mock
#endif  // GE_MOCK_ENGINE_HPP_
