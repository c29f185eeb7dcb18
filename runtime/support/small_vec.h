// A vector with room for N items before it allocates: shapes, axes, operand lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace tfl {

template <class T, size_t N>
class SmallVec {
 public:
  using value_type = T;
  SmallVec() = default;
  explicit SmallVec(size_t n, const T& value = T()) { resize(n, value); }
  SmallVec(std::initializer_list<T> items) { append(items.begin(), items.end()); }
  template <class It>
  SmallVec(It first, It last) {
    append(first, last);
  }
  explicit SmallVec(std::span<const T> items) { append(items.begin(), items.end()); }
  SmallVec(const SmallVec& o) { append(o.begin(), o.end()); }
  SmallVec(SmallVec&& o) noexcept { take(o); }
  SmallVec& operator=(const SmallVec& o) {
    if (this != &o) {
      clear();
      append(o.begin(), o.end());
    }
    return *this;
  }
  SmallVec& operator=(SmallVec&& o) noexcept {
    if (this != &o) {
      release();
      take(o);
    }
    return *this;
  }
  ~SmallVec() { release(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  operator std::span<const T>() const { return {data_, size_}; }  // NOLINT: implicit by design
  operator std::span<T>() { return {data_, size_}; }              // NOLINT
  std::span<const T> span() const { return {data_, size_}; }

  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    new (data_ + size_++) T(std::move(value));
  }
  void pop_back() { data_[--size_].~T(); }
  void clear() {
    std::destroy(begin(), end());
    size_ = 0;
  }
  void resize(size_t n, const T& value = T()) {
    while (size_ > n) pop_back();
    if (n > capacity_) grow(n);
    while (size_ < n) new (data_ + size_++) T(value);
  }
  template <class It>
  void append(It first, It last) {
    for (; first != last; ++first) push_back(*first);
  }
  void insert(size_t at, T value) {
    push_back(std::move(value));
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(size_t at) {
    std::move(begin() + at + 1, end(), begin() + at);
    pop_back();
  }
  bool operator==(const SmallVec& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

 private:
  T* inline_data() { return std::launder(reinterpret_cast<T*>(storage_)); }
  void grow(size_t wanted) {
    size_t capacity = std::max(wanted, capacity_ * 2);
    T* fresh = static_cast<T*>(::operator new(capacity * sizeof(T)));
    std::uninitialized_move(begin(), end(), fresh);
    std::destroy(begin(), end());
    if (data_ != inline_data()) ::operator delete(data_);
    data_ = fresh;
    capacity_ = capacity;
  }
  void release() {
    clear();
    if (data_ != inline_data()) ::operator delete(data_);
    data_ = inline_data();
    capacity_ = N;
  }
  void take(SmallVec& o) {  // this is empty and inline
    if (o.data_ != o.inline_data()) {
      data_ = o.data_;
      size_ = o.size_;
      capacity_ = o.capacity_;
      o.data_ = o.inline_data();
      o.capacity_ = N;
    } else {
      std::uninitialized_move(o.begin(), o.end(), data_);
      size_ = o.size_;
      std::destroy(o.begin(), o.end());
    }
    o.size_ = 0;
  }

  alignas(T) std::byte storage_[sizeof(T) * N];
  T* data_ = inline_data();
  size_t size_ = 0;
  size_t capacity_ = N;
};

/// Sizes, strides, axes: one entry a dimension.
using Dims = SmallVec<int64_t, 6>;

}  // namespace tfl
