// Transport: what carries tensors between ranks, under the engines of collectives. An engine brings
// one; Queue calls it, one caller at a time, except where a function says otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ge/ge_plugin.h"
#include "plugins/comm/kit/group.h"

namespace ge_engines::comm {

enum class Reduction : uint8_t { kSum, kMax, kMin };

// What the ranks of a group do with one block of memory each. Bytes by place in the group, blocks
// one behind the other.
struct Transfer {
  enum class Kind : uint8_t {
    kReduce,    // `bytes` at from -> as many at to, reduced over the group
    kGather,    // its own block at from -> all blocks at to
    kScatter,   // all blocks at from -> its own one at to, reduced over the group
    kExchange,  // a block for each rank at from -> a block of each rank at to
  };
  Kind kind = Kind::kReduce;
  Reduction reduction = Reduction::kSum;
  int32_t dtype = 0;  // of what is reduced
  const void* from = nullptr;
  void* to = nullptr;
  uint64_t bytes = 0;                               // kReduce
  const std::vector<uint64_t>* sent = nullptr;      // kScatter, kExchange
  const std::vector<uint64_t>* received = nullptr;  // kGather, kExchange
};

// Why work did not end well. code GE_OK: it did.
struct Failure {
  ge_rc code = GE_OK;
  uint32_t scope = GE_SCOPE_EXEC;
  bool busy = false;  // the transport may touch the launch's buffers for as long as it lives
  std::string text;
};

// The transfers of one node, launch after launch.
class Round {
 public:
  Round(const Group& group, std::string node) : group_(group), node_(std::move(node)) {}
  virtual ~Round() = default;
  Round(const Round&) = delete;
  const Group& group() const { return group_; }
  const std::string& node() const { return node_; }  // for people

 private:
  const Group group_;
  const std::string node_;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // ---- while nodes are asked about and compiled: one caller of one engine at a time
  // Why this process does not meet others in the group; empty where it does. It sets the place of
  // a rank that the node does not state. May wait for the others, once a mesh.
  virtual std::string WhyNot(Group* group) = 0;
  virtual bool Reduces(int32_t dtype) const = 0;
  virtual uint64_t MostBytes() const = 0;  // of a transfer's blocks together, but kReduce
  // Whether kReduce takes a `from` that is `to`.
  virtual bool InPlace() const = 0;
  virtual std::unique_ptr<Round> NewRound(const Group& group, const std::string& node) = 0;
  struct Price {
    double latency_ns = 0, ns_per_byte = 0;  // of kReduce; others move half as much
    bool measured = false;                   // between these ranks, now
  };
  virtual Price PriceOf(const Group& group) const = 0;

  // ---- while runs go on, by Queue
  // Whether nobody of the group has to be asked any more if all run the same node: true from the
  // second call for a digest on.
  virtual bool Known(const Round& round, uint64_t digest) = 0;
  // Begins transfers, which stay there until Test says done.
  virtual Failure Begin(Round* round, std::span<const Transfer> transfers) = 0;
  virtual Failure Test(Round* round, bool* done) = 0;
  // Its own run was ended while it waited: so the others cannot go on either.
  virtual Failure GiveUp(Round* round) = 0;
  // Called all the time; what it does beside transfers, it does now and then.
  virtual void Tend() {}
  // How often Tend is wanted while there is nothing to transfer; 0 = not at all.
  virtual uint64_t TendEveryNs() const { return 0; }
};

}  // namespace ge_engines::comm
