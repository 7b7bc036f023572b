// Sessions with options in Python's words. With the GIL held.
#pragma once

#include <memory>
#include <string>

#include "keywords.h"
#include "model.h"

namespace graphengine {

// A session with the options that the words say: all but those of the caller's own, which it has
// taken before. `plugin`: one more than they name. Throws graphengine.Error, or TypeError for a
// word that there is not.
std::shared_ptr<Handle> MakeHandle(Keywords& words, const std::string& plugin = {});

}  // namespace graphengine
