/* What the C clients of the tests count with: include it once, in the program's one file. */
#ifndef GE_TESTS_E2E_CHECK_H_
#define GE_TESTS_E2E_CHECK_H_

#include <ge/ge.h>
#include <stdio.h>

static int passed, failed;

/* `error` may be NULL; its message is shown where the check fails. */
static void Check(int good, const char* what, int line, const ge_error* error) {
  if (good) {
    ++passed;
    return;
  }
  ++failed;
  printf("FAILED  line %d: %s%s%s\n", line, what, error && error->message[0] ? ": " : "",
         error ? error->message : "");
}

#endif /* GE_TESTS_E2E_CHECK_H_ */
