#include <fmt/format.h>

#include <set>

#include "ge/control/host_op.h"
#include "ge/control/strings.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// ASCII letters only: other letters need the rules of a locale, which differ between machines.
std::string Changed(std::string s, bool upper) {
  for (char& ch : s) {
    if (upper && ch >= 'a' && ch <= 'z') ch = static_cast<char>(ch - 'a' + 'A');
    if (!upper && ch >= 'A' && ch <= 'Z') ch = static_cast<char>(ch - 'A' + 'a');
  }
  return s;
}

Status RunStringNormalizer(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  const Attr* attr = c.node.attr("stopwords");
  const auto* stop = attr ? std::get_if<std::vector<std::string>>(&attr->value) : nullptr;
  const bool sensitive = AttrInt(c.node, "is_case_sensitive") != 0;
  const std::string_view action = AttrString(c.node, "case_change_action");
  std::set<std::string> stopwords;
  for (const std::string& word : stop ? *stop : std::vector<std::string>()) {
    stopwords.insert(sensitive ? word : Changed(word, false));
  }
  std::vector<std::string> kept;
  for (const std::string& s : *x) {
    if (stopwords.count(sensitive ? s : Changed(s, false)) != 0) continue;
    kept.push_back(action == "NONE" ? s : Changed(s, action == "UPPER"));
  }
  if (kept.empty()) kept.emplace_back();
  FlowDims dims = c.in(0).dims;
  if (dims.empty() || (dims.size() == 2 && dims[0] != 1) || dims.size() > 2) {
    return Status(Code::kInvalidArgument,
                  fmt::format("input 'X' is {}, wanted [C] or [1,C]", Describe(c.in(0))));
  }
  dims[dims.size() - 1] = static_cast<int64_t>(kept.size());
  return c.pool->NewStrings(dims, std::move(kept), &c.outputs[0]);
}

}  // namespace

GE_HOST_OP(string_normalizer) = {"", "StringNormalizer", RunStringNormalizer};

}  // namespace ge
