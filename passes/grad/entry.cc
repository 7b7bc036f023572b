#include "passes/grad/entry.h"

#include <algorithm>
#include <cstdlib>

namespace ge::grad {

uint32_t OutputOf(const ge_graph* graph, const std::string& name) {
  std::string have;
  for (uint32_t i = 0; i < graph->n_out; ++i) {
    const bool wanted =
        name.empty() || NameOf(graph, graph->out[i]) == name || std::to_string(i) == name;
    have += (have.empty() ? "'" : ", '") + NameOf(graph, graph->out[i]) + "'";
    if (!wanted) continue;
    if (IsFloat(GE_VALUE(graph, graph->out[i])->type.dtype)) return graph->out[i];
    throw Refusal{GE_INVALID_ARGUMENT, "output '" + NameOf(graph, graph->out[i]) +
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

std::vector<uint32_t> WantedOf(const ge_graph* graph, const std::vector<std::string>& names) {
  std::vector<uint32_t> wanted;
  for (const std::string& name : names) {
    if (name == "*inputs" || name == "*weights") {
      AddAll(graph, name == "*inputs", &wanted);
    } else {
      AddNamed(graph, name, &wanted);
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

ge_rc Guard(ge_err* err, void (*body)(const ge_edit*), const ge_edit* edit) {
  try {
    body(edit);
    return GE_OK;
  } catch (const Refusal& r) {
    return ge_fail(err, r.rc, r.text.c_str());
  } catch (const std::bad_alloc&) {
    return ge_fail(err, GE_OUT_OF_MEMORY, "there is no memory for the gradient");
  }
}

}  // namespace ge::grad
