#include <fmt/format.h>
#include <re2/re2.h>

#include "ge/control/host_op.h"
#include "ge/control/strings.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// RE2 matches in time linear in the string, whatever the pattern; this bounds what one may take.
constexpr int64_t kMaxPatternBytes = int64_t{8} << 20;

Status RunRegexFullMatch(HostCall& c) {
  GE_ASSIGN_OR_RETURN(const auto* x, StringsAt(c, 0));
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(kMaxPatternBytes);
  const std::string pattern(AttrString(c.node, "pattern"));
  const re2::RE2 matcher(pattern, options);
  if (!matcher.ok()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("attribute 'pattern' is '{:.200}', which is no regular expression of "
                              "RE2: {}",
                              pattern, matcher.error()));
  }
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kBool, c.in(0).dims, &c.outputs[0], &to));
  for (size_t i = 0; i < x->size(); ++i) {
    to[i] = std::byte{re2::RE2::FullMatch((*x)[i], matcher)};
  }
  return {};
}

}  // namespace

GE_HOST_OP(regex_full_match) = {"", "RegexFullMatch", RunRegexFullMatch};

}  // namespace ge
