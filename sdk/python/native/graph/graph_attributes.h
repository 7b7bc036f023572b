// GraphAttributes: a dict of attributes as ge_attr records. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ge/ge_plugin.h"

namespace graphengine {

// Owns what the records point at. Values: numbers, str, bytes, a dtype, lists of one of them,
// arrays; None counts as not given. Throws graphengine.Error for others.
class GraphAttributes {
 public:
  // `op` names the operator in messages.
  GraphAttributes(std::string_view op, nanobind::dict attributes);
  GraphAttributes(const GraphAttributes&) = delete;
  GraphAttributes& operator=(const GraphAttributes&) = delete;
  const ge_attr* data() const { return attrs_.data(); }
  uint32_t size() const { return static_cast<uint32_t>(attrs_.size()); }

 private:
  bool SetOne(nanobind::handle value, ge_attr* attr);
  bool SetList(nanobind::handle value, ge_attr* attr);
  bool SetTensor(nanobind::handle value, ge_attr* attr);
  ge_str Keep(std::string text);

  std::vector<ge_attr> attrs_;
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> floats_;
  std::deque<std::vector<ge_str>> strings_;
  std::vector<nanobind::object> tensors_;
};

}  // namespace graphengine
