// Subject: the plugin under test, its descriptor, its engines on mock hosts, and the reference
// engine as oracle. A case's process makes one; one thread.
#pragma once

#include <memory>
#include <string>

#include "case.h"
#include "ge/ge_mock_host.hpp"
#include "run_cases.h"

namespace ge::conform {

class Subject {
 public:
  explicit Subject(const Setup& setup) : setup_(setup) {}
  const Setup& setup() const { return setup_; }
  // The plugin's function; nullptr with *why.
  mock::QueryFunction Ask(std::string* why);
  // The descriptor, checked as a host checks it; nullptr with *why. `host` gives the arguments.
  const ge_plugin_desc* Descriptor(mock::Host& host, std::string* why);
  // An engine of ref.so; nullptr with *why.
  mock::Engine* Ref(std::string* why);
  // A number from the seed and `salt` alone.
  uint64_t Seed(uint64_t salt) const;

 private:
  const Setup setup_;
  mock::QueryFunction ask_ = nullptr;
  mock::Host ref_host_;
  std::unique_ptr<mock::Engine> ref_;
};

// "", or why a host refuses a descriptor.
std::string DescriptorFault(const ge_plugin_desc* desc);

struct RigOptions {
  mock::Facts facts;
  mock::Style style;
  mock::EngineOptions engine;  // its text is that of the command line
  bool keep_denormals = false;
};

// Rig: a host and an engine of the plugin on it. Most cases begin with one.
//   Rig rig(subject);
//   if (!rig.ready()) return rig.outcome();
class Rig {
 public:
  explicit Rig(Subject& subject, const RigOptions& options = RigOptions());
  bool ready() const { return ready_; }
  const Outcome& outcome() const { return outcome_; }
  mock::Host& host() { return host_; }
  mock::Engine& engine() { return *engine_; }
  mock::Engine& ref() { return *ref_; }
  Subject& subject() { return subject_; }
  bool is_async() const;
  // The outcome, or FAIL with the host's first complaint.
  Outcome Judged(Outcome outcome);
  // Ends the engine, so that the outcome includes engine_destroy.
  Outcome Closed(Outcome outcome);

 private:
  Subject& subject_;
  mock::Host host_;
  std::unique_ptr<mock::Engine> engine_;
  mock::Engine* ref_ = nullptr;
  bool ready_ = false;
  Outcome outcome_;
};

}  // namespace ge::conform
