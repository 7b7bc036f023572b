// What the libraries must have: a check a symbol.
#include "tools/ascend_check/check.h"

namespace ascend_check {
namespace {

enum class Want : uint8_t { kRequired, kOptional };

Check OfSymbol(const std::string& symbol, bool operators, Want want) {
  const std::string where = operators ? "libnnopbase.so or libopapi.so" : kRuntime;
  const bool required = want == Want::kRequired;
  return {"symbol-" + symbol, "rule:libraries",
          symbol + " is in " + where + (required ? "." : ", or what needs it is left out."),
          [=](Case& at) {
            const Vendor& vendor = operators ? at.operators(Outcome::kDiffers) : at.runtime();
            if (vendor.Find(symbol.c_str()) != nullptr) return;
            if (required) Case::Differs(where + " has no " + symbol);
            at.OnlyTell();
            at.Tell("the library has no " + symbol + "; the engine works without");
          }};
}

Check OfOperator(const std::string& name) {
  return {"symbol-aclnn" + name, "rule:libraries",
          "aclnn" + name + " and aclnn" + name + "GetWorkspaceSize are in libopapi.so.",
          [=](Case& at) {
            const Vendor& vendor = at.operators(Outcome::kDiffers);
            for (const char* tail : {"", "GetWorkspaceSize"}) {
              const std::string symbol = "aclnn" + name + tail;
              Case::Need(vendor.Find(symbol.c_str()) != nullptr,
                         "there is no " + symbol + ": the engine leaves the operator out");
            }
          }};
}

}  // namespace

std::vector<Check> SymbolChecks() {
  std::vector<Check> checks;
#define CHECK_SYMBOL(name, ...) checks.push_back(OfSymbol(#name, false, Want::kRequired));
  GE_ACL_FUNCTIONS(CHECK_SYMBOL)
  CHECK_SYMBOL(aclrtGetSocName)
#undef CHECK_SYMBOL
#define CHECK_SYMBOL(name, ...) checks.push_back(OfSymbol(#name, false, Want::kOptional));
  GE_ACL_OPTIONAL_FUNCTIONS(CHECK_SYMBOL)
  CHECK_SYMBOL(aclGetRecentErrMsg)
#undef CHECK_SYMBOL
  for (const char* name :
       {"aclCreateTensor", "aclDestroyTensor", "aclCreateScalar", "aclDestroyScalar",
        "aclCreateIntArray", "aclDestroyIntArray", "aclCreateTensorList", "aclDestroyTensorList"}) {
    checks.push_back(OfSymbol(name, true, Want::kRequired));
  }
  checks.push_back(OfSymbol("aclDestroyAclOpExecutor", true, Want::kOptional));
#define GE_ACLNN(name, parameters, names) checks.push_back(OfOperator(#name));
#include "plugins/ascend/api/operators.def"
  return checks;
}

}  // namespace ascend_check
