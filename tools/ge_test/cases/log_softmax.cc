#include <algorithm>

#include "tools/ge_test/random/selections.h"

namespace ge::test {
namespace {

bool PlainLogSoftmax(const RandomCase& c, HostTensor* out) {
  return PlainAlong(c, -1, out, [](const std::vector<double>& row, size_t k) {
    double sum = 0;  // of one alone it is 1, and its logarithm 0 as it should be
    const double most = *std::max_element(row.begin(), row.end());
    for (double v : row) sum += std::exp(v - most);
    return row[k] - most - std::log(sum);
  });
}

}  // namespace

GE_RANDOM_OP(log_softmax) = {"LogSoftmax", AlongCase, 4e-6, Error::kOfInputs, PlainLogSoftmax};

}  // namespace ge::test
