// Exceptions of Python that leave a kernel or a rule, and so go through calls of the engine, which
// knows codes and texts alone: the text has the number under which the exception waits. With the
// GIL held.
#pragma once

#include <string>
#include <string_view>

namespace graphengine {

// Keeps the exception that Python has set, and clears it. Answers a text for ge_err: its number,
// its type and what it says. The latest 64 are kept; nobody may ask for some.
std::string KeepException();

// Throws the exception that `text` has the number of, if it is one that waits. It waits no longer.
void ThrowKept(std::string_view text);

}  // namespace graphengine
