// Board: shared by the process of one case and its parent. It holds the case's progress and its
// verdict. The parent reads it even if the process has crashed, hangs or was ended by the plugin.
// It has a fixed size and lies in memory mapped by both; the case's process alone writes it.
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

// Maps the board behind a file descriptor; nullptr if that fails.
Board* MapBoard(int fd);
void UnmapBoard(Board* board);

// Runs the case and writes its verdict. Signals, exceptions and std::terminate mark the
// board first. Call it in a process of its own: it changes signal handlers and never
// restores them.
void RunOnBoard(const Case& sample, Subject& subject, Board* board);

}  // namespace ge::conform
