#include "ge/engine/pass/pass_plugin.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <deque>

#include "ge/base/interrupt.h"
#include "ge/base/log.h"
#include "ge/base/text/quoted_list.h"
#include "ge/engine/engine.h"
#include "ge/engine/from_abi.h"
#include "ge/engine/pass/pass_edit.h"
#include "ge/engine/plugin/record.h"

namespace ge {
namespace {

constexpr uint32_t kMostPasses = 256, kMostNames = 64;

// One record, checked.
class Reader {
 public:
  Reader(const Plugin& plugin, uint32_t index)
      : plugin_(plugin), what_(fmt::format("pass {}", index)) {}

  Result<std::shared_ptr<const PluginPass>> Read(const ge_pass_def* given) {
    auto read = ReadRecord(given, what_);
    if (!read.ok()) return Bad(read.status().message());
    PluginPass out;
    out.def = *read;
    out.plugin = plugin_.name;
    out.name = TextOf(out.def.name);
    out.summary = TextOf(out.def.summary);
    if (!GoodName(out.name)) {
      return Bad(
          fmt::format("{} is named '{}'; wanted 1 to 64 characters of [a-z0-9-]", what_, out.name));
    }
    what_ = fmt::format("pass '{}'", out.name);
    if (out.def.kind < GE_PASS_CANONICALISE || out.def.kind > GE_PASS_DERIVE) {
      return Bad(fmt::format("{} is of kind {}; wanted a GE_PASS_*", what_, out.def.kind));
    }
    out.kind = static_cast<PassKind>(out.def.kind - GE_PASS_CANONICALISE);
    GE_RETURN_IF_ERROR(CheckPhases(out));
    out.phases = static_cast<uint8_t>(out.def.phases);
    if (!out.def.run) return Bad(fmt::format("run of {} is NULL", what_));
    GE_RETURN_IF_ERROR(Names(out.def.before, out.def.n_before, &out.before));
    GE_RETURN_IF_ERROR(Names(out.def.after, out.def.n_after, &out.after));
    GE_RETURN_IF_ERROR(CheckOptions(out.def));
    return std::make_shared<const PluginPass>(std::move(out));
  }

 private:
  Status Bad(const std::string& text) const {
    return Status(Code::kPluginError, fmt::format("plugin '{}': {}", plugin_.path, text));
  }

  static bool GoodName(const std::string& name) {
    return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
  }

  Status CheckPhases(const PluginPass& p) const {
    static_assert(int{GE_PHASE_LOAD} == int{kAtLoad} && int{GE_PHASE_BIND} == int{kAtBind} &&
                  int{GE_PHASE_ASKED} == int{kWhenAsked});
    const uint32_t when = GE_PHASE_LOAD | GE_PHASE_BIND;
    if ((p.def.phases & when) == 0 || (p.def.phases & ~(when | GE_PHASE_ASKED)) != 0) {
      return Bad(
          fmt::format("{} has phases {:#x}; wanted GE_PHASE_LOAD, GE_PHASE_BIND or both, "
                      "with or without GE_PHASE_ASKED",
                      what_, p.def.phases));
    }
    if (p.kind == PassKind::kDerive && (p.def.phases & GE_PHASE_BIND)) {
      return Bad(
          fmt::format("{} derives, which is done once, at load; it has GE_PHASE_BIND", what_));
    }
    return {};
  }

  Status Names(const ge_str* list, uint32_t n, std::vector<std::string>* out) const {
    if (n > kMostNames || (n > 0 && !list)) {
      return Bad(
          fmt::format("{} names {} other passes in a list; wanted at most {}, and where they "
                      "are",
                      what_, n, kMostNames));
    }
    for (uint32_t i = 0; i < n; ++i) out->push_back(TextOf(list[i]));
    return {};
  }

