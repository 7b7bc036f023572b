#include "passes/data/ops/source_column.h"

namespace ge::data {

SourceColumn OpenColumn(const ge_node& node) {
  const auto text = [&](const char* name) { return std::string(plugin::AttrString(node, name)); };
  SourceColumn out;
  out.source = SharedSource(text("source"), text("digest"), {});
  out.index = out.source->ColumnOf(text("column"));
  return out;
}

std::vector<ge_attr_def> ColumnAttrs(std::vector<ge_attr_def> more) {
  more.insert(more.begin(), {WantedAttr("source", GE_ATTR_STRING),
                             WantedAttr("column", GE_ATTR_STRING), TextAttr("digest", "")});
  return more;
}

}  // namespace ge::data
