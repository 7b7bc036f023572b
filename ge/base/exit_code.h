// ExitCodeOf: runs a tool's main and lets no exception out. It allocates nothing itself, since it
// also handles std::bad_alloc.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

namespace ge {

// `code`; but 3 instead of 0 or 1, with one line on stderr, where printed text did not get out: a
// full disk, a closed descriptor. `error`: errno, 0 = ask by flushing.
inline int AfterPrinting(const char* tool, int code, int error) noexcept {
  if (error == 0 && std::fflush(stdout) != 0) error = errno;
  if (error == 0 && std::ferror(stdout)) error = EIO;
  if (error == 0) return code;
  std::fprintf(stderr, "%s: IO_ERROR: cannot write to standard output: %s\n", tool,
               std::strerror(error));
  return code == 0 || code == 1 ? 3 : code;
}

// The answer of `body`; 3, with one line on stderr, when a library throws or stdout takes no more.
template <typename Body>
int ExitCodeOf(const char* tool, Body body) noexcept {
  try {
    const int code = body();
    return AfterPrinting(tool, code, 0);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: RESOURCE_EXHAUSTED: no memory left\n", tool);
  } catch (const std::length_error&) {
    std::fprintf(stderr, "%s: RESOURCE_EXHAUSTED: a size is beyond what memory holds\n", tool);
  } catch (const std::system_error& e) {
    // fmt::print throws where stdout takes no more.
    if (std::ferror(stdout)) return AfterPrinting(tool, 3, e.code().value());
    std::fprintf(stderr, "%s: INTERNAL: unexpected: %s\n", tool, e.what());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: INTERNAL: unexpected: %s\n", tool, e.what());
  }
  return 3;
}

}  // namespace ge
