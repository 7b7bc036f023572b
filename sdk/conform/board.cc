#include "board.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <exception>
#include <string>

#include "ge/ge_mock_host.hpp"

namespace ge::conform {
namespace {

Board* g_board = nullptr;  // of this process; signal handlers need it

void Put(char* to, size_t room, const char* text) {
  const size_t n = std::min(std::strlen(text), room - 1);
  std::memcpy(to, text, n);
  to[n] = '\0';
}

// Appends to the fault; safe in a signal handler.
void Add(const char* text) {
  const size_t used = std::strlen(g_board->fault);
  Put(g_board->fault + used, sizeof g_board->fault - used, text);
}
void Add(int64_t number) {
  char digits[24];
  char* p = digits + sizeof digits - 1;
  *p = '\0';
  do {
    *--p = static_cast<char>('0' + number % 10);
  } while ((number /= 10) != 0);
  Add(p);
}

const char* SignalName(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGABRT:
      return "SIGABRT";
    default:
      return "a signal";
  }
}

bool WasWrite(const void* context) {
#if defined(__x86_64__)
  const auto* u = static_cast<const ucontext_t*>(context);
  return (u->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  (void)context;
  return false;
#endif
}

void TellSignal(int signal, siginfo_t* info, void* context) {
  Add(SignalName(signal));
  if (g_board->call[0] != '\0') {
    Add(" in ");
    Add(g_board->call);
  }
  if (signal == SIGSEGV || signal == SIGBUS) {
    const mock::AddressNote note = mock::DescribeAddress(info->si_addr);
    Add(WasWrite(context) ? ": a write" : ": a read");
    if (note.what == nullptr) {
      Add(info->si_addr == nullptr ? " at NULL" : " of memory that the host did not give");
    } else if (note.behind > 0) {
      Add(" ");
      Add(note.behind);
      Add(" bytes behind the pages of ");
      Add(note.what);
    } else if (note.behind < 0) {
      Add(" before the begin of ");
      Add(note.what);
    } else if (note.retired) {
      Add(" of ");
      Add(note.what);
      Add(", which is gone since its call returned");
    } else {
      Add(" of ");
      Add(note.what);
      Add(", which is read-only");
    }
  }
  // Taken again with the default action, which ends the process with this signal.
  struct sigaction act = {};
  act.sa_handler = SIG_DFL;
  sigaction(signal, &act, nullptr);
  raise(signal);
}

void TellTerminate() {
  std::string text = "std::terminate";
  if (const std::exception_ptr e = std::current_exception()) {
    try {
      std::rethrow_exception(e);
    } catch (const std::exception& x) {
      text = std::string("an exception left the plugin's code and found nobody: ") + x.what();
    } catch (...) {
      text = "an exception left the plugin's code and found nobody";
    }
  }
  Add((text + ": ").c_str());
  raise(SIGABRT);
}

void CatchAll() {
  static unsigned char stack[64 << 10];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction act = {};
  act.sa_sigaction = &TellSignal;
  act.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &act, nullptr);
  std::set_terminate(&TellTerminate);
}

// The unwinder of a shared libgcc sets its tables up when the first exception is thrown by it. One
// that a plugin throws by a libgcc of its own, and that meets frames of this program, would find
// them empty and abort.
void WakeUnwinder() {
  try {
    std::rethrow_exception(std::make_exception_ptr(0));
  } catch (int) {
  }
}

Outcome CrashOutcome(const std::string& what) {
  const std::string call = g_board->call[0] != '\0' ? g_board->call : "the case";
  return {Verdict::kCrash, "an exception left " + call + ": " + what};
}

}  // namespace

Board* MapBoard(int fd) {
  void* p = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return p == MAP_FAILED ? nullptr : static_cast<Board*>(p);
}

void UnmapBoard(Board* board) { munmap(board, sizeof(Board)); }

void RunOnBoard(const Case& sample, Subject& subject, Board* board) {
  g_board = board;
  CatchAll();
  WakeUnwinder();
  mock::g_on_call = [](const char* call) { Put(g_board->call, sizeof g_board->call, call); };
  Outcome outcome;
  try {
    outcome = sample.run(subject, sample.argument);
  } catch (const std::exception& e) {
    outcome = CrashOutcome(e.what());
  } catch (...) {
    outcome = CrashOutcome("of no known type");
  }
  Put(board->reason, sizeof board->reason, outcome.reason.c_str());
  board->verdict = static_cast<uint32_t>(outcome.verdict);
  board->done = 1;
}

}  // namespace ge::conform
