// Stacks of what rounds of a Loop or Scan keep for the way back: one scanned result each or, of
// what is not as large in every round, all elements in a row that is carried, and stacks of its
// shapes and of where each begins. One thread.
#pragma once

#include <cstddef>
#include <vector>

#include "passes/grad/kit.h"

namespace ge::grad {

struct Kept {
  Type type;
  size_t param = SIZE_MAX;  // which of the body's; of a residual none
  bool flat = false;        // its size may be another in each round, so it is put in a row
};

// Where one of them is, in the function that reads it.
struct Stack {
  Val all, shapes, starts;  // the last two of a flat one
};

// How many scanned results hold them.
size_t StacksOf(const std::vector<Kept>& kept);
// What rows begin with, and the parameters that carry them.
std::vector<Val> EmptyRows(Fn& fn, const std::vector<Kept>& kept);
std::vector<Val> RowParams(NewFunction& made, const std::vector<Kept>& kept);
// What a round adds: `values` by Kept; longer rows are carried on, the rest is scanned.
void PutOnStacks(Fn& fn, const std::vector<Kept>& kept, const std::vector<Val>& values,
                 const std::vector<Val>& rows, std::vector<Val>* carried,
                 std::vector<Val>* scanned);
// Of the results of a node: where its rows and its stacks begin.
std::vector<Stack> StacksIn(const std::vector<Val>& out, const std::vector<Kept>& kept, size_t row,
                            size_t stack);
// What a Scan that reads them takes: one element a round of each of these, then whole rows.
std::vector<Val> ScannedOf(const std::vector<Kept>& kept, const std::vector<Stack>& stacks);
std::vector<Val> RowsOf(const std::vector<Kept>& kept, const std::vector<Stack>& stacks);

// In the body of such a Scan: parameters for the elements are added when it is made, those for rows
// by Values, which answers what was kept.
class KeptParams {
 public:
  KeptParams(NewFunction& made, const std::vector<Kept>& kept);
  std::vector<Val> Values();

 private:
  NewFunction& made_;
  const std::vector<Kept>& kept_;
  std::vector<Val> values_, shapes_, starts_;
};

}  // namespace ge::grad
