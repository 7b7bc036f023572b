// Stacks of the values that rounds of a Loop or Scan keep for the backward pass. A value of equal
// size in all rounds is a scanned result. Otherwise a carried row holds all elements, beside stacks
// of the shapes and of the start of each. One thread.
#pragma once

#include <cstddef>
#include <vector>

#include "passes/grad/kit.h"

namespace ge::grad {

struct Kept {
  Type type;
  size_t param = SIZE_MAX;  // index of the body's; none for a residual
  bool flat = false;        // its size may change between rounds, so it goes into a row
};

// The place of one kept value, in the function reading it.
struct Stack {
  Val all, shapes, starts;  // the last two of a flat one
};

// The number of scanned results holding them.
size_t StacksOf(const std::vector<Kept>& kept);
// The initial rows, and the parameters carrying them.
std::vector<Val> EmptyRows(Fn& fn, const std::vector<Kept>& kept);
std::vector<Val> RowParams(NewFunction& made, const std::vector<Kept>& kept);
// Adds a round's `values`, by Kept; longer rows are carried on, the rest is scanned.
void PutOnStacks(Fn& fn, const std::vector<Kept>& kept, const std::vector<Val>& values,
                 const std::vector<Val>& rows, std::vector<Val>* carried,
                 std::vector<Val>* scanned);
// Among the results of a node: the beginning of its rows and its stacks.
std::vector<Stack> StacksIn(const std::vector<Val>& out, const std::vector<Kept>& kept, size_t row,
                            size_t stack);
// The inputs of a Scan reading them: one element a round of each of these, then whole rows.
std::vector<Val> ScannedOf(const std::vector<Kept>& kept, const std::vector<Stack>& stacks);
std::vector<Val> RowsOf(const std::vector<Kept>& kept, const std::vector<Stack>& stacks);

// In the body of such a Scan: adds parameters for the elements when it is made; Values adds those
// for rows and answers the kept values.
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
