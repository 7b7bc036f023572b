// Reads parts of a graph given by plugins: texts, types, constants, attributes. Checks everything
// and trusts nothing. INVALID_ARGUMENT says what is wrong. Functions only; any thread.
#pragma once

#include <functional>
#include <string>

#include "ge/base/status.h"
#include "ge/engine/plugin/record.h"
#include "ge/ir/graph.h"

namespace ge {

Status NotLegal(std::string text);  // INVALID_ARGUMENT
// The type of a constant or a state: numbers, all sizes known.
Result<Type> StaticTypeFromAbi(const ge_type& type);
// `dims` has `rank` elements; unknown sizes are symbols of `table`.
Result<Type> TypeFromAbi(int32_t dtype, int32_t rank, const ge_dim* dims, const DimTable& table);
// A copy of the payload.
Result<Const> ConstFromAbi(const ge_type& type, const void* data, uint64_t bytes);
// `add_const` takes a tensor attribute's payload; `functions`: how many the graph has, the absent
// one included.
Result<Attr> AttrFromAbi(const ge_attr& attr, const std::function<ConstId(Const)>& add_const,
                         size_t functions);

}  // namespace ge
