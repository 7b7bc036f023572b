#include "passes/grad/entry.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace ge::grad {

ge_attr_def TextSetting(const char* name, const char* otherwise) {
  ge_attr_def d{};
  d.value.name = ge_text(name), d.value.kind = GE_ATTR_STRING, d.value.s = ge_text(otherwise);
  d.flags = GE_ATTR_HAS_DEFAULT;
  return d;
}

ge_attr_def NumberSetting(const char* name, double otherwise) {
  ge_attr_def d{};
  d.value.name = ge_text(name), d.value.kind = GE_ATTR_FLOAT, d.value.f = otherwise;
  d.flags = GE_ATTR_HAS_DEFAULT;
  return d;
}

ge_attr_def CountSetting(const char* name, int64_t otherwise) {
  ge_attr_def d{};
  d.value.name = ge_text(name), d.value.kind = GE_ATTR_INT, d.value.i = otherwise;
  d.flags = GE_ATTR_HAS_DEFAULT;
  return d;
}

std::string TextOption(const ge_edit* e, uint32_t i) {
  return i < e->n_option ? std::string(plugin::View(e->option[i].s)) : std::string();
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

Source EntryOf(const ge_edit* e, const std::string& name) {
  const ge_model* m = e->model(e->host);
  std::string have;
  for (uint32_t i = 0; m != nullptr && i < m->n_entry; ++i) {
    const ge_entry& entry = *GE_ENTRY(m, i);
    const std::string found(plugin::View(entry.name));
    if (name.empty() || found == name) return {entry.fn, found};
    have += (have.empty() ? "'" : ", '") + found + "'";
  }
  throw Refusal{GE_NOT_FOUND, "there is no entry '" + name + "'; the model has " + have};
}

uint32_t LastName(const ge_edit* e) {
  const ge_model* m = e->model(e->host);
  uint32_t last = 0;
  for (uint32_t i = 1; m != nullptr && i < m->n_fn; ++i) {
    const std::string_view name = plugin::View(GE_FUNCTION(m, i)->name);
    if (!name.starts_with("grad.")) continue;
    uint32_t number = 0;
    const char* end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + name.rfind('.') + 1, end, number);
    if (read.ec == std::errc() && number < UINT32_MAX / 2) last = std::max(last, number);
  }
  return last;
}

uint32_t CopyOf(const ge_edit* e, const Source& source, const std::string& name) {
  uint32_t fn = 0;
  e->copy(e->host, source.fn, plugin::Str(name), &fn);
  return fn;
}

std::string NameOf(const ge_graph* g, uint32_t value) {
  const ge_value& v = *GE_VALUE(g, value);
  return v.name.n ? std::string(plugin::View(v.name)) : std::to_string(value);
}

uint32_t OutputOf(const ge_graph* g, const std::string& name) {
  std::string have;
  for (uint32_t i = 0; i < g->n_out; ++i) {
    const bool wanted = name.empty() || NameOf(g, g->out[i]) == name || std::to_string(i) == name;
    have += (have.empty() ? "'" : ", '") + NameOf(g, g->out[i]) + "'";
    if (!wanted) continue;
    if (IsFloat(GE_VALUE(g, g->out[i])->type.dtype)) return g->out[i];
    throw Refusal{GE_INVALID_ARGUMENT, "output '" + NameOf(g, g->out[i]) +
                                           "' has no gradient: its elements are no floats"};
  }
  throw Refusal{GE_NOT_FOUND, "there is no output '" + name + "'; the entry has " + have};
}

namespace {

bool IsWeight(const ge_value& v) {
  return (v.flags & GE_VALUE_CONSTANT) != 0 && v.name.n > 0 && v.n_user > 0 &&
         IsFloat(v.type.dtype);
}

void AddAll(const ge_graph* g, bool inputs, std::vector<uint32_t>* to) {
  for (uint32_t i = 0; inputs && i < g->n_in; ++i) {
    if (IsFloat(GE_VALUE(g, g->in[i])->type.dtype)) to->push_back(g->in[i]);
  }
  for (uint32_t v = 1; !inputs && v < g->n_value; ++v) {
    if (IsWeight(*GE_VALUE(g, v))) to->push_back(v);
  }
}

void AddNamed(const ge_graph* g, const std::string& name, std::vector<uint32_t>* to) {
  for (uint32_t v = 1; v < g->n_value; ++v) {
    const ge_value& value = *GE_VALUE(g, v);
    const bool here = (value.flags & (GE_VALUE_CONSTANT | GE_VALUE_INPUT)) != 0;
    if (!here || plugin::View(value.name) != name) continue;
    if (IsFloat(value.type.dtype)) return to->push_back(v);
    throw Refusal{GE_INVALID_ARGUMENT,
                  "'" + name + "' has no gradient: its elements are no floats"};
  }
  throw Refusal{GE_NOT_FOUND, "there is no input or weight '" + name +
                                  "'; name one, or all by *inputs or *weights"};
}

}  // namespace

std::vector<uint32_t> WantedOf(const ge_graph* g, const std::vector<std::string>& names) {
  std::vector<uint32_t> wanted;
  for (const std::string& name : names) {
    if (name == "*inputs" || name == "*weights") {
      AddAll(g, name == "*inputs", &wanted);
    } else {
      AddNamed(g, name, &wanted);
    }
  }
  if (wanted.empty()) {
    throw Refusal{GE_INVALID_ARGUMENT,
                  "there is nothing that a gradient could be for: no input or "
                  "weight of floats is wanted"};
  }
  return wanted;
}

void RefuseProblems(const Context& context) {
  std::string text = "no gradient:";
  for (const std::string& p : context.problems) text += "\n  " + p;
  text += "\nwhere a node is to count as a constant, put ge.StopGradient behind it";
  throw Refusal{GE_UNIMPLEMENTED, text};
}

ge_rc Guard(ge_err* err, void (*body)(const ge_edit*), const ge_edit* e) {
  try {
    body(e);
    return GE_OK;
  } catch (const Refusal& r) {
    return ge_fail(err, r.rc, r.text.c_str());
  } catch (const std::bad_alloc&) {
    return ge_fail(err, GE_OUT_OF_MEMORY, "there is no memory for the gradient");
  }
}

}  // namespace ge::grad
