// REQUIRE aborts if its condition fails. A fuzzer counts that as a finding and keeps the input.
#pragma once

#include <cstdio>
#include <cstdlib>

#define REQUIRE(condition, words)                                                     \
  do {                                                                                \
    if (!(condition)) {                                                               \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, words); \
      std::abort();                                                                   \
    }                                                                                 \
  } while (false)
