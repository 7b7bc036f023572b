// ge explain: for every node who runs it, at what price, who was next, and who refused why.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/ge/command.h"

namespace ge::tool {
namespace {

struct Row {
  std::vector<std::string> cells;
};

void PrintTable(const std::vector<std::string>& head, const std::vector<Row>& rows,
                const std::vector<bool>& right) {
  std::vector<size_t> width;
  for (const std::string& h : head) width.push_back(h.size());
  for (const Row& r : rows) {
    for (size_t i = 0; i < r.cells.size(); ++i) width[i] = std::max(width[i], r.cells[i].size());
  }
  auto line = [&](const std::vector<std::string>& cells) {
    std::string out;
    for (size_t i = 0; i < cells.size(); ++i) {
      out += right[i] ? fmt::format("{:>{}}  ", cells[i], width[i])
                      : fmt::format("{:<{}}  ", cells[i], width[i]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    fmt::print("{}\n", out);
  };
  line(head);
  std::vector<std::string> rule;
  for (size_t w : width) rule.emplace_back(w, '-');
  line(rule);
  for (const Row& r : rows) line(r.cells);
}

std::string Ns(double ns) {
  if (ns < 1e4) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e7) return fmt::format("{:.1f} us", ns / 1e3);
  return fmt::format("{:.2f} ms", ns / 1e6);
}

std::string Refusals(const Plan& plan, const NodeReport& r) {
  std::string out;
  for (const Bid& b : r.bids) {
    if (!b.declined) continue;
    out +=
        (out.empty() ? "" : "; ") + plan.engines[plan.devices[b.device].engine].name + ": " + b.why;
  }
  return out;
}

nlohmann::json BidJson(const Plan& plan, const NodeReport& r, int32_t index) {
  if (index < 0) return nullptr;
  const Bid& b = r.bids[static_cast<size_t>(index)];
  return {{"device", plan.devices[b.device].name},
          {"price_ns", b.price_ns},
          {"source", b.source},
          {"pattern", b.pattern}};
}

void PrintJson(const Compiled& c) {
  nlohmann::json nodes = nlohmann::json::array();
  for (const NodeReport& r : c.plan.report) {
    nlohmann::json refusals = nlohmann::json::array();
    for (const Bid& b : r.bids) {
      if (!b.declined) continue;
      refusals.push_back(
          {{"engine", c.plan.engines[c.plan.devices[b.device].engine].name}, {"why", b.why}});
    }
    nodes.push_back({{"node", r.label},
                     {"op", r.op},
                     {"segment", r.segment},
                     {"chosen", BidJson(c.plan, r, r.chosen)},
                     {"runner_up", BidJson(c.plan, r, r.runner_up)},
                     {"refusals", refusals}});
  }
  nlohmann::json j = {{"nodes", nodes},
                      {"predicted_ns", c.plan.predicted_ns},
                      {"method", c.plan.place_method},
                      {"rejected_offers", c.offers.rejected},
                      {"struck_offers", c.struck_offers}};
  fmt::print("{}\n", j.dump());
}

void PrintText(const Compiled& c) {
  std::vector<Row> rows;
  for (const NodeReport& r : c.plan.report) {
    Row row;
    row.cells = {r.label, r.op, std::to_string(r.segment), "-", "-", "-", "", "-", "", ""};
    if (r.chosen >= 0) {
      const Bid& b = r.bids[static_cast<size_t>(r.chosen)];
      row.cells[3] = c.plan.devices[b.device].name;
      row.cells[4] = Ns(b.price_ns), row.cells[5] = b.source, row.cells[6] = b.pattern;
    }
    if (r.runner_up >= 0) {
      const Bid& b = r.bids[static_cast<size_t>(r.runner_up)];
      row.cells[7] = c.plan.devices[b.device].name;
      row.cells[8] = Ns(b.price_ns);
    }
    row.cells[9] = Refusals(c.plan, r);
    rows.push_back(std::move(row));
  }
  PrintTable({"node", "op", "seg", "device", "price", "source", "pattern", "runner-up", "its price",
              "refused by"},
             rows, {false, false, true, false, true, false, false, false, true, false});
  fmt::print("\npredicted {} by {}; {} segments\n", Ns(c.plan.predicted_ns), c.plan.place_method,
             c.plan.functions[0].segments.size());
  for (const std::string& text : c.offers.rejected) fmt::print("rejected: {}\n", text);
}

Status ExplainModel(const Options& o) {
  GE_ASSIGN_OR_RETURN(auto session, Open(o));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(o.entry));
  GE_ASSIGN_OR_RETURN(std::vector<Tensor> inputs, MakeInputs(*session, *entry, o));
  GE_ASSIGN_OR_RETURN(auto c, session->Compile(o.entry, Views(inputs)));
  if (o.json) {
    PrintJson(*c);
  } else {
    PrintText(*c);
  }
  return {};
}

}  // namespace

int Explain(const Options& o) {
  Status status = ExplainModel(o);
  return status.ok() ? 0 : Fail(status);
}

}  // namespace ge::tool
