// Door: a function of the package as users call it. What goes wrong inside is raised at their own
// line: frames of the package are taken out of the traceback. With the GIL held.
#pragma once

#include <nanobind/nanobind.h>

namespace graphengine {

// Takes the frames of the package, and of libraries that it calls, out of the exception that is
// set, and out of those that it came from. Frames of the user's own functions, which the package
// called, stay.
void CutFrames();

void AddDoor(nanobind::module_& m);

}  // namespace graphengine