  Status CheckOptions(const ge_pass_def& def) const {
    if (def.n_option > kMostNames || (def.n_option > 0 && !def.option)) {
      return Bad(fmt::format("{} has {} options; wanted at most {}, and where they are", what_,
                             def.n_option, kMostNames));
    }
    for (uint32_t i = 0; i < def.n_option; ++i) {
      const ge_attr& a = def.option[i].value;
      const std::string name = TextOf(a.name);
      const bool kind =
          a.kind == GE_ATTR_INT || a.kind == GE_ATTR_FLOAT || a.kind == GE_ATTR_STRING;
      if (!name.empty() && kind) continue;
      return Bad(
          fmt::format("option '{}' of {} is of kind {}; wanted a name, and GE_ATTR_INT, "
                      "FLOAT or STRING",
                      name, what_, a.kind));
    }
    return {};
  }

  const Plugin& plugin_;
  std::string what_;
};

// How the run of a pass ended. What it says that it cannot do with this model is no fault of its.
Code CodeOf(ge_rc rc) {
  switch (rc) {
    case GE_INVALID_ARGUMENT:
    case GE_OUT_OF_RANGE:
    case GE_NOT_FOUND:  // what an option names
      return Code::kInvalidArgument;
    case GE_DATA_LOSS:  // in files that an option names
      return Code::kDataCorrupt;
    case GE_UNIMPLEMENTED:
      return Code::kUnsupported;
    case GE_OUT_OF_MEMORY:
      return Code::kResourceExhausted;
    case GE_CANCELLED:
      return Code::kCancelled;
    case GE_DEADLINE:
      return Code::kDeadlineExceeded;
    case GE_FAILED_PRECONDITION:
      return Code::kFailedPrecondition;
    default:
      return Code::kPluginError;
  }
}

// What the pass says, and why rules of operators had no answer for it: a rule that broke its word
// is the plugin's failure.
Status WithRules(const PassEdit& edit, Code code, std::string text) {
  std::string node;
  for (const Status& rule : edit.rule_failures()) {
    text += fmt::format("\n  {}{}",
                        rule.node().empty() ? "" : "node '" + rule.node() + "': ", rule.message());
    if (rule.code() != Code::kPluginError) continue;
    code = Code::kPluginError;
    if (node.empty()) node = rule.node();
  }
  return Status(code, std::move(text)).AtNode(node);
}

class PassOfPlugin : public Pass {
 public:
  explicit PassOfPlugin(std::shared_ptr<const PluginPass> record) : record_(std::move(record)) {
    for (uint32_t i = 0; i < record_->def.n_option; ++i) {
      const ge_attr_def& o = record_->def.option[i];
      values_.push_back(o.value);
      if (!(o.flags & GE_ATTR_HAS_DEFAULT)) values_.back().kind = 0;
    }
  }
  std::string_view name() const override { return record_->name; }
  std::string_view summary() const override { return record_->summary; }
  PassKind kind() const override { return record_->kind; }
  uint8_t phases() const override { return record_->phases; }
  std::vector<std::string> before() const override { return record_->before; }
  std::vector<std::string> after() const override { return record_->after; }
  std::string_view plugin() const override { return record_->plugin; }
  Status SetOptions(std::string_view options) override;
  Status Run(Transaction& t, const PassContext& context) override;

 private:
  Status Bad(const std::string& text) const {
    return Status(Code::kInvalidArgument, PassLabel(*this) + ": " + text);
  }
  Status SetOption(std::string_view name, const std::string& value);

