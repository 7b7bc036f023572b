// ge data info: where rows come from, how many, and what columns a pipeline gives.
#include <fmt/format.h>

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

Status Inform(const DataOptions& o) {
  GE_ASSIGN_OR_RETURN(const SignalledSession session, OpenPipe(o));
  GE_ASSIGN_OR_RETURN(const PipeFacts facts, FactsOf(*session, o.rows.entry));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.rows.entry));
  const Function& f = session->graph().fn(entry->fn);
  if (o.common.json) {
    nlohmann::ordered_json json = {{"source", facts.source}, {"digest", facts.digest}};
    json["rows"] = facts.rows;
    json["epoch_rows"] = facts.epoch_rows;
    json["shuffle"] = facts.shuffle;
    for (const ValueId v : f.results) {
      const Type& t = f.value(v).type;
      json["columns"].push_back(
          {{"name", f.value(v).name}, {"dtype", DTypeName(t.dtype)}, {"dims", SizesOf(t)}});
    }
    fmt::print("{}\n", json.dump());
    return {};
  }
  fmt::print("source      {}\ndigest      {}\nrows        {}\nan epoch    {}{}\n", facts.source,
             facts.digest, facts.rows, facts.epoch_rows, facts.shuffle ? ", shuffled" : "");
  std::vector<Row> rows;
  for (const ValueId v : f.results) {
    const Type& t = f.value(v).type;
    rows.push_back({{f.value(v).name, std::string(DTypeName(t.dtype)), SizesOf(t)}});
  }
  PrintTable({"column", "dtype", "n rows"}, rows, {false, false, false});
  return {};
}

}  // namespace

int DataInfo(const DataOptions& o) {
  const Status status = Inform(o);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
