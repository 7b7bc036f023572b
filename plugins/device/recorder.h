// Recorder compiles one segment: units -> the steps of a program. It gives each value a place,
// counts lifetimes, makes packs of constants and tells steps; the vendor's engine adds the kernels.
// A value lies in the layout in which it came or was written, and is converted once where it is
// read in another one, or leaves in another one. Used once, by one thread; throws std::exception,
// and the entry points catch it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/device/layouts.h"
#include "plugins/device/program.h"
#include "plugins/units/pack_book.h"
#include "plugins/units/parser.h"

namespace ge_engines::device {

class Engine;

// Thrown once ge_segment.stop is set.
struct Stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Recorder {
 public:
  Recorder(const Engine& engine, PackBook* book, const Parser& parser, const ge_segment& segment,
           Program* program);
  void Record(const std::vector<Unit>& units);
  // A segment without nodes: it brings one value into another layout.
  void RecordConversion();
  // At fault when Record threw.
  uint32_t current_node() const { return node_; }
  const Parser& parser() const { return p_; }
  uint32_t device() const { return segment_.device; }  // the engine's index
  int number() const;                                  // the driver's of that device

  // ---- for Engine::Record
  // The place of a value that is read plain; of a constant that of a pack with its bytes as they
  // are.
  Ref Read(uint32_t value) { return Read(value, LayoutTag()); }
  // The same in a layout: brings it there, once a segment. Of a constant that of a pack, with zeros
  // for padding.
  Ref Read(uint32_t value, const LayoutTag& tag);
  // The place of a result, which is written once, whole; it lies plain, or in a layout from then
  // on.
  Ref Write(uint32_t value) { return Write(value, LayoutTag()); }
  Ref Write(uint32_t value, const LayoutTag& tag);
  // How a value lies: as it was written, or came; of a value that came in several ways one that is
  // not plain. Constants lie plain.
  LayoutTag TagOf(uint32_t value) const;
  // The layout in which the unit works (LayoutOfWork).
  LayoutTag LayoutOf(const Unit& unit) const;
  // A place for what kernels of this unit hand to each other.
  Ref Between(uint64_t bytes);
  // The segment's workspace, `bytes` of it; each kernel finds it as the one before left it.
  Ref Workspace(uint64_t bytes);
  // A buffer that `fill` writes from the payloads of these constants. The key names everything else
  // that the bytes depend on, but dtypes and dims. `flags`: GE_PACK_*.
  Ref Pack(const Ids& values, const std::string& key, uint64_t bytes, Fill fill, uint32_t flags,
           bool any_bytes = false);
  // The result lies where `value` does, plain. A result that leaves the segment is copied.
  void View(uint32_t result, uint32_t value);
  // Adds a step. Its places are handed to the kernel in this order.
  void Add(std::unique_ptr<Kernel> kernel, std::vector<Use> uses);

 private:
  // A value in a layout.
  struct Rep {
    LayoutTag tag;
    Ref place;
  };
  Layout LayoutIn(const LayoutTag& tag, uint32_t value) const {
    return tag.On(p_.dims(value), p_.size(value));
  }
  uint64_t Bytes(uint32_t value, const LayoutTag& tag = {}) const {
    return LayoutIn(tag, value).bytes();
  }
  LayoutTag Border(uint32_t value, const uint32_t* ids, uint32_t at) const;
  void TakeBorders();
  void Give(uint32_t value, const Rep& rep);
  Ref Constant(uint32_t value, const LayoutTag& tag);
  void Convert(uint32_t value, const Rep& from, const Rep& to);
  void Publish(uint32_t value);
  void ListReports();
  Ref NewStorage(Storage::Kind kind, uint32_t index, uint32_t value, uint64_t bytes);
  void RecordUnit(const Unit& unit);
  void TellSteps(const Unit& unit, size_t first);
  void ListInternals();
  void ListMade();
  void ListConstants(const std::vector<Unit>& units);

  const Engine& e_;
  PackBook& book_;
  const Parser& p_;
  const ge_segment& segment_;
  Program& out_;
  std::unordered_map<uint32_t, Rep> places_;                 // of values made or given so far
  std::map<std::pair<uint32_t, LayoutTag>, Ref> converted_;  // beside these
  std::map<uint32_t, Rep> leaves_;                           // value -> its output
  std::map<std::pair<std::string, Ids>, Ref> packs_;         // by name
  std::set<uint32_t> packed_;                                // constants that fill reads
  struct Made {
    uint32_t value, step;
    Rep rep;
  };
  std::vector<Made> made_;
  uint32_t workspace_ = 0;  // storage
  uint32_t node_ = 0;
};

}  // namespace ge_engines::device
