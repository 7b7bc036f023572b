// From a compiled plan to boxes, edges, words and prices.
#include "tools/ge/plot/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tools/ge/command.h"

namespace ge::tool {
namespace {

std::string Us(double ns) {
  double us = ns / 1e3;
  if (us >= 1e4) return fmt::format("{:.1f} ms", us / 1e3);
  return fmt::format("{:.{}f} us", us, us < 10 ? 2 : us < 100 ? 1 : 0);
}

std::string Bytes(int64_t bytes) {
  auto b = static_cast<double>(bytes);
  if (b < 1e3) return fmt::format("{} B", bytes);
  if (b < 1e6) return fmt::format("{:.{}f} KB", b / 1e3, b < 1e5 ? 1 : 0);
  return fmt::format("{:.{}f} MB", b / 1e6, b < 1e8 ? 1 : 0);
}

std::string Plural(size_t n, const char* one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

class PictureMaker {
 public:
  explicit PictureMaker(const Compiled& c)
      : c_(c), plan_(c.plan), f_(c.graph.fn(c.fn)), pf_(c.plan.functions[0]) {}

  Picture Make() {
    IndexOffers();
    IndexTransfers();
    AddBoxes();
    AddValues();
    AddSegments();
    AddDevices();
    out_.title = plan_.graph_name.empty() ? f_.name : plan_.graph_name;
    out_.predicted_ns = plan_.predicted_ns;
    out_.summary =
        fmt::format("{} predicted by {}: {} in {}", Us(plan_.predicted_ns), plan_.place_method,
                    Plural(f_.nodes.size(), "node"), Plural(n_placed_, "segment"));
    return std::move(out_);
  }

 private:
  void IndexOffers() {
    for (const NodeReport& r : plan_.reports()) report_[r.node] = &r;
    for (const PlanSegment& seg : pf_.segments) {
      n_placed_ += seg.conversion < 0;
      for (const PlanOffer& o : seg.offers) {
        for (NodeId n : o.nodes) offer_of_[n] = &o;
        costliest_ = std::max(costliest_, o.marginal_ns);
      }
    }
  }

  // Which instruction makes a plan value out of another one.
  void IndexTransfers() {
    for (size_t i = 0; i < pf_.code.size(); ++i) {
      const Instruction& ins = pf_.code[i];
      if (ins.op == PlanOp::kCopy) made_by_[ins.dst] = i;
      if (ins.op == PlanOp::kLaunch && pf_.segments[ins.segment].conversion >= 0) {
        made_by_[pf_.segments[ins.segment].outputs[0]] = i;
      }
    }
  }

  void AddBoxes() {
    producer_.assign(f_.values.size(), -1);
    for (ValueId p : f_.params) {
      producer_[p] = static_cast<int32_t>(out_.boxes.size());
      AddEnd(PictureBox::Kind::kInput, p);
    }
    std::set<SegmentId> begun;
    for (size_t i = 0; i < f_.nodes.size(); ++i) {
      for (ValueId v : f_.nodes[i].outputs) {
        if (v) producer_[v] = static_cast<int32_t>(out_.boxes.size());
      }
      AddNode(f_.nodes[i], *report_.at(f_.nodes[i].id));
      auto segment = static_cast<SegmentId>(out_.boxes.back().segment);
      out_.boxes.back().first_of_segment = begun.insert(segment).second;
    }
    first_output_ = static_cast<uint32_t>(out_.boxes.size());
    for (ValueId r : f_.results) AddEnd(PictureBox::Kind::kOutput, r);
  }

  std::string ValueName(ValueId v) const {
    return f_.values[v].name.empty() ? fmt::format("v{}", v) : f_.values[v].name;
  }
  std::string TypeText(ValueId v) const { return TypeToString(f_.values[v].type, c_.graph.dims); }

  void AddEnd(PictureBox::Kind kind, ValueId v) {
    PictureBox box;
    box.kind = kind;
    box.name = ValueName(v);
    box.op = TypeText(v);
    box.tooltip = fmt::format("{} {}: {}", kind == PictureBox::Kind::kInput ? "input" : "output",
                              box.name, box.op);
    out_.boxes.push_back(std::move(box));
  }

  void AddNode(const Node& node, const NodeReport& r) {
    PictureBox box;
    box.name = r.label;
    box.op = r.op;
    box.segment = static_cast<int32_t>(r.segment);
    box.device = pf_.segments[r.segment].device;
    const PlanOffer* offer = offer_of_.at(node.id);
    std::string taken;
    if (r.chosen >= 0) {
      const Bid& bid = r.bids[static_cast<size_t>(r.chosen)];
      box.price_ns = bid.price_ns;
      if (bid.factor != 1) taken = fmt::format(", corrected x{:.3g}", bid.factor);
      if (!bid.pattern.empty()) taken += ", taken together as " + bid.pattern;
      box.tooltip =
          fmt::format("{}\n{} in segment {} on {}\nprice {:.0f} ns ({}){}", r.label, r.op,
                      r.segment, plan_.devices[box.device].name, bid.price_ns, bid.source, taken);
    }
    box.tooltip += fmt::format("\nof which {:.0f} ns inside its segment", offer->marginal_ns);
    bool head = offer->nodes.front() == node.id;
    box.price = head ? Us(box.price_ns) : "fused";
    box.bar = head && costliest_ > 0 ? offer->marginal_ns / costliest_ : 0;
    if (r.runner_up >= 0) {
      const Bid& bid = r.bids[static_cast<size_t>(r.runner_up)];
      box.tooltip += fmt::format("\nrunner-up {}: {:.0f} ns ({})", plan_.devices[bid.device].name,
                                 bid.price_ns, bid.source);
    }
    std::string refusals = Refusals(plan_, r);
    if (!refusals.empty()) box.tooltip += "\nrefused by " + refusals;
    for (ValueId v : node.outputs) {
      if (v) box.tooltip += fmt::format("\nmakes {}: {}", ValueName(v), TypeText(v));
    }
    out_.boxes.push_back(std::move(box));
  }

  void AddValues() {
    std::map<ValueId, size_t> index;
    auto value = [&](ValueId v) -> PictureValue& {
      auto [it, fresh] = index.emplace(v, out_.values.size());
      if (fresh) {
        PictureValue made;
        made.name = ValueName(v);
        made.bytes = ByteCount(f_.values[v].type).value_or(0);
        made.bytes_label = Bytes(made.bytes);
        made.from = static_cast<uint32_t>(producer_[v]);
        out_.values.push_back(std::move(made));
      }
      return out_.values[it->second];
    };
    for (size_t i = 0; i < f_.nodes.size(); ++i) {
      auto box = static_cast<uint32_t>(f_.params.size() + i);
      std::set<ValueId> seen;
      for (ValueId v : f_.nodes[i].inputs) {
        if (v == 0 || producer_[v] < 0 || !seen.insert(v).second) continue;
        PictureValue& from = value(v);
        if (from.from >= f_.params.size()) {
          NodeId maker = f_.nodes[from.from - f_.params.size()].id;
          from.fused = offer_of_.at(maker) == offer_of_.at(f_.nodes[i].id);
        }
        from.readers.push_back(
            Reader(v, from, box, ReadBy(out_.boxes[box].segment, v), out_.boxes[box].segment));
      }
    }
    for (size_t i = 0; i < f_.results.size(); ++i) {
      ValueId v = f_.results[i];
      if (producer_[v] < 0) continue;  // a constant
      PictureValue& from = value(v);
      from.readers.push_back(
          Reader(v, from, first_output_ + static_cast<uint32_t>(i), pf_.outputs[i], -1));
    }
  }

  // The plan value by which a segment reads a graph value; 0 when it makes it itself.
  PlanValueId ReadBy(int32_t s, ValueId v) const {
    for (PlanValueId p : pf_.segments[static_cast<size_t>(s)].inputs) {
      if (pf_.values[p].graph_value == v) return p;
    }
    return 0;
  }

  PictureReader Reader(ValueId v, const PictureValue& from, uint32_t to, PlanValueId read,
                       int32_t segment) {
    PictureReader out;
    out.to = to;
    int32_t made_in = out_.boxes[from.from].segment;
    out.tooltip = fmt::format("{}: {}, {} bytes\nfrom {} to {}", from.name, TypeText(v), from.bytes,
                              out_.boxes[from.from].name, out_.boxes[to].name);
    double copy = 0, layout = 0;
    size_t steps = 0, fresh = 0;
    for (auto it = made_by_.find(read); it != made_by_.end(); it = made_by_.find(read)) {
      const Instruction& ins = pf_.code[it->second];
      bool is_copy = ins.op == PlanOp::kCopy;
      ++steps;
      if (paid_.insert(it->second).second) {
        ++fresh;
        (is_copy ? copy : layout) += ins.predicted_ns;
      }
      out.tooltip +=
          fmt::format("\n{}: {:.0f} ns", is_copy ? "copy" : "layout change", ins.predicted_ns);
      read = is_copy ? ins.src : pf_.segments[ins.segment].inputs[0];
    }
    out.crossing = steps > 0 || (made_in >= 0 && segment >= 0 && made_in != segment);
    out.boundary_ns = copy + layout;
    if (!out.crossing) return out;
    out.tooltip += made_in >= 0 && segment >= 0
                       ? fmt::format("\nfrom segment {} to segment {}", made_in, segment)
                       : "";
    if (steps == 0) {
      out.label = "0 ns";
      out.tooltip += "\nboundary 0 ns: same memory, same layout";
    } else if (fresh == 0) {
      out.label = "shared";
      out.tooltip += "\nbrought over once, for an earlier reader too";
    } else {
      if (copy > 0 || layout == 0) out.label = "copy " + Us(copy);
      if (layout > 0) out.label += (out.label.empty() ? "" : " + ") + ("layout " + Us(layout));
    }
    return out;
  }

  void AddSegments() {
    for (size_t s = 0; s < pf_.segments.size(); ++s) {
      const PlanSegment& seg = pf_.segments[s];
      PictureSegment out;
      out.device = seg.device;
      out.price_ns = seg.predicted_ns;
      const std::string& device = plan_.devices[seg.device].name;
      out.title = fmt::format("segment {} · {} · {}", s, device, Us(seg.predicted_ns));
      double marginal = 0, setup = 0, launch = 0;
      for (const PlanOffer& o : seg.offers) {
        marginal += o.marginal_ns;
        setup = std::max(setup, o.setup_ns);
        launch = std::max(launch, o.launch_ns);
      }
      out.tooltip = fmt::format(
          "segment {} on {}\n{:.0f} ns = setup {:.0f} + launch {:.0f} + {} {:.0f} - savings of "
          "inner values {:.0f}",
          s, device, seg.predicted_ns, setup, launch, Plural(seg.offers.size(), "offer"), marginal,
          setup + launch + marginal - seg.predicted_ns);
      if (seg.conversion >= 0) out.title.clear();  // drawn on its edge
      out_.segments.push_back(std::move(out));
    }
  }

  void AddDevices() {
    struct Sum {
      size_t nodes = 0, segments = 0, conversions = 0;
      double ns = 0;
    };
    std::map<DeviceId, Sum> sums;
    for (const PlanSegment& seg : pf_.segments) {
      Sum& sum = sums[seg.device];
      ++(seg.conversion < 0 ? sum.segments : sum.conversions);
      sum.ns += seg.predicted_ns;
      for (const PlanOffer& o : seg.offers) sum.nodes += o.nodes.size();
    }
    for (const auto& [device, sum] : sums) {
      std::string text =
          fmt::format("{} in {}", Plural(sum.nodes, "node"), Plural(sum.segments, "segment"));
      if (sum.conversions) text += ", " + Plural(sum.conversions, "layout change");
      out_.devices.push_back({device, plan_.devices[device].name, text + ", " + Us(sum.ns)});
    }
  }

  const Compiled& c_;
  const Plan& plan_;
  const Function& f_;
  const PlanFunction& pf_;
  Picture out_;
  std::map<NodeId, const NodeReport*> report_;
  std::map<NodeId, const PlanOffer*> offer_of_;
  std::map<PlanValueId, size_t> made_by_;  // copies and layout changes, by what they write
  std::set<size_t> paid_;                  // instructions whose price an edge shows already
  std::vector<int32_t> producer_;          // by ValueId: box, or -1
  double costliest_ = 0;
  size_t n_placed_ = 0;
  uint32_t first_output_ = 0;
};

}  // namespace

Picture MakePicture(const Compiled& compiled) { return PictureMaker(compiled).Make(); }

}  // namespace ge::tool
