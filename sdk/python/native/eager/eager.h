// Eager mode: operators that run at once, each in a session of one node. Sessions are kept by
// operator, attributes, types and ranks, the 1,024 last used ones; a session keeps prepared runs of
// the shapes it had last. With the GIL held; it is released while the engine works.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string_view>

#include "model.h"
#include "one_node.h"
#include "tensor.h"

namespace graphengine {

// The node's output, a Tensor, or a tuple of them where there are several. Throws
// graphengine.Error.
nanobind::object RunEager(const OneNode& node);

// `tensor` with elements of another type, eager or traced.
nanobind::object Cast(nanobind::handle tensor, const Element& element);

// A session for an operator of this domain.
std::shared_ptr<Handle> NewEagerHandle(std::string_view domain);

void AddEager(nanobind::module_& m);

}  // namespace graphengine