  std::shared_ptr<const PluginPass> record_;
  std::vector<ge_attr> values_;    // by position of the record's options
  std::deque<std::string> texts_;  // of values_; a deque: addresses stay
};

Status PassOfPlugin::SetOption(std::string_view name, const std::string& value) {
  std::string known;
  for (uint32_t i = 0; i < record_->def.n_option; ++i) {
    const ge_attr& wanted = record_->def.option[i].value;
    ge_attr& set = values_[i];
    known += (known.empty() ? "" : ", ") + TextOf(wanted.name);
    if (TextOf(wanted.name) != name) continue;
    const char* end = value.data() + value.size();
    char* stop = nullptr;
    set = wanted;
    if (wanted.kind == GE_ATTR_STRING) {
      texts_.push_back(value);
      set.s = {texts_.back().data(), texts_.back().size()};
      return {};
    }
    if (wanted.kind == GE_ATTR_INT) {
      const auto r = std::from_chars(value.data(), end, set.i);
      if (r.ec == std::errc() && r.ptr == end) return {};
      return Bad(fmt::format("option {} is '{}', wanted a whole number", name, value));
    }
    set.f = std::strtod(value.c_str(), &stop);
    if (!value.empty() && stop == value.c_str() + value.size() && std::isfinite(set.f)) return {};
    return Bad(fmt::format("option {} is '{}', wanted a number", name, value));
  }
  return Bad(fmt::format("there is no option '{}'; {}", name,
                         known.empty() ? "the pass takes none" : "the options are " + known));
}

Status PassOfPlugin::SetOptions(std::string_view options) {
  const auto items = SplitQuoted(options, ';');
  if (!items.ok()) return Bad(items.status().message());
  for (const std::string_view item : *items) {
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return Bad(fmt::format("'{}' is not option=value", item));
    }
    GE_RETURN_IF_ERROR(
        SetOption(item.substr(0, equals), std::string(Unquoted(item.substr(equals + 1)))));
  }
  for (uint32_t i = 0; i < values_.size(); ++i) {
    const ge_attr_def& o = record_->def.option[i];
    if (values_[i].kind == 0 && (o.flags & GE_ATTR_REQUIRED)) {
      return Bad(fmt::format("option {} is not given; it is required", TextOf(o.value.name)));
    }
  }
  return {};
}

Status PassOfPlugin::Run(Transaction& t, const PassContext& context) {
  PassEdit edit(kind(), values_, &t, context);
  ge_err err = EmptyError();
  const std::string what = fmt::format("plugin '{}', run of {}", record_->plugin, record_->name);
  const ge_rc rc = CallPlugin(what, &err, [&] { return record_->def.run(edit.api(), &err); });
  GE_RETURN_IF_ERROR(CheckInterrupt());  // it may have returned because of edit.stop
  const Status& failed = edit.failed();
  if (!failed.ok()) {
    const bool ours = failed.code() == Code::kResourceExhausted;
    return ours ? failed : Status(Code::kPluginError, failed.message()).AtNode(failed.node());
  }
  if (rc != GE_OK) {
    const std::string text(err.msg, std::min<size_t>(err.msg_len, sizeof err.msg));
    return WithRules(edit, CodeOf(rc),
                     fmt::format("{} (code {})", text.empty() ? "no reason given" : text, rc));
  }
  for (const Status& rule : edit.rule_failures()) LogLine(1, rule.ToString());
  const Status sorted = edit.Finish();
  if (sorted.ok()) return {};
  return Status(Code::kPluginError, "it left an illegal graph (" + sorted.message() + ")")
      .AtNode(sorted.node());
}

}  // namespace

Result<std::vector<std::shared_ptr<const PluginPass>>> ReadPasses(const Plugin& plugin) {
  std::vector<std::shared_ptr<const PluginPass>> out;
  const ge_plugin_desc& desc = *plugin.desc;
  if (!(desc.kinds & GE_KIND_PASSES)) return out;
  if (!desc.pass || desc.n_pass == 0 || desc.n_pass > kMostPasses ||
      desc.pass_stride < kFirstSize<ge_pass_def>) {
    return Status(
        Code::kPluginError,
        fmt::format("plugin '{}': {} passes are said to be at {}, {} bytes apart; wanted 1 "
                    "to {}, and at least {} bytes",
                    plugin.path, desc.n_pass, fmt::ptr(desc.pass), desc.pass_stride, kMostPasses,
                    kFirstSize<ge_pass_def>));
  }
  for (uint32_t i = 0; i < desc.n_pass; ++i) {
    const auto* at = reinterpret_cast<const ge_pass_def*>(reinterpret_cast<const char*>(desc.pass) +
                                                          size_t{i} * desc.pass_stride);
    GE_ASSIGN_OR_RETURN(auto pass, Reader(plugin, i).Read(at));
    out.push_back(std::move(pass));
  }
  return out;
}

std::unique_ptr<Pass> MakePass(std::shared_ptr<const PluginPass> record) {
  return std::make_unique<PassOfPlugin>(std::move(record));
}

}  // namespace ge
