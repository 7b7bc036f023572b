// Runs whole graphs, or one segment: the engine under test runs some nodes by its offers, ref
// the others, one node at a time. It plans nothing: the caller chooses the offers. One
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ge/ge_mock_host.hpp"

namespace ge::conform {

using Values = std::map<uint32_t, mock::Tensor>;  // by value index
using Group = std::vector<mock::Taken>;           // offers that are one segment

// The graph's inputs, by position, under their value indices; constants too.
Values Given(const mock::Graph& graph, const std::vector<mock::Tensor>& inputs);

// All values of the graph by ref. False with *why, beginning with "ref", if it declines a node.
bool RunRef(mock::Engine& ref, const mock::Graph& graph, const std::vector<mock::Tensor>& inputs,
            Values* values, std::string* why);

// Runs one segment: reads its inputs from *values and adds its outputs, in the plain layout. If a
// call fails, returns false and names the call in *why.
bool RunSegment(mock::Engine& engine, const mock::Graph& graph, const mock::Answer& answer,
                const mock::Exec& exec, Values* values, std::string* why,
                const mock::LaunchOptions& options = {});
// Compiles the group and runs it.
bool RunGroup(mock::Engine& engine, const mock::Graph& graph, const mock::Answer& answer,
              const Group& group, Values* values, std::string* why,
              const mock::LaunchOptions& options = {});

// ref runs all nodes outside of the groups.
bool RunGraph(mock::Engine& engine, mock::Engine& ref, const mock::Graph& graph,
              const mock::Answer& answer, const std::vector<Group>& groups,
              const std::vector<mock::Tensor>& inputs, Values* values, std::string* why);

// Whether the groups, each as one unit, and the other nodes have an order of execution.
bool IsOrdered(const mock::Graph& graph, const mock::Answer& answer,
               const std::vector<Group>& groups);

// The bytes of a tensor in a layout of the answer; the engine itself converts opaque layouts. False
// with *why.
bool ToLayout(mock::Engine& engine, const mock::Graph& graph, const mock::Answer& answer,
              uint32_t value, uint32_t layout, const mock::Tensor& plain,
              std::vector<unsigned char>* out, std::string* why);
bool FromLayout(mock::Engine& engine, const mock::Graph& graph, const mock::Answer& answer,
                uint32_t value, uint32_t layout, const std::vector<unsigned char>& bytes,
                mock::Tensor* out, std::string* why);

// From now on fills the padding of layouts, which nobody may read, with this byte. Process-wide.
void SetPadding(unsigned char byte);

// Indices of the offers of exactly these nodes.
std::vector<uint32_t> OffersOf(const mock::Answer& answer, const std::vector<uint32_t>& nodes);
// A choice of the offer with all values plain; UINT32_MAX if there is none.
uint32_t PlainChoice(const mock::Offer& offer);

}  // namespace ge::conform
