#include <fmt/format.h>

#include <set>

#include "ge/base/text/letter_case.h"
#include "ge/control/host_op.h"
#include "ge/control/strings.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

Status RunStringNormalizer(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  const Attr* attr = c.node.attr("stopwords");
  const auto* stop = attr ? std::get_if<std::vector<std::string>>(&attr->value) : nullptr;
  const bool sensitive = AttrInt(c.node, "is_case_sensitive") != 0;
  const std::string_view action = AttrString(c.node, "case_change_action");
  // Texts are compared in the case that they are to have, lower where they keep theirs, as ONNX
  // Runtime does it: "ς" is "σ" in upper case alone.
  const LetterCase letters = action == "UPPER" ? LetterCase::kUpper : LetterCase::kLower;
  std::set<std::string> stopwords;
  for (const std::string& word : stop ? *stop : std::vector<std::string>()) {
    GE_ASSIGN_OR_RETURN(std::string folded,
                        sensitive ? Result<std::string>(word) : InCase(word, letters));
    stopwords.insert(std::move(folded));
  }
  const bool folds = action != "NONE" || (!sensitive && !stopwords.empty());
  std::vector<std::string> kept;
  for (size_t i = 0; i < x->size(); ++i) {
    const std::string& text = (*x)[i];
    const Result<std::string> folded = folds ? InCase(text, letters) : Result<std::string>(text);
    if (!folded.ok()) {
      return Status(folded.status().code(),
                    fmt::format("element {} of input 'X': {}", i, folded.status().message()));
    }
    if (stopwords.count(sensitive ? text : *folded) != 0) continue;
    kept.push_back(action == "NONE" ? text : *folded);
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
