// ExitCodeOf: a tool's main, from which nothing is thrown. It allocates nothing itself: want of
// memory is what it is there for.
#pragma once

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>

namespace ge {

// What `body` answers; 3, with one line on stderr, when a library throws.
template <typename Body>
int ExitCodeOf(const char* tool, Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: RESOURCE_EXHAUSTED: no memory left\n", tool);
  } catch (const std::length_error&) {
    std::fprintf(stderr, "%s: RESOURCE_EXHAUSTED: a size is beyond what memory holds\n", tool);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: INTERNAL: unexpected: %s\n", tool, e.what());
  }
  return 3;
}

}  // namespace ge
