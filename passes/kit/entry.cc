#include "passes/kit/entry.h"

#include <algorithm>
#include <charconv>

#include "ge/ge_plugin.hpp"
#include "passes/kit/refusal.h"

namespace ge::passes {

Source EntryOf(const ge_edit* edit, const std::string& name) {
  const ge_model* m = edit->model(edit->host);
  std::string have;
  for (uint32_t i = 0; m != nullptr && i < m->n_entry; ++i) {
    const ge_entry& entry = *GE_ENTRY(m, i);
    const std::string found(plugin::View(entry.name));
    if (name.empty() || found == name) return {entry.fn, found};
    have += (have.empty() ? "'" : ", '") + found + "'";
  }
  throw Refusal{GE_NOT_FOUND, "there is no entry '" + name + "'; the model has " + have};
}

uint32_t LastName(const ge_edit* edit, std::string_view prefix) {
  const ge_model* m = edit->model(edit->host);
  uint32_t last = 0;
  for (uint32_t i = 1; m != nullptr && i < m->n_fn; ++i) {
    const std::string_view name = plugin::View(GE_FUNCTION(m, i)->name);
    if (!name.starts_with(prefix)) continue;
    uint32_t number = 0;
    const char* end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + name.rfind('.') + 1, end, number);
    if (read.ec == std::errc() && number < UINT32_MAX / 2) last = std::max(last, number);
  }
  return last;
}

uint32_t CopyOf(const ge_edit* edit, const Source& source, const std::string& name) {
  uint32_t fn = 0;
  edit->copy(edit->host, source.fn, plugin::Str(name), &fn);
  return fn;
}

std::string NameOf(const ge_graph* graph, uint32_t value) {
  const ge_value& v = *GE_VALUE(graph, value);
  return v.name.n ? std::string(plugin::View(v.name)) : std::to_string(value);
}

}  // namespace ge::passes
