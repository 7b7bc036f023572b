// The session of a pipe: a model of nothing, to which the plugin `data` adds the entry.
#include <fmt/format.h>

#include <algorithm>

#include "tools/ge/data/data.h"

namespace ge::tool {
namespace {

// A model needs an entry before passes add others.
constexpr char kNothing[] =
    "ge 1\nopset \"\" 28\nfn nothing(x: f32[1]) -> (y) {\n  y = Identity(x)\n}\n"
    "entry infer \"nothing\" = nothing\n";

bool IsModel(const std::string& pipe) {
  if (pipe.find('|') != std::string::npos) return false;
  for (const char* ending : {".gt", ".gepb", ".onnx", ".gecap"}) {
    if (pipe.ends_with(ending)) return true;
  }
  return false;
}

// The text as the value of a pass's option.
Result<std::string> PipeQuoted(const std::string& text) {
  for (const char quote : {'"', '\''}) {
    if (text.find(quote) == std::string::npos) return quote + text + quote;
  }
  return Status(Code::kInvalidArgument,
                "a pipe has quotes of both kinds, and takes one of them: " + text);
}

const Attr* Find(const Node& n, std::string_view name) {
  for (const Attr& a : n.attrs) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

int64_t IntOf(const Node& n, std::string_view name, int64_t absent) {
  const Attr* a = Find(n, name);
  const auto* i = a != nullptr ? std::get_if<int64_t>(&a->value) : nullptr;
  return i != nullptr ? *i : absent;
}

std::string TextIn(const Node& n, std::string_view name) {
  const Attr* a = Find(n, name);
  const auto* s = a != nullptr ? std::get_if<std::string>(&a->value) : nullptr;
  return s != nullptr ? *s : std::string();
}

// What makes a value, through nodes that only pass it on.
const Node* ProducerOf(const Function& f, ValueId v) {
  for (auto n = f.nodes.rbegin(); n != f.nodes.rend(); ++n) {
    if (std::find(n->outputs.begin(), n->outputs.end(), v) == n->outputs.end()) continue;
    if (n->op != "Identity" || n->inputs.size() != 1) return &*n;
    v = n->inputs[0];
  }
  return nullptr;
}

}  // namespace

Result<SignalledSession> OpenPipe(const DataOptions& o) {
  Options common = o.common;
  if (common.plugins.empty()) {
    common.plugins = "data";
  } else {
    common.plugins += ",data";
  }
  const bool model = IsModel(o.pipe);
  if (model) {
    common.model = o.pipe;
    return Open(common);
  }
  GE_ASSIGN_OR_RETURN(const std::string pipe, PipeQuoted(o.pipe));
  GE_ASSIGN_OR_RETURN(const std::string test, PipeQuoted(o.test));
  std::string pass =
      fmt::format("data:pipe={};test={};seed={};batch={}", pipe, test, o.common.seed, o.rows.batch);
  if (o.shuffle) pass += ";shuffle=1";
  if (o.own_test) pass += ";own-test=1";
  if (!o.pictures.empty()) pass += ";pictures=" + o.pictures;
  if (o.channels_last) pass += ";channels-last=1";
  if (o.pack) pass += ";pack=1";
  common.passes.push_back(pass);
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(common));
  GE_ASSIGN_OR_RETURN(auto created, Session::Create(std::move(options)));
  SignalledSession session(std::move(created));
  GE_RETURN_IF_ERROR(session->LoadBytes(kNothing, Format::kText));
  return session;
}

Result<PipeFacts> FactsOf(const Session& session, const std::string& entry) {
  GE_ASSIGN_OR_RETURN(const Entry* e, session.FindEntry(entry));
  PipeFacts out;
  for (const Node& n : session.graph().fn(e->fn).nodes) {
    if (n.domain != "ge.data") continue;
    if (n.op == "Order" && out.rows < 0) {
      out.rows = IntOf(n, "rows", -1);
      out.epoch_rows = IntOf(n, "epoch_rows", -1);
      out.shuffle = IntOf(n, "shuffle", 1) != 0;
    }
    if (out.source.empty()) {
      out.source = TextIn(n, "source");
      out.digest = TextIn(n, "digest") + TextIn(n, "model_digest");
    }
  }
  return out;
}

Result<std::vector<ColumnFacts>> ColumnFactsOf(const Session& session, const std::string& entry) {
  GE_ASSIGN_OR_RETURN(const Entry* e, session.FindEntry(entry));
  const Function& f = session.graph().fn(e->fn);
  std::vector<ColumnFacts> out;
  for (const ValueId v : f.results) {
    const Node* n = ProducerOf(f, v);
    ColumnFacts column;
    if (n != nullptr && n->domain == "ge.data" && n->op == "BlobSize") {
      column.kind = TextIn(*n, "kind");
    } else if (n != nullptr && n->domain == "ge.data" && n->op == "Rows") {
      column.classes = TextIn(*n, "classes");
    }
    out.push_back(std::move(column));
  }
  return out;
}

}  // namespace ge::tool
