// Chain: the function `data` while the steps of a pipe build it: where rows come from, and the
// columns as they are now. One thread, for one run of the pass.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "passes/data/pipe/pipe.h"
#include "passes/data/sources/source.h"
#include "passes/kit/fn.h"

namespace ge::data {

using passes::Attrs;
using passes::Fn;
using passes::Val;

struct ChainColumn {
  std::string name;
  size_t of = 0;  // of the source
  Val value;      // none until somebody wants it
};

// Of an element of a row: (x - mean) * scale.
struct Standard {
  std::vector<double> mean, scale;
};

// What the training data have taught, for the test data: by the column's name.
struct Learned {
  std::map<std::string, Standard> standards;
  std::map<std::string, std::vector<std::string>> classes;
};

struct Chain {
  Chain(Fn* f, std::shared_ptr<const Source> s)
      : fn(f), source(std::move(s)), rows(source->rows()) {}
  Fn* fn;
  std::shared_ptr<const Source> source;
  int64_t rows;               // of the source, those kept of it, or windows of its tokens
  std::vector<int64_t> kept;  // rows of the source, by `where`; empty: all
  Learned* learned = nullptr;
  OpenOptions options;  // for steps that read
  uint64_t seed = 0;
  int64_t batch = 1;
  bool test = false;     // random steps are left out, or centred
  bool shuffle = false;  // rows are permuted in each epoch
  bool tokens = false;   // the only column is one of texts, which a step takes as tokens
  Val position, row;     // row: none until the first column is read
  std::vector<ChainColumn> columns;
  std::vector<std::string> used;  // names of draws, so that no two are the same

  // The rows that an epoch has: training leaves out what fills no last batch.
  int64_t EpochRows() const;
  Val Row();
  // The column's value, read from the source where that has not been done.
  Val ValueOf(ChainColumn* column);
  const Column& ColumnOf(const ChainColumn& column) const { return source->columns()[column.of]; }
  Val AsLearned(const Column& c, Val value);
  // f32[n, count] in [0, 1): a name of its own for each step.
  Val Draw(const std::string& step, int64_t count);
};

// By its name; refuses the step with the columns that there are.
ChainColumn* FindColumn(const Step& step, Chain* chain, const std::string& name);

// Applies one step; refuses an unknown one by name with those that there are.
void Apply(const Step& step, Chain* chain);

// The steps, a function each: found by name.
void ApplyShuffle(const Step& step, Chain* chain);
void ApplySelect(const Step& step, Chain* chain);
void ApplyNormalise(const Step& step, Chain* chain);
void ApplyWhere(const Step& step, Chain* chain);
void ApplyStandardise(const Step& step, Chain* chain);
void ApplyTokens(const Step& step, Chain* chain);
void ApplyPack(const Step& step, Chain* chain);

}  // namespace ge::data
