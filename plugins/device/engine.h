// Engine: the entry points of an engine whose device works while the host goes on. query prices
// units, compile turns a segment's units into a Program, enqueue queues it on a stream. A vendor's
// engine derives from Engine and brings its driver, the kinds of units that it takes, rates and
// kernels. The host makes it through ge_plugin_desc; one thread at a time calls query and compile,
// any thread does the rest.
//
// Options of every such engine:
//   device=N         which device, counted from 0 (0); N+M: several; all
//   memory=BYTES     limit of the memory taken of each (all that it has)
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "ge/ge_plugin.hpp"
#include "plugins/device/capture.h"
#include "plugins/device/device.h"
#include "plugins/device/layouts.h"
#include "plugins/device/memory.h"
#include "plugins/device/program.h"
#include "plugins/device/rates.h"
#include "plugins/device/recorder.h"
#include "plugins/device/stamps.h"
#include "plugins/units/match.h"

namespace ge_engines::device {

// Thrown while an engine is made: `code` is GE_UNAVAILABLE where the machine lacks something,
// GE_INVALID_ARGUMENT where an option is wrong. The host shows the text.
struct Refusal : std::runtime_error {
  Refusal(ge_rc given, const std::string& text) : std::runtime_error(text), code(given) {}
  ge_rc code;
};

// The whole number of an option; throws Refusal where it is none, or not in [least, most].
uint64_t NumberOption(std::string_view key, std::string_view value, uint64_t least = 0,
                      uint64_t most = UINT64_MAX);
// Throws Refusal where there is an option that is none of these.
void OnlyOptions(ge_str options, std::span<const std::string_view> known);

class Engine {
 public:
  Engine(const ge_create_args& args, std::unique_ptr<Driver> driver);
  virtual ~Engine();
  Engine(const Engine&) = delete;

  // ---- what a vendor's engine brings
  // The kinds whose operators the engine knows; a table of the program's.
  virtual std::span<const UnitKind* const> Kinds() const = 0;
  // Whether it has kernels for a parsed unit; also called for patterns.
  virtual bool Takes(const Unit& unit, const Parser& parser, Why* why) const = 0;
  // Whether a node declined by Takes may still be part of a pattern.
  virtual bool Joins(const Unit&, const Parser&) const { return false; }
  // Whether what it takes in float32 may be float16 and bfloat16 as well.
  virtual bool Halves() const { return false; }
  // Whether the unit rounds its inputs (GE_OFFER_ROUNDS).
  virtual bool Rounds(const Unit&, const Parser&) const { return false; }
  // How fast a device is.
  virtual Rates RatesOf(int device) const = 0;
  virtual Work WorkFor(const Unit& unit, const Parser& parser) const {
    return WorkOf(unit, parser);
  }
  // Adds the kernels of a unit. Throws where it has none.
  virtual void Record(const Unit& unit, Recorder* recorder) const = 0;

  // ---- layouts of images: without any, all values are plain. layouts.h has the rules, and what
  // padding holds.
  // Those, beside plain, in which images may lie in a device's memory; a table of the program's.
  virtual std::span<const LayoutTag> Layouts() const { return {}; }
  // The one of them in which the unit reads and makes images; nullopt where none is better than
  // another. Plain images are converted inside the segment.
  virtual std::optional<LayoutTag> Prefers(const Unit&, const Parser&) const {
    return std::nullopt;
  }
  // Whether a unit that prefers none works in whichever layout its images have. It makes images in
  // the same one; else it reads and makes plain ones.
  virtual bool KeepsLayout(const Unit&, const Parser&) const { return false; }
  // Adds the kernel that brings a value of any type, from a border's too, into another layout.
  // Throws where it has none.
  virtual void RecordConversion(const Conversion& conversion, const Ref& from, const Ref& to,
                                Recorder* recorder) const;

  // ---- for the entry points
  // Finds the devices that the options name; throws Refusal.
  void Start(const std::string& name);
  // Nothing of the engine lives any more but itself: frees what it has of its devices.
  void CloseDevices() { devices_.clear(); }
  const std::string& name() const { return name_; }
  const ge_host_api* host() const { return host_; }
  Driver& driver() const { return *driver_; }
  size_t device_count() const { return devices_.size(); }
  // nullptr: there is none of this index.
  Device* device(uint32_t index) const {
    return index < devices_.size() ? &devices_[index]->device : nullptr;
  }
  OwnStream* own_stream(uint32_t index) const { return &devices_[index]->stream; }
  HostClock* clock(uint32_t index) const { return &devices_[index]->clock; }
  const std::vector<ge_device>& records() const { return records_; }
  const std::vector<ge_link>& links() const { return links_; }
  PackBook& book() const { return book_; }
  // The capture that this thread records.
  ge_rc Keep(std::unique_ptr<ge_capture> capture, ge_err* err);
  std::unique_ptr<ge_capture> Release();  // nullptr: it records none

 private:
  struct Opened {
    Opened(Driver* driver, const std::string& engine, int number, uint32_t index,
           const DeviceFacts& facts, const Rates& rates, uint64_t bytes, const ge_host_api* host)
        : device(driver, engine, number, index, facts, rates, bytes),
          stream(&device),
          clock(&stream, host) {}
    Device device;
    OwnStream stream;
    HostClock clock;
  };
  std::vector<int> Chosen(int count) const;
  void AddPeers();

  const ge_host_api* host_;
  std::string name_;
  std::string device_option_;
  uint64_t memory_ = 0;
  std::unique_ptr<Driver> driver_;
  std::vector<std::unique_ptr<Opened>> devices_;
  std::vector<ge_device> records_;
  std::vector<ge_link> links_;
  mutable PackBook book_;  // safe for any thread by itself
  std::mutex mutex_;       // of captures_
  std::vector<std::pair<std::thread::id, std::unique_ptr<ge_capture>>> captures_;
};

// Makes the plugin's description; `make` may throw.
using MakeEngine = std::unique_ptr<Engine> (*)(const ge_create_args& args);
const ge_plugin_desc* Describe(const char* name, const char* version, MakeEngine make);

// Answers a query; see offers.cc.
ge_rc Offer(const Engine& engine, const ge_graph& graph, const ge_sink& sink);

}  // namespace ge_engines::device
