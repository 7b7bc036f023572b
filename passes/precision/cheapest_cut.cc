#include "passes/precision/cheapest_cut.h"

#include <algorithm>

// Boost 1.74 keeps an edge iterator in an optional that GCC 12 takes for uninitialised.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

namespace ge {
namespace {

constexpr double kNever = 1e15;  // stands for infinity, which max-flow cannot add

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
using Backward = boost::property<boost::edge_reverse_t, Traits::edge_descriptor>;
using Residual = boost::property<boost::edge_residual_capacity_t, double, Backward>;
using Edge = boost::property<boost::edge_capacity_t, double, Residual>;
using Predecessor = boost::property<boost::vertex_predecessor_t, Traits::edge_descriptor>;
using Distance = boost::property<boost::vertex_distance_t, long, Predecessor>;
using Vertex = boost::property<boost::vertex_color_t, boost::default_color_type, Distance>;
using Flow = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Vertex, Edge>;

void AddEdge(Flow* flow, size_t from, size_t to, double capacity) {
  const auto forth = boost::add_edge(from, to, *flow).first;
  const auto back = boost::add_edge(to, from, *flow).first;
  boost::put(boost::edge_capacity, *flow, forth, std::min(capacity, kNever));
  boost::put(boost::edge_capacity, *flow, back, 0.0);
  boost::put(boost::edge_reverse, *flow, forth, back);
  boost::put(boost::edge_reverse, *flow, back, forth);
}

}  // namespace

CheapestCut::Item CheapestCut::Add(double kept_price, double changed_price) {
  kept_.push_back(std::min(kept_price, kNever));
  changed_.push_back(std::min(changed_price, kNever));
  return kept_.size() - 1;
}

std::vector<bool> CheapestCut::Solve() const {
  // Vertices 0 and 1 are source (kept) and sink (changed): an edge from what is kept to what
  // changes is paid.
  Flow flow(kept_.size() + 2);
  for (size_t i = 0; i < kept_.size(); ++i) {
    if (changed_[i] > kept_[i]) AddEdge(&flow, 0, i + 2, changed_[i] - kept_[i]);
    if (kept_[i] > changed_[i]) AddEdge(&flow, i + 2, 1, kept_[i] - changed_[i]);
  }
  for (const Pair& p : pairs_) AddEdge(&flow, p.kept + 2, p.changed + 2, p.price);
  boost::boykov_kolmogorov_max_flow(flow, Traits::vertex_descriptor(0),
                                    Traits::vertex_descriptor(1));
  const auto color = boost::get(boost::vertex_color, flow);
  std::vector<bool> changed(kept_.size());
  for (size_t i = 0; i < changed.size(); ++i) {
    changed[i] = boost::get(color, i + 2) == boost::white_color;  // of the sink's tree
  }
  return changed;
}

}  // namespace ge
