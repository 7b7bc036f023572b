#include <fmt/format.h>

#include "ge/ops/control.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// The length of the scanned axes, which all inputs share.
Result<Dim> Length(InferContext& c, size_t states, size_t scans) {
  const std::vector<int64_t>& axes = AttrInts(c.node(), "scan_input_axes");
  if (!axes.empty() && axes.size() != scans) {
    return Bad(c.node(), fmt::format("attribute 'scan_input_axes' has {} entries, wanted {}",
                                     axes.size(), scans));
  }
  Dim length;
  bool known = false;
  for (size_t i = 0; i < scans; ++i) {
    const Type& t = c.input_type(states + i);
    if (!t.is_tensor()) return Bad(c.node(), fmt::format("scan input {} is no tensor", i));
    if (!t.ranked) continue;
    const auto axis = NormalizeAxis(axes.empty() ? 0 : axes[i], static_cast<int64_t>(t.rank()),
                                    "an entry of 'scan_input_axes'");
    if (!axis.ok()) return Bad(c.node(), axis.status().message());
    const Dim d = t.dims[static_cast<size_t>(*axis)];
    if (known) {
      GE_ASSIGN_OR_RETURN(length, SameDim(c, length, d, "lengths of the scanned axes"));
    } else {
      length = d;
    }
    known = true;
  }
  return known ? length : c.FreshDim("scan", false);
}

// Body: (state..., element..., captures...) -> (state..., scanned...).
Status InferScan(InferContext& c) {
  GE_ASSIGN_OR_RETURN(const Function* body, CalleeOf(c, "body"));
  GE_ASSIGN_OR_RETURN(const size_t captures, CaptureCount(c, 0));
  const size_t inputs = c.input_count() - captures;
  const int64_t scans = AttrInt(c.node(), "num_scan_inputs");
  if (scans < 1 || scans > static_cast<int64_t>(inputs)) {
    return Bad(c.node(),
               fmt::format("attribute 'num_scan_inputs' is {}, wanted 1 to {}", scans, inputs));
  }
  const size_t states = inputs - static_cast<size_t>(scans);
  if (states > c.output_count()) {
    return Bad(c.node(), fmt::format("{} states and {} outputs, wanted an output for each state",
                                     states, c.output_count()));
  }
  GE_RETURN_IF_ERROR(CheckCallee(c, *body, c.input_count(), c.output_count()));
  GE_ASSIGN_OR_RETURN(const Dim length, Length(c, states, static_cast<size_t>(scans)));
  const std::vector<int64_t>& axes = AttrInts(c.node(), "scan_output_axes");
  if (!axes.empty() && axes.size() != c.output_count() - states) {
    return Bad(c.node(), fmt::format("attribute 'scan_output_axes' has {} entries, wanted {}",
                                     axes.size(), c.output_count() - states));
  }
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (!c.has_output(i)) continue;
    const Type& result = body->value(body->results[i]).type;
    if (i < states) {
      GE_ASSIGN_OR_RETURN(
          Type t, Unify(c, c.input_type(i), result,
                        fmt::format("state {} before and after the body '{}'", i, body->name)));
      c.SetOutput(i, std::move(t));
      continue;
    }
    const int64_t axis = axes.empty() ? 0 : axes[i - states];
    GE_RETURN_IF_ERROR(SetStacked(c, i, result, axis, length));
  }
  return {};
}

OpDef ScanRecord() {
  OpDef op{"", "Scan", 25, {}, {}, {}, InferScan, PerOutput<0>};
  op.inputs = {{"initial_state_and_scan_inputs", kAnyType, "", Arity::kVariadic}};
  op.outputs = {{"final_state_and_scan_outputs", kAnyType, "", Arity::kVariadic}};
  op.attrs = {{"num_scan_inputs", AttrKind::kInt, true},   {"scan_input_axes", AttrKind::kInts},
              {"scan_input_directions", AttrKind::kInts},  {"scan_output_axes", AttrKind::kInts},
              {"scan_output_directions", AttrKind::kInts}, {kCapturesAttr, AttrKind::kInt, 0}};
  return op;
}

}  // namespace

// A function over the elements of some tensors, states carried along.
GE_OP(scan) = ScanRecord();

}  // namespace ge
