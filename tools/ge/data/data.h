// ge data: a pipeline's batches, what it consists of, its graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ge/batches/batches.h"
#include "tools/ge/command.h"

namespace ge::tool {

class SubcommandList;

struct DataOptions {
  // The pipe, or a model with the entry `data`, becomes common.model.
  Options common;
  std::string pipe, test;
  uint64_t batches = 0;  // of run; 0: those of an epoch
  BatchesOptions rows;   // batch, ahead, rows, first
  bool digest = false;
  bool shuffle = false;   // whatever the pipe says
  bool own_test = false;  // without `test`: the source's own test part, where it has one
  // What pictures become that no step has sized, "3x224x224", and whether channels come last.
  std::string pictures;
  bool channels_last = false;
  bool pack = false;  // pictures and texts stay as they are; the entry data_blobs has them
};

void AddData(SubcommandList* to, int* code);

// A session whose model has the entry `data`.
Result<SignalledSession> OpenPipe(const DataOptions& o);

// What the entry's graph says of where its rows come from.
struct PipeFacts {
  int64_t rows = -1, epoch_rows = -1;  // -1: it has no Order
  bool shuffle = false;
  std::string source, digest;  // of the first operator that reads one
};
Result<PipeFacts> FactsOf(const Session& session, const std::string& entry);

// What the entry's graph says of its columns, by result.
struct ColumnFacts {
  std::string kind;     // "picture" or "text" where the column is one of sizes of such; else empty
  std::string classes;  // a list of JSON, of a column of classes; else empty
};
Result<std::vector<ColumnFacts>> ColumnFactsOf(const Session& session, const std::string& entry);

int DataRun(const DataOptions& o);
int DataInfo(const DataOptions& o);
int DataDump(const DataOptions& o);
int DataShow(const DataOptions& o);
int DataPack(const DataOptions& o);
int DataVerify(const DataOptions& o);

}  // namespace ge::tool
