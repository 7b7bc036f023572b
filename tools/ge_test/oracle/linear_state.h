// The state of linear attention, a matrix [keys, values], by the formulas of its four rules: what
// independent answers of com.microsoft's operators with such a state are written with.
#pragma once

#include <vector>

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

struct PlainTokenOfState {
  std::vector<double> query, key, value;
  std::vector<double> keep;  // what the state is multiplied by: nothing, one number, one a key's
  bool delta = false;
  double beta = 1;
};

class PlainStateMatrix {
 public:
  PlainStateMatrix(size_t keys, size_t values) : rows_(keys, std::vector<double>(values)) {}
  double& At(size_t i, size_t j) { return rows_[i][j]; }

  void Add(const PlainTokenOfState& token) {
    auto next = rows_;
    for (size_t j = 0; j < token.value.size(); ++j) {
      double told = 0;
      for (size_t k = 0; k < rows_.size(); ++k) told += Kept(token, k, j) * token.key[k];
      const double update = token.delta ? token.beta * (token.value[j] - told) : token.value[j];
      for (size_t i = 0; i < rows_.size(); ++i) {
        next[i][j] = Kept(token, i, j) + token.key[i] * update;
      }
    }
    rows_ = next;
  }

  double Answer(const std::vector<double>& query, size_t j) const {
    double sum = 0;
    for (size_t i = 0; i < rows_.size(); ++i) sum += query[i] * rows_[i][j];
    return sum;
  }

 private:
  double Kept(const PlainTokenOfState& token, size_t i, size_t j) const {
    const double keep = token.keep.empty() ? 1 : token.keep[token.keep.size() == 1 ? 0 : i];
    return keep * rows_[i][j];
  }

  std::vector<std::vector<double>> rows_;
};

}  // namespace ge::test
