#include "ge/engine/op/op_plugin.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ge/engine/plugin/record.h"

namespace ge {
namespace {

constexpr uint32_t kMostOps = 4096, kMostPorts = 64;

bool IsName(ge_str s) {
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-';
  };
  return s.p && s.n > 0 && s.n <= 128 && std::all_of(s.p, s.p + s.n, legal);
}

bool IsOfHost(const std::string& domain) {
  static constexpr std::string_view kOurs[] = {"", "ai.onnx", "ai.onnx.ml", "com.microsoft", "ge"};
  return std::find(std::begin(kOurs), std::end(kOurs), domain) != std::end(kOurs);
}

class Check {
 public:
  explicit Check(const PluginOp& op) : op_(op), d_(op.def) {}

  Status Run() {
    if (!IsName(d_.domain) || !IsName(d_.name) || IsOfHost(TextOf(d_.domain))) {
      return Bad(
          fmt::format("its domain is '{}' and its name '{}'; wanted a domain of the "
                      "plugin's own and letters, digits, '_', '.', '-'",
                      TextOf(d_.domain), TextOf(d_.name)));
    }
    if (d_.version == 0) return Bad("version is 0; wanted that of the domain's opset, from 1");
    if (!d_.infer) return Bad("infer is NULL; it is required");
    if (!d_.decompose && !d_.kernel) {
      return Bad("decompose and kernel are NULL; one of them is required to run it");
    }
    const bool data_sized = (d_.flags & GE_OP_DATA_SIZED) != 0;
    if (data_sized && !d_.kernel) return Bad("GE_OP_DATA_SIZED wants a kernel, which is NULL");
    if (data_sized && d_.decompose) return Bad("GE_OP_DATA_SIZED and decompose exclude each other");
    if (!d_.open != !d_.close) return Bad("open and close: one of them is NULL; both or neither");
    if (d_.open && (data_sized || !d_.kernel)) {
      return Bad("open wants a kernel and excludes GE_OP_DATA_SIZED: nothing is compiled there");
    }
    GE_RETURN_IF_ERROR(Ports("input", d_.input, d_.n_input));
    GE_RETURN_IF_ERROR(Ports("output", d_.output, d_.n_output));
    GE_RETURN_IF_ERROR(States());
    return Attrs();
  }

 private:
  Status Bad(const std::string& text) const {
    return Status(Code::kPluginError,
                  fmt::format("plugin '{}': operator {}: {}", op_.plugin, op_.name, text));
  }

  Status Ports(const char* what, const ge_port* ports, uint32_t n) const {
    if (n > kMostPorts || (n > 0 && !ports)) {
      return Bad(fmt::format("{} {} ports{}; wanted at most {}", n, what, ports ? "" : " at NULL",
                             kMostPorts));
    }
    bool states = false;
    for (uint32_t i = 0; i < n; ++i) {
      const bool state = (ports[i].flags & GE_PORT_STATE) != 0;
      if (!IsName(ports[i].name)) return Bad(fmt::format("{} {} has no name", what, i));
      GE_RETURN_IF_ERROR(DTypes(what, i, ports[i]));
      if (states && !state) return Bad(fmt::format("{} {} stands behind a state", what, i));
      if ((ports[i].flags & GE_PORT_VARIADIC) && i + 1 < n) {
        return Bad(fmt::format("{} {} is variadic, but not the last", what, i));
      }
      states = state;
    }
    return {};
  }

  // A mask of GE_F32, say, in the place of 1u << GE_F32: a port that takes nothing.
  Status DTypes(const char* what, uint32_t i, const ge_port& port) const {
    constexpr uint64_t kLegal = ((uint64_t{1} << kDTypeCount) - 1) & ~uint64_t{1};
    const uint64_t wrong = port.dtypes & ~kLegal;
    if (wrong == 0) return {};
    return Bad(fmt::format(
        "{} {} ('{}') has dtypes {:#x}, whose bit {} stands for no dtype; wanted "
        "a bit 1u << GE_F32 for each dtype (those of ge_plugin.h, 1 to {}), or 0 "
        "for any",
        what, i, TextOf(port.name), port.dtypes, std::countr_zero(wrong), kDTypeCount - 1));
  }

