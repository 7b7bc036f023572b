// ge explain: for every node who runs it, at what price, who was next, and who refused why.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "ge/base/replace_file.h"
#include "ge/compile/compiled/device_needs.h"
#include "ge/compile/explain/plan_explain.h"
#include "tools/ge/command.h"
#include "tools/ge/plot/plot.h"
#include "tools/ge/tables.h"

namespace ge::tool {
namespace {

// Names are any bytes; what is no UTF-8 is replaced.
void PrintJson(const nlohmann::json& j) {
  fmt::print("{}\n", j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

// Of devices that state a limit.
void PrintMemory(const Compiled& c) {
  for (const DeviceNeed& need : DeviceNeeds(c)) {
    if (need.limit == 0) continue;
    fmt::print("memory {}: {} bytes of arena, {} of packs, {} of states; its limit is {}\n",
               need.memory, need.arena, need.packs, need.states, need.limit);
  }
}

// Links that are not as their engine tells them, and waits for devices.
void PrintLinks(const Compiled& c) {
  const Plan& plan = c.plan;
  for (const LinkPrice& l : c.links) {
    if (l.source == "told" && l.wait_source == "none") continue;
    fmt::print("link {} to {}{}: {} + {:.3g} GB/s, {}", plan.domains[l.from].name,
               plan.domains[l.to].name, l.pinned ? ", page-locked" : "", Ns(l.now.latency_ns),
               l.now.bytes_per_ns, l.source);
    if (l.source != "told") {
      fmt::print(" (told {} + {:.3g} GB/s)", Ns(l.told.latency_ns), l.told.bytes_per_ns);
    }
    if (l.wait_source != "none") {
      fmt::print("; the host's wait {}, {}", Ns(l.wait_ns), l.wait_source);
    }
    fmt::print("\n");
  }
}

void PrintText(const Compiled& c, const Options& o) {
  std::vector<Row> rows;
  const std::map<NodeId, std::string> layouts = LayoutsTaken(c.plan);
  for (const NodeReport& r : c.plan.reports()) {
    Row row;
    row.cells = {
        ShortLabel(r), r.op, std::to_string(r.segment), "-", "-", "-", "", "", "-", "", ""};
    if (r.chosen >= 0) {
      const Bid& b = r.bids[static_cast<size_t>(r.chosen)];
      row.cells[3] = c.plan.devices[b.device].name;
      row.cells[4] = Ns(b.price_ns);
      row.cells[5] = b.source;
      row.cells[7] = ShortPattern(b.pattern);
      if (b.factor != 1) row.cells[6] = fmt::format("x{:.2f}", b.factor);
    }
    // Nobody bid for a plan that is shaped like another one.
    const auto& segments = c.plan.functions[0].segments;
    if (r.chosen < 0 && r.segment < segments.size()) {
      row.cells[3] = c.plan.devices[segments[r.segment].device].name;
    }
    // As a pin names the place: plain is what most are in.
    const auto layout = layouts.find(r.node);
    if (layout != layouts.end() && layout->second != "plain") row.cells[3] += "@" + layout->second;
    if (r.runner_up >= 0) {
      const Bid& b = r.bids[static_cast<size_t>(r.runner_up)];
      row.cells[8] = c.plan.devices[b.device].name;
      row.cells[9] = Ns(b.price_ns);
    }
    row.cells[10] = Refusals(c.plan, r);
    rows.push_back(std::move(row));
  }
  PrintTable({"node", "op", "seg", "device", "price", "source", "factor", "pattern", "runner-up",
              "its price", "refused by"},
             rows, {false, false, true, false, true, false, true, false, false, true, false});
  std::set<std::string> notes;  // the parts of one node have one label and one note
  for (const NodeReport& r : c.plan.reports()) {
    const std::string note = fmt::format("{}: {}", ShortLabel(r), r.decomposition);
    if (r.decomposition.empty() || !notes.insert(note).second) continue;
    fmt::print("{}{}\n", notes.size() == 1 ? "\n" : "", note);
  }
  const size_t turns = CountConversions(c.plan);
  const std::string shape_class = ShapeClassName(c);
  fmt::print("\npredicted {} by {}; {} segments{}{}{}\n", Ns(c.plan.predicted_ns),
             c.plan.place_method, c.plan.functions[0].segments.size() - turns,
             turns > 0 ? fmt::format(", {} changes of layout", turns) : "",
             shape_class.empty() ? "" : fmt::format("; class {}", shape_class),
             c.recalled ? "; a rehearsal on this machine found it the fastest" : "");
  if (const size_t widened = CountWidened(c); widened > 0) {
    fmt::print(
        "{} nodes compute in float32 what the model has in 16-bit floats, which is cheaper "
        "and rounds less; --skip widen-halves keeps them\n",
        widened);
  }
  if (o.precision != "f32") {
    fmt::print("precision {}: {}\n", o.precision, RoundedText(CountRounded(c)));
  }
  PrintMemory(c);
  PrintLinks(c);
  for (const std::string& text : c.offers.rejected) fmt::print("rejected: {}\n", text);
}

Status Plot(const Compiled& c, const std::string& path) {
  Picture picture = MakePicture(c);
  GE_ASSIGN_OR_RETURN(std::string svg, PictureSvg(picture));
  GE_RETURN_IF_ERROR(WriteFile(path, svg));
  fmt::print(stderr, "note: drew {}: {}\n", path, picture.summary);
  return {};
}

// Of a model whose control flow or sizes the data decide: one run, then each piece that it planned.
Status ExplainByRun(Session* session, const Entry& entry, const std::vector<Tensor>& inputs,
                    const Options& o) {
  if (!o.plot.empty()) {
    return Status(Code::kUnsupported,
                  "the model is planned piece by piece, so there is no one picture of it; leave "
                  "--plot out and read the tables");
  }
  std::vector<Tensor> outputs(session->graph().fn(entry.fn).results.size());
  GE_RETURN_IF_ERROR(RunAnyValues(session, o.entry, inputs, false, &outputs));
  const auto pieces = session->Pieces();
  size_t number = 0;
  if (o.json) PrintJson(ExplainPieces(pieces));
  for (const auto& c : pieces) {
    ++number;
    if (o.json) continue;
    fmt::print("{}piece {}, of function '{}'\n\n", number == 1 ? "" : "\n", number,
               c->plan.functions[0].name);
    PrintText(*c, o);
  }
  if (!o.json) {
    fmt::print("\n{} planned in one run on these inputs\n",
               number == 1 ? "one piece was" : fmt::format("{} pieces were", number));
  }
  return {};
}

Status ExplainModel(const Options& o) {
  if (!o.plot.empty() && (o.plot.size() < 5 || o.plot.substr(o.plot.size() - 4) != ".svg")) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--plot '{}' does not end with .svg; SVG is the only form of the "
                              "picture",
                              o.plot));
  }
  if (!o.plot.empty()) GE_RETURN_IF_ERROR(CheckReplaceable(o.plot));
  GE_ASSIGN_OR_RETURN(auto session, Open(o));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  GE_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, MakeInputs(*session, *entry, o));
  auto compiled = session->Compile(o.entry, Views(inputs));
  if (!compiled.ok() && session->RunsInPieces(o.entry)) {
    return ExplainByRun(session.get(), *entry, inputs, o);
  }
  if (!compiled.ok()) return compiled.status();
  const auto c = *compiled;
  NoteMeasured(o, *c);
  if (!o.plot.empty()) GE_RETURN_IF_ERROR(Plot(*c, o.plot));
  if (o.json) {
    PrintJson(ExplainPlan(*c));
  } else {
    PrintText(*c, o);
  }
  return {};
}

}  // namespace

std::string Refusals(const Plan& plan, const NodeReport& report) {
  std::string out;
  for (const Bid& b : report.bids) {
    if (!b.declined) continue;
    out +=
        (out.empty() ? "" : "; ") + plan.engines[plan.devices[b.device].engine].name + ": " + b.why;
  }
  return out;
}

int Explain(const Options& options) {
  Status status = ExplainModel(options);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
