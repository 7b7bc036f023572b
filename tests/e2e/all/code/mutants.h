// Stands before every source that mutate.py changes. A mutated place asks On(n) whether
// its own mutant is the one that the environment variable GE_MUTANT names; with GE_MUTANT_REACHED
// it notes in that file that it was asked. A change that a type does not allow does not compile.
#pragma once

#include <type_traits>

// A guarded number is no constant.
#pragma GCC diagnostic ignored "-Wnarrowing"

namespace ge_mutants {

// Under other names, so that no header of the system is drawn into the sources.
extern "C" {
char* ge_mutants_getenv(const char*) __asm__("getenv");
int ge_mutants_atoi(const char*) __asm__("atoi");
int ge_mutants_open(const char*, int, ...) __asm__("open");
int ge_mutants_close(int) __asm__("close");
void* ge_mutants_mmap(void*, unsigned long, int, int, int, long) __asm__("mmap");
}

struct State {
  bool read;
  int active;
  unsigned char* reached;
};
inline State g_state = {false, 0, nullptr};

// Before other constructors of the same library.
__attribute__((constructor(101))) static void ReadState() {
  if (g_state.read) return;
  g_state.read = true;
  if (const char* active = ge_mutants_getenv("GE_MUTANT")) g_state.active = ge_mutants_atoi(active);
  const char* file = ge_mutants_getenv("GE_MUTANT_REACHED");
  if (file == nullptr) return;
  const int fd = ge_mutants_open(file, 2 /* O_RDWR */);
  if (fd < 0) return;
  void* at = ge_mutants_mmap(nullptr, 1 << 16, 3 /* read, write */, 1 /* shared */, fd, 0);
  ge_mutants_close(fd);
  if (at != reinterpret_cast<void*>(-1)) g_state.reached = static_cast<unsigned char*>(at);
}

[[gnu::always_inline]] inline bool On(int n) {
  if (__builtin_expect(g_state.reached != nullptr, 0)) g_state.reached[n] = 1;
  return __builtin_expect(g_state.active == n, 0);
}

// A number one greater, a truth turned round.
template <int N, class T>
[[gnu::always_inline]] inline std::decay_t<T> Off(const T& value) {
  static_assert(std::is_arithmetic_v<T>);
  if constexpr (std::is_same_v<T, bool>) {
    return On(N) ? !value : value;
  } else {
    return On(N) ? static_cast<T>(value + T(1)) : value;
  }
}

// `a < At<N, kSame>() < b` is `a < b`, or what it is mutated to.
enum class Change { kFirst, kSecond };
template <int N, Change C>
struct At {};
template <class A, int N, Change C>
struct Left {
  const A& a;
};

#define GE_MUTANTS_OPERATOR(OP, FIRST, SECOND)                                     \
  template <class A, int N, Change C>                                              \
  [[gnu::always_inline]] inline Left<A, N, C> operator OP(const A& a, At<N, C>) {  \
    return {a};                                                                    \
  }                                                                                \
  template <class A, class B, int N, Change C>                                     \
  [[gnu::always_inline]] inline auto operator OP(Left<A, N, C> left, const B& b) { \
    using R = std::decay_t<decltype(left.a OP b)>;                                 \
    const A& a = left.a;                                                           \
    if constexpr (C == Change::kFirst) {                                           \
      return On(N) ? static_cast<R>(FIRST) : static_cast<R>(a OP b);               \
    } else {                                                                       \
      return On(N) ? static_cast<R>(SECOND) : static_cast<R>(a OP b);              \
    }                                                                              \
  }
GE_MUTANTS_OPERATOR(<, a <= b, a + 1 < b)
GE_MUTANTS_OPERATOR(<=, a<b, a> b)
GE_MUTANTS_OPERATOR(>, a >= b, a <= b)
GE_MUTANTS_OPERATOR(>=, a > b, a < b)
GE_MUTANTS_OPERATOR(==, a != b, a != b)
GE_MUTANTS_OPERATOR(!=, a == b, a == b)
GE_MUTANTS_OPERATOR(+, a - b, a)
GE_MUTANTS_OPERATOR(-, a + b, a)
GE_MUTANTS_OPERATOR(*, a + b, a)
GE_MUTANTS_OPERATOR(/, a* b, a)
GE_MUTANTS_OPERATOR(%, a / b, a)
GE_MUTANTS_OPERATOR(&, a | b, a)
GE_MUTANTS_OPERATOR(|, a& b, a)
GE_MUTANTS_OPERATOR(^, a | b, a)
#undef GE_MUTANTS_OPERATOR

}  // namespace ge_mutants
