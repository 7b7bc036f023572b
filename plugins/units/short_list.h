// ShortList: a std::vector of numbers whose first few elements lie in the object itself. Planning a
// new shape makes thousands of dims, strides and lists of values, so short ones allocate nothing;
// longer ones do. It has only the members of std::vector that its users call.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <new>
#include <type_traits>
#include <vector>

namespace ge_engines {

template <typename T, uint32_t kInside>
requires std::is_trivially_copyable_v<T>
class ShortList {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  ShortList() = default;
  explicit ShortList(size_t n, T value = {}) { resize(n, value); }
  ShortList(std::initializer_list<T> list) : ShortList(list.begin(), list.end()) {}
  template <std::forward_iterator It>
  ShortList(It first, It last) {
    assign(first, last);
  }
  ShortList(const ShortList& other) { *this = other; }
  ShortList(ShortList&& other) noexcept { Take(&other); }
  ShortList& operator=(const ShortList& other) {
    if (this == &other) return *this;
    Room(other.size_, 0);
    size_ = other.size_;
    std::memcpy(data(), other.data(), size_ * sizeof(T));
    return *this;
  }
  ShortList& operator=(ShortList&& other) noexcept {
    if (this == &other) return *this;
    Free();
    Take(&other);
    return *this;
  }
  ~ShortList() { Free(); }

  // Libraries take a std::vector.
  operator std::vector<T>() const { return std::vector<T>(begin(), end()); }  // NOLINT: implicit

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return room_ > kInside ? heap_ : inside_; }
  const T* data() const { return room_ > kInside ? heap_ : inside_; }
  iterator begin() { return data(); }
  iterator end() { return data() + size_; }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size_; }
  auto rbegin() const { return std::reverse_iterator(end()); }
  auto rend() const { return std::reverse_iterator(begin()); }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  T& front() { return *data(); }
  const T& front() const { return *data(); }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void clear() { size_ = 0; }
  void reserve(size_t n) { Room(n, size_); }
  void resize(size_t n, T value = {}) {
    Room(n, size_);
    if (n > size_) std::fill(data() + size_, data() + n, value);
    size_ = static_cast<uint32_t>(n);
  }
  void assign(size_t n, T value) {
    clear();
    resize(n, value);
  }
  template <std::forward_iterator It>
  void assign(It first, It last) {
    const auto n = static_cast<size_t>(std::distance(first, last));
    Room(n, 0);
    size_ = static_cast<uint32_t>(n);
    std::copy(first, last, data());
  }
  void push_back(T value) {
    Room(size_t{size_} + 1, size_);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  iterator insert(const_iterator at, T value) { return insert(at, 1, value); }
  iterator insert(const_iterator at, size_t n, T value) {
    const iterator gap = Open(at, n);
    std::fill(gap, gap + n, value);
    return gap;
  }
  // The range must not be of this list.
  template <std::forward_iterator It>
  iterator insert(const_iterator at, It first, It last) {
    const iterator gap = Open(at, static_cast<size_t>(std::distance(first, last)));
    std::copy(first, last, gap);
    return gap;
  }
  iterator erase(const_iterator at) { return erase(at, at + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const iterator to = begin() + (first - begin());
    size_ = static_cast<uint32_t>(std::copy(last, const_iterator(end()), to) - begin());
    return to;
  }

  friend bool operator==(const ShortList& left, const ShortList& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
  }
  friend auto operator<=>(const ShortList& left, const ShortList& right) {
    return std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(),
                                                  right.end());
  }

 private:
  void Free() {
    if (room_ > kInside) delete[] heap_;
  }
  void Take(ShortList* other) {
    std::memcpy(static_cast<void*>(this), static_cast<const void*>(other), sizeof *this);
    other->size_ = 0;
    other->room_ = kInside;
  }
  // Makes room for n elements; the first `keep` keep their values.
  void Room(size_t n, size_t keep) {
    if (n <= room_) return;
    if (n > std::numeric_limits<uint32_t>::max() / 2) throw std::bad_alloc();
    const auto room = std::max(static_cast<uint32_t>(n), 2 * room_);
    auto* const heap = new T[room];
    std::memcpy(heap, data(), keep * sizeof(T));
    Free();
    heap_ = heap;
    room_ = room;
  }
  iterator Open(const_iterator at, size_t n) {
    const auto offset = static_cast<size_t>(at - begin());
    Room(size_ + n, size_);
    T* const gap = data() + offset;
    std::memmove(gap + n, gap, (size_ - offset) * sizeof(T));
    size_ += static_cast<uint32_t>(n);
    return gap;
  }

  uint32_t size_ = 0, room_ = kInside;
  union {
    T inside_[kInside];
    T* heap_;
  };
};

}  // namespace ge_engines