  static std::vector<std::string> StateNames(const ge_port* ports, uint32_t n) {
    std::vector<std::string> names;
    for (uint32_t i = 0; i < n; ++i) {
      if (ports[i].flags & GE_PORT_STATE) names.push_back(TextOf(ports[i].name));
    }
    return names;
  }

  Status States() const {
    const auto in = StateNames(d_.input, d_.n_input), out = StateNames(d_.output, d_.n_output);
    if (in != out) {
      return Bad(
          fmt::format("its states are [{}] among the inputs and [{}] among the outputs; "
                      "wanted the same names in the same order",
                      fmt::join(in, ", "), fmt::join(out, ", ")));
    }
    if (!in.empty() && !d_.states) return Bad("it has states, but `states` is NULL");
    const bool optional = std::any_of(d_.input, d_.input + d_.n_input, [](const ge_port& p) {
      return (p.flags & (GE_PORT_VARIADIC | GE_PORT_OPTIONAL)) != 0;
    });
    if (!in.empty() && optional) return Bad("states beside optional or variadic inputs");
    return {};
  }

  Status Attrs() const {
    if (d_.n_attr > 256 || (d_.n_attr > 0 && !d_.attr)) return Bad("its attributes are at NULL");
    for (uint32_t i = 0; i < d_.n_attr; ++i) {
      const ge_attr_def& a = d_.attr[i];
      if (!IsName(a.value.name)) return Bad(fmt::format("attribute {} has no name", i));
      const uint32_t most = (a.flags & GE_ATTR_HAS_DEFAULT) ? GE_ATTR_INTS : GE_ATTR_TENSOR;
      if (a.value.kind < GE_ATTR_INT || a.value.kind > most) {
        return Bad(fmt::format("attribute '{}' is of kind {}; wanted {} to {}",
                               TextOf(a.value.name), a.value.kind, static_cast<int>(GE_ATTR_INT),
                               most));
      }
    }
    return {};
  }

  const PluginOp& op_;
  const ge_op_def& d_;
};

AttrDef AttrDefOf(const ge_attr_def& a, OpTable* table) {
  static constexpr AttrKind kKinds[] = {AttrKind::kInt,     AttrKind::kInt,   AttrKind::kFloat,
                                        AttrKind::kString,  AttrKind::kInts,  AttrKind::kFloats,
                                        AttrKind::kStrings, AttrKind::kTensor};
  AttrDef def(table->Keep({a.value.name.p, a.value.name.n}), kKinds[a.value.kind],
              (a.flags & GE_ATTR_REQUIRED) != 0);
  if (!(a.flags & GE_ATTR_HAS_DEFAULT)) return def;
  switch (a.value.kind) {
    case GE_ATTR_INT:
      def.default_value = a.value.i;
      break;
    case GE_ATTR_FLOAT:
      def.default_value = a.value.f;
      break;
    case GE_ATTR_STRING:
      def.default_value = TextOf(a.value.s);
      break;
    default:
      def.default_value = std::vector<int64_t>(a.value.ints, a.value.ints + a.value.n);
  }
  return def;
}

std::vector<Port> PortsOf(const ge_port* ports, uint32_t n, OpTable* table) {
  std::vector<Port> out;
  for (uint32_t i = 0; i < n; ++i) {
    const ge_port& p = ports[i];
    Port port{table->Keep(TextOf(p.name)),
              p.dtypes ? static_cast<DTypeSet>(p.dtypes) : kAnyDType & ~Bit(DType::kString),
              table->Keep(TextOf(p.type_var))};
    if (p.flags & GE_PORT_OPTIONAL) port.arity = Arity::kOptional;
    if (p.flags & GE_PORT_VARIADIC) port.arity = Arity::kVariadic;
    port.min_count = static_cast<uint8_t>(std::min(p.min_count, 255u));
    out.push_back(port);
  }
  return out;
}

OpDef RecordOf(const std::shared_ptr<const PluginOp>& op, OpTable* table) {
  const ge_op_def& d = op->def;
  OpDef out{table->Keep(TextOf(d.domain)),        table->Keep(TextOf(d.name)),
            static_cast<int32_t>(d.version),      PortsOf(d.input, d.n_input, table),
            PortsOf(d.output, d.n_output, table), {}};
  for (uint32_t i = 0; i < d.n_attr; ++i) out.attrs.push_back(AttrDefOf(d.attr[i], table));
  out.of_plugin = op;
  out.infer = [op](InferContext& c) { return InferByPlugin(*op, c); };
  if (d.work) {
    out.work = [op](const Node& node, std::span<const Type> in, std::span<const Type> given) {
      return WorkByPlugin(*op, node, in, given);
    };
  }
  if (d.decompose) {
    out.decompose = [op](Transaction& t, FunctionId fn, const Node& node) {
      return DecomposeByPlugin(*op, t, fn, node);
    };
  }
  if (d.kernel) out.kernel = [op](KernelCall& call) { return RunPluginKernel(*op, call); };
  out.deterministic = (d.flags & GE_OP_RANDOM) == 0;
  out.data_sized = (d.flags & GE_OP_DATA_SIZED) != 0;
  out.states =
      static_cast<uint32_t>(std::count_if(d.input, d.input + d.n_input, [](const ge_port& p) {
        return (p.flags & GE_PORT_STATE) != 0;
      }));
  if (out.states > 0) {
    out.state_types = [op](const Graph& g, const Node& n) { return StatesByPlugin(*op, g, n); };
  }
  return out;
}

}  // namespace

