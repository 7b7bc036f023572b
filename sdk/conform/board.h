// What the process of one case and its parent share: how far it is, and its verdict. The parent
// reads it also when the process has crashed, hangs or was ended by the plugin. Of fixed size, in
// memory that both have mapped; written by the process of the case alone.
#pragma once

#include <cstdint>

#include "case.h"

namespace ge::conform {

struct Board {
  char call[32];     // the ABI call that is going on, empty = none
  char fault[400];   // what a signal or an escaped exception was, empty = none
  uint32_t done;     // 1 when verdict and reason are there
  uint32_t verdict;  // a Verdict
  char reason[4000];
};

// The board behind a file descriptor; nullptr where it cannot be mapped.
Board* MapBoard(int fd);
void UnmapBoard(Board* board);

// Runs the case and writes its verdict. Signals, exceptions and std::terminate leave their mark on
// the board first. For a process of its own: it changes signal handlers and never changes them
// back.
void RunOnBoard(const Case& sample, Subject& subject, Board* board);

}  // namespace ge::conform
