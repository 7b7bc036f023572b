#include <algorithm>

#include "ge/infer/module_infer.h"

namespace ge::infer {
namespace {

Status Contradiction(const Type& declared, const Type& inferred, const DimTable& dims,
                     const std::string& what) {
  return Status(Code::kInvalidGraph, what + " is declared " + TypeToString(declared, dims) +
                                         " but its node makes " + TypeToString(inferred, dims) +
                                         "; correct the declaration or the node");
}

bool IsFresh(Dim d, const std::vector<Dim>& fresh) {
  return std::find(fresh.begin(), fresh.end(), d) != fresh.end();
}

// One tensor, or the dense shape of a sparse one. False when the two contradict.
bool MergeTensor(const Type& declared, const std::vector<Dim>& fresh, Type* inferred) {
  if (IsKnown(declared.dtype) && IsKnown(inferred->dtype) && declared.dtype != inferred->dtype) {
    return false;
  }
  if (!IsKnown(inferred->dtype)) inferred->dtype = declared.dtype;
  if (!declared.ranked) return true;
  if (!inferred->ranked) {
    inferred->ranked = true;
    inferred->dims = declared.dims;
    return true;
  }
  if (declared.dims.size() != inferred->dims.size()) return false;
  for (size_t i = 0; i < declared.dims.size(); ++i) {
    const Dim d = declared.dims[i];
    Dim& x = inferred->dims[i];
    if (d.known() && x.known() && d.value != x.value) return false;
    if (d.known() || (!x.known() && IsFresh(x, fresh))) x = d;
  }
  return true;
}

}  // namespace

bool MergeTensors(const Type& declared, const std::vector<Dim>& fresh, Type* inferred) {
  if (!declared.is_tensor() || !inferred->is_tensor()) return false;
  if (!declared.elems.empty() || !inferred->elems.empty()) return false;
  if (IsKnown(declared.dtype) && IsKnown(inferred->dtype) && declared.dtype != inferred->dtype) {
    return false;
  }
  if (declared.ranked && inferred->ranked) {
    if (declared.dims.size() != inferred->dims.size()) return false;
    for (size_t i = 0; i < declared.dims.size(); ++i) {
      const Dim d = declared.dims[i], x = inferred->dims[i];
      if (d.known() && x.known() && d.value != x.value) return false;
    }
  }
  (void)MergeTensor(declared, fresh, inferred);  // nothing contradicts
  if (inferred->field_names.empty()) inferred->field_names = declared.field_names;
  return true;
}

Result<Type> MergeTypes(const Type& declared, const Type& inferred, const DimTable& dims,
                        const std::vector<Dim>& fresh, const std::string& what) {
  Type merged = inferred;
  // Pairs of a declared type and its counterpart in `merged`; element types nest.
  std::vector<std::pair<const Type*, Type*>> todo{{&declared, &merged}};
  while (!todo.empty()) {
    const auto [d, m] = todo.back();
    todo.pop_back();
    if (d->kind == TypeKind::kUnknown) continue;
    if (m->kind == TypeKind::kUnknown) {
      *m = *d;
      continue;
    }
    if (m->kind == TypeKind::kOptional && d->kind != m->kind && !m->elems.empty()) {
      // What may be absent where a value is declared: the run says whether it is there.
      const Type element = m->elems[0];
      *m = element;
    }
    if (d->kind != m->kind || d->elems.size() != m->elems.size() || !MergeTensor(*d, fresh, m)) {
      return Contradiction(declared, inferred, dims, what);
    }
    if (m->field_names.empty()) m->field_names = d->field_names;
    for (size_t i = 0; i < d->elems.size(); ++i) todo.emplace_back(&d->elems[i], &m->elems[i]);
  }
  return merged;
}

}  // namespace ge::infer
