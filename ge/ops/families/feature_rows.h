// Shared by the rules of ai.onnx.ml: inputs as rows of features, lists of attributes whose
// lengths must agree, names of transforms, class labels. Not their computation. Any thread may
// call.
#pragma once

#include "ge/ops/infer_shapes.h"

namespace ge {

// Features are numbers of these types.
inline constexpr DTypeSet kFeatures =
    Bit(DType::kFloat) | Bit(DType::kDouble) | Bit(DType::kInt64) | Bit(DType::kInt32);

// Columns that an attribute may ask for: more, 64 MB a row, would be a damaged attribute.
inline constexpr int64_t kMostColumnsAsked = int64_t{1} << 24;

// Rows of input 0: N of [N,C], 1 of [C]; a fresh size when its rank is not known.
Result<Dim> RowsOfFeatures(InferContext& context);
// C of input 0, when it is known.
std::optional<int64_t> FeatureCount(const InferContext& context);
// Elements of a list of ints, floats or strings; 0 when the attribute is absent.
size_t ListLength(const Node& n, std::string_view name);
// INVALID_GRAPH unless the list has that length; `as` names the attribute or number deciding it.
Status WantLength(const Node& n, std::string_view name, size_t wanted, std::string_view as);
// The payload of a tensor attribute; null when it is absent.
const Const* TensorAttr(const InferContext& context, std::string_view name);
// Elements of the list `name` or of the tensor `name`_as_tensor; only one of them may be given.
Result<size_t> WeightCount(const InferContext& context, std::string_view name);
// Attribute 'post_transform' as one of its five names.
Status WantPostTransform(const Node& n);
// How many integer labels the attribute holds. Text labels are refused: an importer puts a
// LabelEncoder behind the node instead, since engines know no strings.
Result<size_t> ClassLabels(const Node& n, std::string_view ints);
// Output 0 = [rows] of i64, output 1 = [rows,columns] of f32.
Status SetClasses(InferContext& context, int64_t columns);

// For decomposition rules: the list `name` as a constant of f32 with these dims; 0 when the list
// has another number of entries.
ValueId FloatsConst(Transaction& transaction, FunctionId fn, const Node& n, std::string_view name,
                    const std::vector<int64_t>& dims);

}  // namespace ge
