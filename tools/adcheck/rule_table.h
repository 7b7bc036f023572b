// The rule table of passes/grad, by operator; linked into the tool.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ge::adcheck {

enum class InputRule : uint8_t { kRule, kZero, kError };

struct OpRule {
  std::string name;
  bool has_back = false;
  struct Exception {
    uint32_t input;  // UINT32_MAX: all
    bool error;
    std::string reason;
  };
  std::vector<Exception> exceptions;
  InputRule Of(uint32_t input, std::string* reason) const;
};

std::vector<OpRule> AllOpRules();

}  // namespace ge::adcheck
