#include "passes/kit/options.h"

#include <algorithm>

#include "ge/ge_plugin.hpp"

namespace ge::passes {

ge_attr_def TextSetting(const char* name, const char* otherwise) {
  ge_attr_def d{};
  d.value.name = ge_text(name);
  d.value.kind = GE_ATTR_STRING;
  d.value.s = ge_text(otherwise);
  d.flags = GE_ATTR_HAS_DEFAULT;
  return d;
}

ge_attr_def NumberSetting(const char* name, double otherwise) {
  ge_attr_def d{};
  d.value.name = ge_text(name);
  d.value.kind = GE_ATTR_FLOAT;
  d.value.f = otherwise;
  d.flags = GE_ATTR_HAS_DEFAULT;
  return d;
}

ge_attr_def CountSetting(const char* name, int64_t otherwise) {
  ge_attr_def d{};
  d.value.name = ge_text(name);
  d.value.kind = GE_ATTR_INT;
  d.value.i = otherwise;
  d.flags = GE_ATTR_HAS_DEFAULT;
  return d;
}

std::string TextOption(const ge_edit* edit, uint32_t i) {
  return i < edit->n_option ? std::string(plugin::View(edit->option[i].s)) : std::string();
}

std::vector<std::string> Listed(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find_first_of(",+", at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace ge::passes
