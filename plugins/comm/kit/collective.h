// Collective: one node of domain comm, as it is run. It reads the node once; for a launch it packs
// what lies apart, names the transfers, and unpacks what came. Immutable once made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/comm/kit/transport.h"

namespace ge_engines::comm {

// Why the engine does not run a node: a GE_WHY_* and a sentence; why 0 = it runs it.
struct Refused {
  uint32_t why = 0;
  std::string text;
};

bool IsCollective(const ge_node& node);
// group: that of the node, where it is run.
Refused WhyNot(const ge_graph* graph, const ge_node& node, Transport* transport, Group* group);
// What a rank sends, of which the price follows.
uint64_t MovedBytes(const ge_graph* graph, const ge_node& node, const Group& group);
// "AllReduce 'name'", with the name of a result where the node has none.
std::string NameOf(const ge_graph* graph, const ge_node& node);

// Addresses of a launch, by position.
struct Places {
  std::vector<const char*> in;
  std::vector<char*> out;
  char* room = nullptr;
};

class Collective {
 public:
  // segment: of one node that WhyNot lets pass.
  Collective(const ge_segment& segment, const Group& group, bool in_place);
  uint64_t workspace() const { return workspace_; }
  uint64_t moved() const { return moved_; }
  // Of what all ranks have in common: the operator, its attributes, the sizes of the whole.
  uint64_t digest() const { return digest_; }
  // Pairs (output position, input position) that may share a place.
  const std::vector<uint32_t>& aliases() const { return alias_; }
  size_t transfers() const { return packs_.size() + tensors_.size() + 1; }  // at most

  void Pack(const Places& at, std::vector<Transfer>* transfers) const;
  void Unpack(const Places& at) const;

 private:
  // An input of the launch, or a constant, which the host keeps as long as the exec.
  struct Source {
    uint32_t in = 0;  // position in the launch
    const char* constant = nullptr;
    const char* At(const Places& at) const { return constant != nullptr ? constant : at.in[in]; }
  };
  struct Tensor {
    Source from;
    uint32_t out = 0;  // position in the launch; UINT32_MAX: nobody reads it
    int32_t dtype = 0;
    uint64_t bytes = 0;
    uint64_t room = UINT64_MAX;  // in the workspace; UINT64_MAX: not needed
    uint64_t result = 0;         // of a packed one
    bool packed = false;         // with others, else from in to out or to the room
  };
  // One dim of a tensor in shares: `outer` times, by share a run of bytes.
  struct Parts {
    uint64_t outer = 1;
    std::vector<uint64_t> run;
    std::vector<uint64_t> bytes;  // of each share: outer runs
    void Read(const ge_type& type, int64_t dim, int64_t whole, size_t shares);
    bool apart() const { return outer > 1; }  // its shares are not one behind the other
    uint64_t all() const;
    void Take(const char* tensor, char* blocks) const;
    void Put(const char* blocks, char* tensor) const;
  };

  static Source SourceOf(const ge_segment& s, uint32_t value);
  uint64_t Room(uint64_t bytes);
  void ReadTensors(const ge_segment& s, const ge_node& n);
  void ReadParts(const ge_segment& s, const ge_node& n);

  Transfer::Kind kind_ = Transfer::Kind::kReduce;
  Reduction reduction_ = Reduction::kSum;
  const Group group_;
  const bool in_place_;
  uint64_t digest_ = 0, workspace_ = 0, moved_ = 0;
  std::vector<uint32_t> alias_;
  // kReduce
  std::vector<Tensor> tensors_;
  struct PackOf {
    int32_t dtype;
    uint64_t room, result, bytes;  // in the workspace
  };
  std::vector<PackOf> packs_;  // one a dtype
  Source source_;              // of the others
  // Of the input, of the output; their blocks in the workspace, where apart.
  Parts from_, to_;
  uint64_t from_room_ = UINT64_MAX, to_room_ = UINT64_MAX;
  int32_t dtype_ = 0;
  bool read_ = true;  // somebody reads the output
};

}  // namespace ge_engines::comm
