// The journal: what the driver calls of a simulator did, for a judge that knows none of its clocks.
// Lines are facts in the order of the calls, each behind the number of its call:
//   simulator DEVICES            a new one; what follows is its own
//   stream S DEVICE              made
//   block B DEVICE BYTES         allocated; device -1: pinned
//   kernel S ACCESS... | NAME    handed over: a kernel or a fill
//   copy S ACCESS... | NAME      likewise; from pageable memory it may read at the call, too
//   host ACCESS... | NAME        what the host was said to load or store
//   record E S, wait S E         on a stream; `wait` of an event that was recorded before
//   told stream S, told event E  the host learnt that their work is over
//   drop S E, drop stream S ...  a wait of a stream, or of the host, that a test dropped
//   idle DEVICE                  likewise of all its work
//   graph G S                    a launch, then of each piece of work that was captured
//   node G S AFTER ACCESS... | NAME   behind those of these numbers in it, from 0; -: behind none
//   joined G S                   and its end
//   free B, end S                a block freed, a stream destroyed; at once
//   found REPORT                 what the simulator says of the call, as Report::text
// An ACCESS is r or w, a block's number or `p` for pageable memory, and its bytes [begin, end): of
// pageable memory addresses. As r:5:0:64.
// Of what the host loads and stores between calls nothing is known but what it says.
#include <stdexcept>

#include "plugins/device/sim/state.h"

namespace ge_engines::device::sim {

void Simulator::State::OpenJournal() {
  if (options.journal.empty()) return;
  journal.reset(std::fopen(options.journal.c_str(), "a"));
  if (!journal) throw std::invalid_argument("journal=" + options.journal + " cannot be written");
  // A process that crashes, or forks, leaves whole lines.
  (void)std::setvbuf(journal.get(), nullptr, _IOLBF, 4096);
  Note("simulator " + std::to_string(devices.size()));
}

void Simulator::State::Note(const std::string& text) {
  if (journal)
    (void)std::fprintf(journal.get(), "%llu %s\n", static_cast<unsigned long long>(calls),
                       text.c_str());
}

void Simulator::State::NoteWork(const std::string& head, const Work& work) {
  if (!journal) return;
  std::string line = head;
  for (const Work::Access& one : work.accesses) {
    line += one.write ? " w:" : " r:";
    line += one.block ? std::to_string(one.block->number) : "p";
    line += ":" + std::to_string(one.begin) + ":" + std::to_string(one.end);
  }
  Note(line + " | " + work.name);
}

Code Simulator::State::Told(const char* what, uint64_t id, const std::function<Code()>& ask) {
  const std::string thing = std::string(what) + " " + std::to_string(id);
  if (told_left > 0 && --told_left == 0) {
    Note("drop " + thing);
    return Code::kOk;
  }
  const Code code = ask();
  if (code == Code::kOk) Note("told " + thing);
  return code;
}

}  // namespace ge_engines::device::sim
