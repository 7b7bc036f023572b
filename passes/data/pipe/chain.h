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

// What steps have said about a column of pictures, until Pictures is made of it.
struct Framing {
  Val size;             // i64[n, 2] or [1, 2]; none until somebody wants it
  Val box, view, flip;  // inputs of Pictures; none = the whole picture, as it is, unflipped
  int64_t height = 0, width = 0;  // of the result; 0: not known yet
  int64_t shorter = 0;            // of `resize`, until a crop makes the view
  int64_t channels = 0;           // 0: those of the column
  bool resized = false;
};

// One map of places for rotate, shift and zoom, until GridSample is made of it.
struct Placing {
  Val radians, right, down, zoom;  // f32[n, 1] each; none = nothing of the kind
  bool any() const { return radians || right || zoom; }
};

struct ChainColumn {
  std::string name;
  size_t of = 0;  // of the source
  Val value;      // none until somebody wants it
  Framing frame = {};
  bool framed = false;  // some step on pictures was applied
  Placing placing = {};
  double range = 0;  // the greatest value of a pixel in `value`; 0: no pixels
  // The value of numbers as the source has them; a later step gives another `value`.
  Val read = {};
  std::vector<size_t> parts = {};  // columns of the source beside each other in `read`; none: `of`
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

// The form of pictures where no step says it: of 0 = there is none.
struct PictureForm {
  int64_t channels = 0, height = 0, width = 0;
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
  std::string model;     // of these tokens; empty: bytes
  bool replace = false;  // a row with a damaged picture is replaced by the next good one
  PictureForm form;
  bool pack = false;           // pictures and texts stay as they are: their sizes are the columns
  bool channels_last = false;  // pictures become [n, height, width, channels] at the end
  Val position, row;           // row: none until the first column is read
  std::vector<ChainColumn> columns;
  std::vector<std::string> used;  // names of draws, so that no two are the same

  // The rows that an epoch has: training leaves out what fills no last batch.
  int64_t EpochRows() const;
  Val Row();
  // The column's value, read from the source where that has not been done.
  Val ValueOf(ChainColumn* column);
  const Column& ColumnOf(const ChainColumn& column) const { return source->columns()[column.of]; }
  Val AsLearned(const Column& c, Val value);
  // Whether the column is one of pictures or texts, as the source has them.
  bool IsBlob(const ChainColumn& column) const;
  // Whether it is numbers, and as the source has them: no step but select has changed it.
  bool IsAsRead(const ChainColumn& column) const;
  // Attributes that name a column of the source.
  Attrs SourceOf(const ChainColumn& column) const;
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
void ApplyBad(const Step& step, Chain* chain);
void ApplyRandomResizedCrop(const Step& step, Chain* chain);
void ApplyRandomCrop(const Step& step, Chain* chain);
void ApplyResize(const Step& step, Chain* chain);
void ApplyCenterCrop(const Step& step, Chain* chain);
void ApplyFlip(const Step& step, Chain* chain);
void ApplyGray(const Step& step, Chain* chain);
void ApplyRotate(const Step& step, Chain* chain);
void ApplyShift(const Step& step, Chain* chain);
void ApplyZoom(const Step& step, Chain* chain);
void ApplyBrightness(const Step& step, Chain* chain);
void ApplyContrast(const Step& step, Chain* chain);
void ApplyNoise(const Step& step, Chain* chain);

// Where a column's pending steps become nodes.
Val MakePictures(Chain* chain, ChainColumn* column);  // of Framing
void MakePlacing(Chain* chain, ChainColumn* column);  // of Placing

}  // namespace ge::data
