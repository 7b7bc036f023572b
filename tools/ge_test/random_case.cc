#include "tools/ge_test/random_case.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "frontend/text/text.h"

namespace ge::test {
namespace {

bool IsUnsigned(DType t) { return (Bit(t) & kUnsignedInts) != 0; }

std::shared_ptr<HostTensor> New(DType dtype, const Dims& dims) {
  auto t = MakeTensor(dtype, dims);
  // Shapes of random cases are tiny; the sweep reports an empty tensor as a wrong case.
  return t.ok() ? std::make_shared<HostTensor>(*std::move(t)) : std::make_shared<HostTensor>();
}

}  // namespace

std::shared_ptr<HostTensor> CaseMaker::Numbers(DType dtype, const Dims& dims, double lo,
                                               double hi) {
  auto t = New(dtype, dims);
  const int64_t n = t->count();
  for (int64_t i = 0; i < n; ++i) {
    if (dtype == DType::kBool) {
      SetIntElement(t.get(), i, r.Int(0, 1));
    } else if (IsFloat(dtype)) {
      // Representable as f32, so that a run in f64 sees the same numbers.
      SetElement(t.get(), i, static_cast<float>(r.Between(lo, hi)));
    } else {
      const auto least = static_cast<int64_t>(IsUnsigned(dtype) ? std::max(lo, 0.0) : lo);
      SetIntElement(t.get(), i, r.Int(least, std::max(least, static_cast<int64_t>(hi))));
    }
  }
  return t;
}

std::shared_ptr<HostTensor> CaseMaker::Ints(DType dtype, const Dims& dims,
                                            const std::vector<int64_t>& values) {
  auto t = New(dtype, dims);
  for (size_t i = 0; i < values.size(); ++i)
    SetIntElement(t.get(), static_cast<int64_t>(i), values[i]);
  return t;
}

std::shared_ptr<HostTensor> CaseMaker::Floats(DType dtype, const Dims& dims,
                                              const std::vector<double>& values) {
  auto t = New(dtype, dims);
  for (size_t i = 0; i < values.size(); ++i)
    SetElement(t.get(), static_cast<int64_t>(i), values[i]);
  return t;
}

int64_t CaseMaker::Size(int64_t most, int64_t large_most) {
  if (!large) return r.Int(1, most);
  if (r.Chance(0.4)) return r.Int(1, std::min<int64_t>(large_most, 40));
  if (r.Chance(0.5)) return r.Int(1, large_most);
  int64_t power = int64_t{8} << r.Int(0, 9);
  while (power > large_most) power /= 2;
  return std::clamp<int64_t>(power + r.Int(-2, 2), 1, large_most);
}

// Numbers of elements on both sides of what a loop leaves to one thread (16384), to one tile (2048)
// or to one vector; the long axis is any one.
Dims CaseMaker::LargeShape(size_t rank) {
  static const std::vector<int64_t> kElements = {24, 300, 2048, 4096, 16384, 16384, 40000, 100000};
  Dims dims(rank, 1);
  if (rank == 0) return dims;
  int64_t left = r.Pick(kElements);
  left = std::max<int64_t>(1, left + r.Int(-left / 50 - 2, left / 50 + 2));
  const auto longest = static_cast<size_t>(r.Int(0, static_cast<int64_t>(rank) - 1));
  for (size_t d = 0; d < rank; ++d) {
    if (d == longest) continue;
    dims[d] = std::min(left, r.Chance(0.3) ? 1 : Size(0, 70));
    left = std::max<int64_t>(1, left / dims[d]);
  }
  dims[longest] = left;
  return dims;
}

Dims CaseMaker::Shape(int least, int most, bool zeros) {
  Dims dims(static_cast<size_t>(r.Int(least, most)));
  if (large && !shaped_) {
    shaped_ = true;
    return LargeShape(dims.size());
  }
  for (int64_t& d : dims) d = r.Int(1, 5);
  if (zeros && !dims.empty() && r.Chance(0.08))
    r.Pick(std::vector<int64_t*>{&dims[0], &dims.back()})[0] = 0;
  return dims;
}

Dims CaseMaker::Narrowed(const Dims& to) {
  const auto drop =
      static_cast<size_t>(r.Chance(0.4) ? r.Int(0, static_cast<int64_t>(to.size())) : 0);
  Dims dims(to.begin() + static_cast<ptrdiff_t>(drop), to.end());
  for (int64_t& d : dims) {
    if (r.Chance(0.3)) d = 1;
  }
  return dims;
}

std::shared_ptr<HostTensor> Convert(const HostTensor& tensor, DType dtype) {
  auto out = New(dtype, tensor.dims);
  if (dtype == tensor.dtype) {
    if (tensor.bytes > 0) std::memcpy(out->data.get(), tensor.data.get(), tensor.bytes);
    return out;
  }
  const int64_t n = tensor.count();
  for (int64_t i = 0; i < n; ++i) {
    if (IsFloat(tensor.dtype) || IsFloat(dtype)) {
      SetElement(out.get(), i, ElementAsDouble(tensor, i));
    } else {
      SetIntElement(out.get(), i, ElementAsInt(tensor, i));
    }
  }
  return out;
}

#define GE_RANDOM_OP_ENTRY(stem) extern const RandomOp random_op_##stem;
#include "tools/ge_test/random_ops.inc"
#undef GE_RANDOM_OP_ENTRY

const RandomOp* FindRandomOp(const OpDef& op) {
  static const RandomOp* const kAll[] = {
#define GE_RANDOM_OP_ENTRY(stem) &random_op_##stem,
#include "tools/ge_test/random_ops.inc"
#undef GE_RANDOM_OP_ENTRY
  };
  const std::string name = FullName(op);
  for (const RandomOp* r : kAll) {
    if (r->op == name) return r;
  }
  return nullptr;
}

namespace {

// The port of an input: the last one stands for all of a variadic.
const Port& PortOf(const OpDef& op, size_t i) {
  return op.inputs[std::min(i, op.inputs.size() - 1)];
}

bool Follows(const RandomCase& c, size_t i) {
  return PortOf(*c.op, i).type_var[0] != 0 &&
         std::string_view(PortOf(*c.op, i).type_var) == c.op->inputs[0].type_var;
}

}  // namespace

Graph ToGraph(const RandomCase& sample, DType dtype,
              std::vector<std::shared_ptr<HostTensor>>* inputs) {
  Graph g;
  g.opsets[""] = kCanonicalOpset;
  if (sample.op->domain[0] != 0) g.opsets[sample.op->domain] = sample.op->since_version;
  Function& f = g.AddFunction("main");
  Node node;
  node.id = f.next_node_id++;
  node.domain = sample.op->domain;
  node.op = sample.op->name;
  node.name = "node";
  node.attrs = sample.attrs;
  if (sample.value) {
    const bool converted = dtype != DType::kUndefined && sample.op->inputs.empty();
    const ConstId id =
        g.AddConst(ToConst(converted ? *Convert(*sample.value, dtype) : *sample.value, "v"));
    node.attrs.push_back({"value", ConstRef{id}});
  }
  for (const auto& [name, tensor] : sample.tensors) {
    node.attrs.push_back({name, ConstRef{g.AddConst(ToConst(*tensor, name))}});
  }
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    const auto& in = sample.inputs[i];
    if (!in.tensor) {
      node.inputs.push_back(0);
      continue;
    }
    const bool converted = dtype != DType::kUndefined && Follows(sample, i);
    auto t = Convert(*in.tensor, converted ? dtype : in.tensor->dtype);
    const std::string name = fmt::format("in{}", i);
    if (in.constant) {
      node.inputs.push_back(AddConstValue(&g, &f, ToConst(*t, name)));
    } else {
      node.inputs.push_back(AddValue(&f, TensorType(t->dtype, t->dims), name));
      f.params.push_back(node.inputs.back());
      inputs->push_back(std::move(t));
    }
  }
  for (int i = 0; i < sample.outputs; ++i) {
    node.outputs.push_back(AddValue(&f, Type(), fmt::format("out{}", i)));
    f.results.push_back(node.outputs.back());
  }
  f.nodes.push_back(std::move(node));
  g.entries.push_back(Entry{"main", f.id, Entry::Role::kInfer, {}});
  return g;
}

std::string ToTextCase(const RandomCase& sample, const std::string& engine) {
  std::vector<std::shared_ptr<HostTensor>> inputs;
  const Graph g = ToGraph(sample, DType::kUndefined, &inputs);
  std::string out = "--- graph\n" + PrintText(g);
  const Function& f = g.fn(g.entries[0].fn);
  for (size_t i = 0; i < inputs.size(); ++i) {
    out += fmt::format("--- input {}\n{}\n", f.value(f.params[i]).name,
                       PrintConst(ToConst(*inputs[i], ""), g));
  }
  return out + fmt::format("--- run run {}\n", engine);
}

}  // namespace ge::test
