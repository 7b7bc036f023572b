// Graphs by calls while memory is short: graph_memory FOLDER. Makes a graph by calls of every kind;
// of each call first the one allocation fails, then the next one, until the call succeeds. A call
// that fails answers that, is undone, and leaves the graph in use: in the end it is that of calls
// that nothing has disturbed, to the last character. Prints what fails and, last, its counts.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <string>

#include "tests/e2e/clients/check.h"
#include "tests/e2e/clients/graph_calls.h"

namespace {

bool armed = false;
uint64_t left = 0;      // allocations until the one that fails
uint64_t failures = 0;  // that were made

void* New(std::size_t n, std::size_t align) {
  if (armed && --left == 0) {
    armed = false;
    ++failures;
    throw std::bad_alloc();
  }
  void* p =
      align > 16 ? std::aligned_alloc(align, (n + align - 1) / align * align) : std::malloc(n);
  if (!p) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(std::size_t n) { return New(n ? n : 1, 1); }
void* operator new[](std::size_t n) { return New(n ? n : 1, 1); }
void* operator new(std::size_t n, std::align_val_t a) {
  return New(n ? n : 1, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return New(n ? n : 1, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

namespace {

ge_error error;

// One graph, made with or without failing allocations.
class Building {
 public:
  explicit Building(bool disturbed) : disturbed_(disturbed) {
    ge_graph_options o{};
    o.size = sizeof o;
    o.name = "made";
    Check(ge_graph_create(&o, &graph_, &error) == GE_STATUS_OK, "create", __LINE__, &error);
    Check(ge_graph_edit(graph_, &e, &error) == GE_STATUS_OK, "edit", __LINE__, &error);
  }
  ~Building() { ge_graph_release(graph_); }
  ge_graph_builder* graph() const { return graph_; }

  // `call` answers whether it succeeded.
  void Do(const char* what, const std::function<bool()>& call) {
    constexpr uint64_t kMost = 10000;
    for (uint64_t n = 1; n < kMost; ++n) {
      const uint64_t before = failures;
      left = n;
      armed = disturbed_;
      const bool done = call();
      armed = false;
      // What a call does without some memory, as to keep a picture, it may do all the same.
      if (done) return;
      const ge_status status = ge_graph_error(graph_, &error);
      if (failures == before || status != GE_STATUS_RESOURCE_EXHAUSTED) break;
    }
    Check(0, what, __LINE__, &error);
  }

  // The same of a call of ge.h.
  void Call(const char* what, const std::function<ge_status()>& call) {
    constexpr uint64_t kMost = 100000;
    ge_status status = GE_STATUS_OK;
    for (uint64_t n = 1; n < kMost; ++n) {
      left = n;
      armed = disturbed_;
      status = call();
      armed = false;
      if (status != GE_STATUS_RESOURCE_EXHAUSTED) break;
    }
    Check(status == GE_STATUS_OK, what, __LINE__, &error);
  }

  const ge_edit* e = nullptr;

 private:
  const bool disturbed_;
  ge_graph_builder* graph_ = nullptr;
};

// The functions: one that calls itself, one with a free size, states and attributes.
struct Numbers {
  uint32_t main = 0, self = 0, x = 0, w = 0, h = 0, y = 0, state = 0, out[2] = {0, 0}, id = 0;
};

void Values(Building* b, Numbers* n) {
  static const int64_t kX[2] = {0, 40}, kW[2] = {40, 3};
  static const char* const kNames[2] = {"a size with a name of more than a few characters",
                                        nullptr};
  static float weights[120] = {1, 2, 3};
  const ge_edit* e = b->e;
  b->Do("function", [&] { return (n->main = AddFunction(e, "the function main", 0)) != 0; });
  b->Do("param", [&] {
    return (n->x = AddParam(e, n->main, "the input of this function", GE_F32, 2, kX, kNames)) != 0;
  });
  b->Do("constant", [&] {
    return (n->w = AddConstant(e, n->main, GE_F32, 2, kW, weights, sizeof weights)) != 0;
  });
  b->Do("node", [&] {
    return (n->y = Plain(e, n->main, "MatMul", "net.py:3 a name of a node", n->x, n->w)) != 0;
  });
  b->Do("node of the same name", [&] {
    return (n->h = Plain(e, n->main, "Relu", "net.py:3 a name of a node", n->y, 0)) != 0;
  });
  ge_attr axis{};
  axis.name = ge_text("axis");
  axis.kind = GE_ATTR_INT;
  NodeOf twice{};
  twice.op = "Concat";
  twice.in[0] = twice.in[1] = n->h;
  twice.n_in = 2;
  twice.attr = &axis;
  twice.n_attr = 1;
  b->Do("node with an attribute", [&] { return (n->y = Make(e, n->main, &twice)) != 0; });
  NodeOf where{};
  where.op = "NonZero";
  where.in[0] = n->y;
  where.n_in = 1;
  b->Do("node of a size that data decide", [&] { return Make(e, n->main, &where) != 0; });
}

void Calls(Building* b, Numbers* n) {
  static const int64_t kTwo = 2;
  const ge_edit* e = b->e;
  uint32_t x = 0, declared = 0, again = 0, given = 0;
  b->Do("recursive function",
        [&] { return (n->self = AddFunction(e, "calls itself", GE_FUNCTION_RECURSIVE)) != 0; });
  b->Do("param", [&] { return (x = AddParam(e, n->self, "x", GE_F32, 1, &kTwo, nullptr)) != 0; });
  ge_param p;
  ge_dim sizes[4];
  FillParam(&p, sizes, "", GE_F32, 1, &kTwo, nullptr);
  b->Do("placeholder", [&] {
    return ge_graph_placeholder(b->graph(), n->self, &p, &declared, &error) == GE_STATUS_OK;
  });
  b->Do("results",
        [&] { return SetResult(e, n->self, declared, "the result of this function") == GE_OK; });
  NodeOf call{};
  call.domain = "ge";
  call.op = "Call";
  call.name = "net.py:7 a call of the function";
  call.in[0] = x;
  call.n_in = 1;
  call.body[0] = n->self;
  call.role[0] = "fn";
  call.n_body = 1;
  b->Do("call", [&] { return (again = Make(e, n->self, &call)) != 0; });
  b->Do("results",
        [&] { return SetResult(e, n->self, again, "the result of this function") == GE_OK; });
  b->Do("constant", [&] {
    static const float kOnes[2] = {1, 1};
    return (given = AddConstant(e, n->main, GE_F32, 1, &kTwo, kOnes, sizeof kOnes)) != 0;
  });
  call.in[0] = given;
  b->Do("call", [&] { return Make(e, n->main, &call) != 0; });
  uint32_t copy = 0;
  b->Do("copy", [&] {
    return e->copy(e->host, n->self, ge_text("a copy of this function"), &copy) == GE_OK;
  });
}

void Edits(Building* b, Numbers* n) {
  static const int64_t kTwo = 2;
  const ge_edit* e = b->e;
  uint32_t old = 0, sum = 0;
  b->Do("state", [&] {
    static const float kFirst[2] = {1, 2};
    n->state = AddState(e, "a state with a first value", &kTwo, 1, kFirst, sizeof kFirst,
                        GE_STATE_PARAM, GE_STATE_TRAINABLE);
    return n->state != 0;
  });
  b->Do("read", [&] { return (old = ge_edit_state(e, n->main, 0, n->state, 0)) != 0; });
  b->Do("node", [&] { return (sum = Plain(e, n->main, "Add", "", old, old)) != 0; });
  NodeOf assign{};
  assign.domain = "ge";
  assign.op = "Assign";
  assign.in[0] = sum;
  assign.n_in = 1;
  assign.n_out = GE_NO_OUTPUT;
  assign.state = n->state;
  b->Do("assign", [&] { return AddNode(e, n->main, &assign, &n->id, n->out) == GE_OK; });
  NodeOf before{};
  before.op = "Neg";
  before.name = "a node before another one";
  before.in[0] = old;
  before.n_in = 1;
  before.before = n->id;
  b->Do("node before", [&] { return AddNode(e, n->main, &before, nullptr, n->out) == GE_OK; });
  b->Do("set_input", [&] { return e->set_input(e->host, n->main, n->id, 0, n->out[0]) == GE_OK; });
  b->Do("replace_uses", [&] { return e->replace_uses(e->host, n->main, sum, old) == GE_OK; });
  uint32_t id = 0, unread[2] = {0, 0};
  before.before = 0;
  b->Do("node", [&] { return AddNode(e, n->main, &before, &id, unread) == GE_OK; });
  b->Do("erase", [&] { return e->erase(e->host, n->main, id) == GE_OK; });
  b->Do("results", [&] { return SetResult(e, n->main, n->y, "the result of it all") == GE_OK; });
  b->Do("entry", [&] { return AddEntry(e, "the entry of this model", n->main) == GE_OK; });
  b->Do("metadata", [&] {
    return e->metadata(e->host, ge_text("a key of the model"), ge_text("\"a text of it\"")) ==
           GE_OK;
  });
}

// Calls of ge.h itself: of a graph that is made, and of its constants.
void Whole(Building* b, const Numbers& n, const std::string& path) {
  int released = 0;
  const auto count = [](void* context) { ++*static_cast<int*>(context); };
  static float ones[2] = {1, 1};
  ge_tensor t{};
  t.size = sizeof t;
  t.dtype = GE_F32;
  t.rank = 1;
  t.dims[0] = 2;
  t.data = ones;
  t.bytes = sizeof ones;
  uint32_t value = 0;
  b->Call("shared constant", [&] {
    return ge_graph_constant(b->graph(), n.main, &t, count, &released, &value, &error);
  });
  Check(value != 0 && released == 0, "nothing was given back", __LINE__, nullptr);
  b->Call("save", [&] { return ge_graph_save(b->graph(), path.c_str(), GE_FORMAT_TEXT, &error); });
  b->Call("another graph", [&] {
    ge_graph_builder* other = nullptr;
    const ge_status status = ge_graph_create(nullptr, &other, &error);
    Check((status == GE_STATUS_OK) == (other != nullptr), "create", __LINE__, nullptr);
    ge_graph_release(other);
    return status;
  });
}

std::string Saved(const Building& b, const std::string& path) {
  Check(ge_graph_save(b.graph(), path.c_str(), GE_FORMAT_TEXT, &error) == GE_STATUS_OK, "save",
        __LINE__, &error);
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Built(bool disturbed, const std::string& path) {
  Building b(disturbed);
  Numbers n;
  Values(&b, &n);
  Calls(&b, &n);
  Edits(&b, &n);
  Whole(&b, n, path);
  return Saved(b, path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  error.size = sizeof error;
  const std::string folder = argv[1];
  const std::string wanted = Built(false, folder + "/wanted.gt");
  const uint64_t before = failures;
  const std::string found = Built(true, folder + "/found.gt");
  Check(wanted.size() > 500, "the graph has a text", __LINE__, nullptr);
  Check(found == wanted, "it is the same graph", __LINE__, nullptr);
  if (found != wanted) std::printf("--- wanted\n%s--- found\n%s", wanted.c_str(), found.c_str());
  Check(before == 0 && failures > 200, "allocations failed", __LINE__, nullptr);
  std::printf("%llu allocations failed\n", static_cast<unsigned long long>(failures));
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
