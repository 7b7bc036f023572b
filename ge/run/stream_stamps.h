// StreamStamps: a frame's places for times that streams take around its launches and copies, where
// their engine has such slots. It decides nothing and keeps no samples. Owned by the frame, used by
// its run; a run allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ge/base/status.h"
#include "ge/ge_plugin.h"
#include "ge/run/program.h"

namespace ge {

class StreamStamps {
 public:
  // Null where no engine of the plan's streams has stamps, or gives places for them.
  static std::unique_ptr<StreamStamps> Make(const Plan& plan, const ProgramParts& parts);
  ~StreamStamps();
  StreamStamps(const StreamStamps&) = delete;
  StreamStamps& operator=(const StreamStamps&) = delete;

  // Around the call of an instruction of `stream`. A stamp that cannot be taken takes that of the
  // whole run with it: the work itself says what is wrong.
  void Before(uint32_t instruction, ge_stream* stream) { Take(instruction, stream, 0); }
  void After(uint32_t instruction, ge_stream* stream) { Take(instruction, stream, 1); }

  // By instruction, of the run that has just ended well; empty where a stamp was not taken.
  std::span<const RunClock::Span> Read();

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Places {  // of one device
    uint32_t engine = 0;
    ge_stamps* stamps = nullptr;
    uint32_t count = 0;
    std::vector<uint64_t> ns;
  };
  StreamStamps(const ProgramParts& parts, size_t instructions)
      : parts_(parts), place_(instructions), span_(instructions) {}
  void Take(uint32_t instruction, ge_stream* stream, uint32_t which);

  struct Place {
    uint32_t device = kNone;  // of places_
    uint32_t first = 0;       // of its two stamps
  };
  const ProgramParts& parts_;
  std::vector<Places> places_;
  std::vector<Place> place_;  // by instruction
  std::vector<RunClock::Span> span_;
  bool whole_ = true;  // of the run so far
};

}  // namespace ge
