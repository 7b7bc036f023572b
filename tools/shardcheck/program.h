// RankProgram: a random net, how it is trained and how that lies over a mesh, kept in parts so that
// one that fails can be made smaller. draw.h draws them. One thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace ge::shardcheck {

using Dims = std::vector<int64_t>;
int64_t CountOf(const Dims& dims);

struct NetValue {
  std::string name;
  Dims dims;
};
// Of samples by the first dim; float64, or whole numbers in [0, below).
struct NetInput {
  std::string name;
  Dims dims;
  int64_t below = 0;
};
// w1, w2 ... become states, k1 ... stay constants, s1 ... are settings of operators.
struct NetConstant {
  std::string name, dtype;
  Dims dims;
  std::string elements;
};
struct NetNode {
  std::string op;
  std::vector<std::string> in;  // "_": left out
  std::vector<NetValue> out;
  std::string attrs;  // "{axis=1}"
};
// What the loss sums: a scalar of a value.
struct NetTerm {
  NetValue value;
  int form = 0;  // below kTermForms
};
inline constexpr int kTermForms = 4;

struct ProgramPin {
  std::string name, dims;  // "w1", "data,-"
  bool legal = true;       // every rank has a share
};

struct RankProgram {
  std::vector<NetInput> inputs;
  std::vector<NetConstant> constants;
  std::vector<NetNode> nodes;
  std::vector<NetTerm> terms;
  std::string loss = "none";         // of train; else of the first term's value
  int64_t classes = 0;               // of softmax-ce
  std::vector<std::string> options;  // of train, "clip=0.5"
  std::vector<std::string> axes;     // of the mesh, "data=2"
  std::vector<int64_t> sizes;        // of these axes
  std::string states;                // the axis that has them in shares
  std::vector<ProgramPin> pins;
  int64_t batch = 0;
  bool symbolic = false;  // the text leaves the batch open
  int steps = 2;
  uint64_t seed = 0;  // of what the inputs hold
  // Of a program that was read from a file: its text and options of train, and `inputs` are all.
  std::string said_text, said_train, plugin;

  int64_t ranks() const { return CountOf(sizes); }
  std::string Text() const;  // with what the loss reads, alone
  std::set<std::string> Live() const;
  std::string Train() const;
  std::string Mesh() const;
  std::string Parallel(int64_t rank) const;  // behind Train
  // All inputs of a step, with the label.
  std::vector<NetInput> Given() const;
};

// As comments ahead of the text what it lacks, so that a file has all: "# mesh data=2", "# batch
// 4",
// "# steps 2", "# train optimizer=adam;lr=0.1", "# states data", "# pin w1=data,-" (with " refused"
// behind it where a rank has no share), "# input x f64 4,3", "# input ids i64 4,2 below 9",
// "# plugin shards", of tests/plugins/ops, "# seed 1".
std::string FileTextOf(const RankProgram& program);
// Empty, or what is wrong with it.
std::string ReadProgram(const std::string& text, RankProgram* program);

}  // namespace ge::shardcheck
