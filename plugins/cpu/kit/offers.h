// Offers of a CPU engine for a graph: each unit at its price, in the layouts that its images
// may have at a segment's border. Inside a segment, images keep the convolutions' preferred
// layout, and units behind keep it, too. So a growable offer takes images in that layout. If it
// is not plain, the unit also gets a second offer, alone and plain. One object serves one
// query.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/engine.h"

namespace ge_engines::cpu {

class Offers {
 public:
  Offers(const Engine& engine, const Parser& parser, const ge_sink& sink)
      : e_(engine), p_(parser), sink_(sink), natural_(parser.graph().n_value) {}

  // Offers the unit: one offer of `nodes`, and maybe a second one that is not growable.
  ge_rc Add(const Unit& unit, const Ids& nodes);
  // Announces the units of one node, in the order of the graph, taken or not: later units ask for
  // the layout of its result.
  void Announce(const Unit& unit);
  // Offers conversions between the layouts that were offered.
  ge_rc AddConversions();

 private:
  // Whether a tensor has a layout to choose: several channels of several pixels.
  bool Image(uint32_t value) const;
  LayoutTag LayoutInside(const Unit& unit) const;  // of what it reads
  LayoutTag LayoutBehind(const Unit& unit) const;  // of what it makes
  double ReorderNs(uint32_t value) const;
  double ReorderInNs(const Unit& unit) const;
  uint32_t IdOf(const LayoutTag& form, size_t rank);
  // Appends a choice: layout `in` for images read, `out` for the result and operands met there.
  void Choose(const Unit& unit, const LayoutTag& in, const LayoutTag& out, double ns);
  // Offers a loop, not growable, between images in other engines' layouts.
  ge_rc AddMeetings(const Unit& unit, const Ids& nodes, const Price& price);
  ge_rc Send(const Ids& nodes, const Price& price, double ns, double saving, bool growable);

  const Engine& e_;
  const Parser& p_;
  const ge_sink& sink_;
  std::vector<LayoutTag> natural_;  // by value: its form inside a segment of ours
  std::map<std::pair<LayoutTag, size_t>, uint32_t> ids_;
  struct Choice {
    std::vector<ge_value_layout> values;
    double ns;
  };
  std::vector<Choice> choices_;  // of the offer that is being made
  bool rounds_ = false;          // what Engine::Rounds says of it
};

}  // namespace ge_engines::cpu
