// Elements of tensors as doubles, and back: rounded once, to the nearest, ties to even. Pure.
#pragma once

#include <string>
#include <vector>

#include "plugins/ascend/api/acl.h"

namespace ascend_check {

namespace acl = ge_engines::ascend::acl;

using Dims = std::vector<int64_t>;
using Values = std::vector<double>;

size_t SizeOf(acl::DataType type);
std::string NameOf(acl::DataType type);
std::vector<unsigned char> Encode(const Values& values, acl::DataType type);
Values Decode(const std::vector<unsigned char>& bytes, acl::DataType type);
// The value as the type holds it.
double Rounded(double x, acl::DataType type);
// How far a result of the type may lie from the formula, by its size. Not a chip's promise: wide
// enough for another order of sums, too narrow for a wrong function.
double Bound(acl::DataType type);

int64_t Count(const Dims& dims);
Dims DenseStrides(const Dims& dims);
// n values that every type of ours holds: multiples of 1/8 from -2 to 2, none twice in a row.
Values Some(int64_t n, int64_t seed = 0);
// The same, of at least 1/8.
Values SomePositive(int64_t n, int64_t seed = 0);
std::string TextOf(double x);
std::string TextOf(const Dims& dims);

}  // namespace ascend_check