std::string RuleText(const PluginOp& op, std::string_view rule) {
  return fmt::format("plugin '{}', {} of {}", op.plugin, rule, op.name);
}

Status FromRule(const PluginOp& op, std::string_view rule, ge_rc rc, const ge_err& err) {
  const std::string_view text(err.msg, std::min<size_t>(err.msg_len, sizeof err.msg));
  const Code code = rc == GE_INVALID_ARGUMENT || rc == GE_OUT_OF_RANGE
                        ? (rule == "infer" ? Code::kInvalidGraph : Code::kInvalidArgument)
                    : rc == GE_UNIMPLEMENTED ? Code::kUnsupported
                    : rc == GE_OUT_OF_MEMORY ? Code::kResourceExhausted
                    : rc == GE_CANCELLED     ? Code::kCancelled
                                             : Code::kPluginError;
  return Status(code, fmt::format("{} of {} (plugin '{}') failed with code {}: {}", rule, op.name,
                                  op.plugin, rc, text.empty() ? "no reason given" : text));
}

Result<std::shared_ptr<const PluginOp>> ReadPluginOp(const Plugin& plugin, uint32_t index) {
  const ge_plugin_desc& d = *plugin.desc;
  const auto* at = reinterpret_cast<const ge_op_def*>(reinterpret_cast<const char*>(d.op) +
                                                      uint64_t{index} * d.op_stride);
  const std::string what = fmt::format("plugin '{}': operator {}", plugin.path, index);
  auto op = std::make_shared<PluginOp>();
  GE_ASSIGN_OR_RETURN(op->def, ReadRecord(at, what));
  op->plugin = plugin.path;
  op->name = TextOf(op->def.domain) + "." + TextOf(op->def.name);
  GE_RETURN_IF_ERROR(Check(*op).Run());
  return std::shared_ptr<const PluginOp>(std::move(op));
}

Status AddOps(const Plugin& plugin, InferNodeHook infer_node, OpTable* table) {
  const ge_plugin_desc& d = *plugin.desc;
  if (d.n_op == 0 || d.n_op > kMostOps || !d.op || d.op_stride < kFirstSize<ge_op_def>) {
    return Status(Code::kPluginError,
                  fmt::format("plugin '{}': {} operators{} with stride {}; wanted 1 to {}, with a "
                              "stride of at least {}",
                              plugin.path, d.n_op, d.op ? "" : " at NULL", d.op_stride, kMostOps,
                              kFirstSize<ge_op_def>));
  }
  for (uint32_t i = 0; i < d.n_op; ++i) {
    GE_ASSIGN_OR_RETURN(auto read, ReadPluginOp(plugin, i));
    auto op = std::make_shared<PluginOp>(*read);
    op->infer_node = infer_node;
    GE_RETURN_IF_ERROR(table->Add(RecordOf(op, table), plugin.path));
  }
  return {};
}

}  // namespace ge
