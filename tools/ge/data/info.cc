// ge data info: where rows come from, how many, and what columns a pipeline gives.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/ge/data/data.h"
#include "tools/ge/tables.h"

namespace ge::tool {
namespace {

std::string SizesOf(const Type& type) {
  std::string out;
  for (const Dim& d : type.dims) {
    out += (out.empty() ? "" : "x") + (d.known() ? std::to_string(d.value) : "n");
  }
  return out;
}

nlohmann::ordered_json ColumnJson(const Value& v, const ColumnFacts& of) {
  nlohmann::ordered_json out = {{"name", v.name}};
  if (!of.kind.empty()) {
    out["kind"] = of.kind;  // of any size
    return out;
  }
  out["dtype"] = DTypeName(v.type.dtype);
  out["dims"] = SizesOf(v.type);
  if (!of.classes.empty()) out["classes"] = nlohmann::json::parse(of.classes);
  return out;
}

// "cat, dog", "0, 1, 2, 3, ... (1000)".
std::string ClassesText(const ColumnFacts& of) {
  constexpr size_t kMost = 4;
  std::string out;
  if (of.classes.empty()) return out;
  const auto names = nlohmann::json::parse(of.classes);
  for (size_t i = 0; i < std::min(kMost, names.size()); ++i) {
    out += (i > 0 ? ", " : "") + names[i].get<std::string>();
  }
  return names.size() > kMost ? fmt::format("{}, ... ({})", out, names.size()) : out;
}

Status Inform(const DataOptions& o) {
  DataOptions each = o;
  each.pack = true;  // a source may be looked at before its pictures have a size
  GE_ASSIGN_OR_RETURN(const SignalledSession session, OpenPipe(each));
  GE_ASSIGN_OR_RETURN(const auto of_columns, ColumnFactsOf(*session, o.rows.entry));
  GE_ASSIGN_OR_RETURN(const PipeFacts facts, FactsOf(*session, o.rows.entry));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.rows.entry));
  const Function& f = session->graph().fn(entry->fn);
  if (o.common.json) {
    nlohmann::ordered_json json = {{"source", facts.source}, {"digest", facts.digest}};
    json["rows"] = facts.rows;
    json["epoch_rows"] = facts.epoch_rows;
    json["shuffle"] = facts.shuffle;
    for (size_t i = 0; i < f.results.size(); ++i) {
      json["columns"].push_back(ColumnJson(f.value(f.results[i]), of_columns[i]));
    }
    fmt::print("{}\n", json.dump());
    return {};
  }
  fmt::print("source      {}\ndigest      {}\nrows        {}\nan epoch    {}{}\n", facts.source,
             facts.digest, facts.rows, facts.epoch_rows, facts.shuffle ? ", shuffled" : "");
  std::vector<Row> rows;
  for (size_t i = 0; i < f.results.size(); ++i) {
    const Value& v = f.value(f.results[i]);
    const ColumnFacts& of = of_columns[i];
    const std::string kind = of.kind.empty() ? std::string(DTypeName(v.type.dtype)) : of.kind;
    rows.push_back({{v.name, kind, SizesOf(v.type), ClassesText(of)}});
  }
  PrintTable({"column", "dtype", "n rows", "classes"}, rows, {false, false, false, false});
  return {};
}

}  // namespace

int DataInfo(const DataOptions& o) {
  const Status status = Inform(o);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
