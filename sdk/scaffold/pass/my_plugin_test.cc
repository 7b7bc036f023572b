// Tests my_plugin as a program does that loads it, by ge.h: what is left of a model, and that it
// computes the same. The first argument is the plugin's file.
#include <cstdio>
#include <string>
#include <vector>

#include "ge/ge.h"

namespace {

int g_faults = 0;

void Expect(bool good, const std::string& what, const std::string& found) {
  if (good) return;
  ++g_faults;
  std::printf("FAILED  %s: %s\n", what.c_str(), found.c_str());
}

std::string Model(const std::string& body) {
  return "ge 1\nopset \"\" 28\nfn main(x: f32[5]) -> (y) {\n" + body +
         "}\nentry infer \"main\" = main\n";
}

// A model in a session, with the plugin or, `plugin` NULL, without it.
class Session {
 public:
  Session(const char* plugin, const std::string& model) {
    ge_session_options options = {};
    options.size = sizeof options;
    options.plugins = plugin;
    error_.size = sizeof error_;
    good_ = ge_session_create(&options, &session_, &error_) == GE_STATUS_OK &&
            ge_session_load_bytes(session_, model.data(), model.size(), GE_FORMAT_TEXT, &error_) ==
                GE_STATUS_OK;
    Expect(good_, "the model is loaded", error_.message);
  }
  ~Session() { ge_session_destroy(session_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // How many nodes of this operator are left.
  int Count(const std::string& op) {
    char* text = nullptr;
    good_ = good_ && ge_session_dump(session_, nullptr, "rewrite", &text, &error_) == GE_STATUS_OK;
    Expect(good_, "the rewritten graph", error_.message);
    const std::string graph = text != nullptr ? text : "";
    ge_text_release(text);
    int count = 0;
    for (size_t at = graph.find(op + "("); at != graph.npos; at = graph.find(op + "(", at + 1)) {
      ++count;
    }
    return count;
  }
  std::vector<float> Run(std::vector<float> x) {
    std::vector<float> y(x.size());
    ge_tensor in = {}, out = {};
    in.size = out.size = sizeof in;
    in.dtype = 1 /* float32 */;
    in.rank = 1;
    in.dims[0] = static_cast<int64_t>(x.size());
    in.data = x.data();
    in.bytes = x.size() * sizeof(float);
    out.data = y.data();
    out.bytes = in.bytes;
    good_ = good_ && ge_session_run(session_, nullptr, &in, 1, &out, 1, &error_) == GE_STATUS_OK;
    Expect(good_, "the run", error_.message);
    return y;
  }

 private:
  ge_session* session_ = nullptr;
  ge_error error_ = {};
  bool good_ = false;
};

void Leaves(const char* plugin, const std::string& body, int relus) {
  Session with(plugin, Model(body)), without(nullptr, Model(body));
  const int left = with.Count("Relu");
  Expect(left == relus, std::to_string(relus) + " Relu are left of\n" + body, std::to_string(left));
  const std::vector<float> x = {-2, -0.5f, 0, 1, 3};
  Expect(with.Run(x) == without.Run(x), "the same results of\n" + body, "others");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s PLUGIN.so\n", argv[0]), 2;
  Leaves(argv[1], "  a = Relu(x)\n  y = Relu(a)\n", 1);
  Leaves(argv[1], "  a = Relu(x)\n  b = Relu(a)\n  c = Relu(b)\n  y = Relu(c)\n", 1);
  Leaves(argv[1], "  a = Relu(x)\n  b = Neg(a)\n  y = Relu(b)\n", 2);
  Leaves(argv[1], "  a = Relu(x)\n  b = Relu(a)\n  y = Sub(a, b)\n", 1);
  std::printf("%d faults\n", g_faults);
  return g_faults == 0 ? 0 : 1;
}
