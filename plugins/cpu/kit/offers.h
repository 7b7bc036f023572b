// What a CPU engine offers for a graph: each unit at its price, in the layouts in which its images
// may cross the border of a segment. Inside one, images keep the form that convolutions like, and
// what follows them keeps it, too; so a growable offer takes its images in the form that they have
// there, and where that is not the plain one the unit is also offered alone, plain. One object
// serves one query.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "plugins/cpu/kit/engine.h"

namespace ge_engines::cpu {

// The form that a layout of the host's is for tensors of `rank` axes; nullopt when it is none.
std::optional<LayoutTag> LayoutTagOf(const ge_layout& layout, size_t rank);

class Offers {
 public:
  Offers(const Engine& engine, const Parser& parser, const ge_sink& sink)
      : e_(engine), p_(parser), sink_(sink), natural_(parser.graph().n_value) {}

  // The unit as one offer of `nodes`, and maybe one for it alone.
  ge_rc Add(const Unit& unit, const Ids& nodes);
  // Units of one node are announced in the order of the graph, taken or not, so that the forms of
  // what they make are known to the next ones.
  void Announce(const Unit& unit);
  // Changes between the forms that were offered.
  ge_rc AddConversions();

 private:
  // A tensor whose layout is worth a word: several channels of several pixels.
  bool Image(uint32_t value) const;
  LayoutTag LayoutInside(const Unit& unit) const;  // of what it reads
  LayoutTag LayoutBehind(const Unit& unit) const;  // of what it makes
  double ReorderNs(uint32_t value) const;
  double ReorderInNs(const Unit& unit) const;
  uint32_t IdOf(const LayoutTag& form, size_t rank);
  // Appends a choice: images read as `in`, made and met as `out`.
  void Choose(const Unit& unit, const LayoutTag& in, const LayoutTag& out, double ns);
  // Loops alone, between images in the forms of other engines.
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
