// Runs whole graphs: some nodes by offers of the engine under test, the rest by ref, one node at a
// time. Also the smaller steps of which that is made. Not a planner: who takes what is the caller's
// choice. One thread.
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

// All values of the graph by ref. False with *why, which begins with "ref" (it declines a node).
bool RunRef(mock::Engine& ref, const mock::Graph& graph, const std::vector<mock::Tensor>& inputs,
            Values* values, std::string* why);

// One segment: reads its inputs from *values and adds its outputs, in the plain layout.
// False with *why, which names the call that failed.
bool RunSegment(mock::Engine& engine, const mock::Graph& graph, const mock::Answer& answer,
                const mock::Exec& exec, Values* values, std::string* why,
                const mock::LaunchOptions& options = {});
// Compiles it first.
bool RunGroup(mock::Engine& engine, const mock::Graph& graph, const mock::Answer& answer,
              const Group& group, Values* values, std::string* why,
              const mock::LaunchOptions& options = {});

// What no group takes is run by ref.
bool RunGraph(mock::Engine& engine, mock::Engine& ref, const mock::Graph& graph,
              const mock::Answer& answer, const std::vector<Group>& groups,
              const std::vector<mock::Tensor>& inputs, Values* values, std::string* why);

// Whether the groups, each one unit, and the other nodes can be run one after the other.
bool IsOrdered(const mock::Graph& graph, const mock::Answer& answer,
               const std::vector<Group>& groups);

// The bytes of a tensor in a layout of the answer, by the engine's own conversion where nobody else
// can know it; false with *why.
bool ToLayout(mock::Engine& engine, const mock::Graph& graph, const mock::Answer& answer,
              uint32_t value, uint32_t layout, const mock::Tensor& plain,
              std::vector<unsigned char>* out, std::string* why);
bool FromLayout(mock::Engine& engine, const mock::Graph& graph, const mock::Answer& answer,
                uint32_t value, uint32_t layout, const std::vector<unsigned char>& bytes,
                mock::Tensor* out, std::string* why);

// What stands in the padding of layouts from now on, where nobody may look. Of the process.
void SetPadding(unsigned char byte);

// Indices of the offers that take exactly these nodes.
std::vector<uint32_t> OffersOf(const mock::Answer& answer, const std::vector<uint32_t>& nodes);
// A choice of the offer in which all values are plain; UINT32_MAX where there is none.
uint32_t PlainChoice(const mock::Offer& offer);

}  // namespace ge::conform
