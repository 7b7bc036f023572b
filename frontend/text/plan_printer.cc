#include <fmt/format.h>

#include <algorithm>

#include "frontend/text/lexer.h"
#include "frontend/text/plan_fields.h"
#include "frontend/text/plan_text.h"
#include "frontend/text/printer.h"

namespace ge {
namespace text {
namespace {

template <typename T>
std::string FieldText(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return Quote(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    const auto i = static_cast<size_t>(value);
    return i < EnumNames<T>::names.size() ? std::string(EnumNames<T>::names[i]) : "!";
  } else {
    return fmt::format("{}", value);  // {fmt} prints the shortest double that reads back
  }
}
template <typename A, typename B>
std::string FieldText(const std::pair<A, B>& p) {
  return fmt::format("{}:{}", p.first, p.second);
}
template <typename T>
std::string FieldText(const std::vector<T>& list) {
  std::string out = "[";
  for (const T& item : list) out += (out.size() > 1 ? ", " : "") + FieldText(item);
  return out + "]";
}

// Fields that a reader wants to see even when they are 0.
bool IsEssential(PlanOp op, std::string_view field) {
  switch (op) {
    case PlanOp::kLaunch:
      return field == "segment";
    case PlanOp::kCopy:
      return field == "src" || field == "dst";
    case PlanOp::kSignal:
    case PlanOp::kWait:
      return field == "stream" || field == "event" || field == "value";
    default:
      return false;
  }
}

// " name=value" for each field that is not at its default.
template <typename T>
std::string FieldsText(const T& x) {
  std::string out;
  Fields(
      [&](std::string_view name, const auto& field, const auto& standard) {
        bool shown = !(field == standard);
        if constexpr (std::is_same_v<T, Instruction>) shown |= IsEssential(x.op, name);
        if (shown) out += fmt::format(" {}={}", name, FieldText(field));
      },
      x, T());
  return out;
}

class PlanPrinter {
 public:
  PlanPrinter(const Plan& plan, const PlanPrintOptions& options)
      : plan_(plan), options_(options), types_(no_graph_, PrintOptions()) {}

  std::string Run() {
    out_ = "plan 1" + FieldsText(plan_) + "\n";
    Table("engine", plan_.engines);
    Table("device", plan_.devices);
    Table("domain", plan_.domains);
    for (const PlanLink& link : plan_.links) out_ += "link" + FieldsText(link) + "\n";
    for (size_t i = 0; i < plan_.layouts.size(); ++i) Line("layout", i, plan_.layouts[i]);
    for (size_t i = 0; i < plan_.conversions.size(); ++i) {
      Line("conversion", i, plan_.conversions[i]);
    }
    for (size_t i = 0; i < plan_.functions.size(); ++i) PrintFunction(i);
    if (!options_.report) return std::move(out_);
    for (const NodeReport& node : plan_.report) {
      out_ += fmt::format("node {} {}{}\n", node.node, Quote(node.label), FieldsText(node));
      for (const Bid& bid : node.bids) out_ += "  bid" + FieldsText(bid) + "\n";
    }
    return std::move(out_);
  }

 private:
  template <typename T>
  void Table(const char* word, const std::vector<T>& table) {
    for (size_t i = 0; i < table.size(); ++i) {
      out_ += fmt::format("{} {} {}{}\n", word, i, Quote(table[i].name), FieldsText(table[i]));
    }
  }
  template <typename T>
  void Line(const char* word, size_t index, const T& x, const char* indent = "") {
    out_ += fmt::format("{}{} {}{}\n", indent, word, index, FieldsText(x));
  }

  // A plan's types are static; any other names a table that is not here.
  std::string TypeText(const Type& t) const {
    const bool known = std::all_of(t.dims.begin(), t.dims.end(), [](Dim d) { return d.known(); });
    return known ? types_.TypeText(t) : "!";
  }

  std::string ValueName(const PlanFunction& f, PlanValueId value) const {
    if (value >= f.values.size()) return fmt::format("!{}", value);
    return f.values[value].name.empty() ? std::to_string(value) : f.values[value].name;
  }

  // For people: names beside the numbers. No line may end the comment early.
  std::string Comment(const PlanFunction& f, const Instruction& i) const {
    std::string text;
    if (i.op == PlanOp::kCopy) text = ValueName(f, i.src) + " -> " + ValueName(f, i.dst);
    if (i.op == PlanOp::kLaunch && i.segment < f.segments.size()) {
      for (const PlanValueId v : f.segments[i.segment].outputs) {
        text += (text.empty() ? "makes " : ", ") + ValueName(f, v);
      }
    }
    if (text.empty()) return text;
    text = Quote(text);
    return "  # " + text.substr(1, text.size() - 2);
  }

  void PrintFunction(size_t index) {
    const PlanFunction& f = plan_.functions[index];
    out_ += fmt::format("function {} {}{} {{\n", index, Quote(f.name), FieldsText(f));
    for (size_t i = 0; i < f.streams.size(); ++i) Line("stream", i, f.streams[i], "  ");
    for (size_t i = 0; i < f.events.size(); ++i) Line("event", i, f.events[i], "  ");
    for (size_t i = 0; i < f.arenas.size(); ++i) Line("arena", i, f.arenas[i], "  ");
    for (size_t i = 1; i < f.values.size(); ++i) {
      const PlanValue& v = f.values[i];
      out_ += fmt::format("  value {} {} : {} {}{}\n", i, Quote(v.name), TypeText(v.type),
                          FieldText(v.kind), FieldsText(v));
    }
    for (size_t i = 0; i < f.segments.size(); ++i) {
      Line("segment", i, f.segments[i], "  ");
      for (const PlanOffer& o : f.segments[i].offers) out_ += "    offer" + FieldsText(o) + "\n";
    }
    out_ += "  code:\n";
    for (const Instruction& i : f.code) {
      out_ += fmt::format("    {}{}{}\n", FieldText(i.op), FieldsText(i), Comment(f, i));
    }
    out_ += "}\n";
  }

  const Plan& plan_;
  const PlanPrintOptions options_;
  const Graph no_graph_;
  const Printer types_;
  std::string out_;
};

}  // namespace
}  // namespace text

std::string PrintPlan(const Plan& plan, const PlanPrintOptions& options) {
  return text::PlanPrinter(plan, options).Run();
}

}  // namespace ge
