// Objects that many hold by counted references.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace roost {

template <class T>
class CountedRef;

// A base of what counts its references. It is made with one of them (CountedRef::adopt).
class Counted {
 public:
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;

 protected:
  Counted() noexcept = default;
  ~Counted() = default;

 private:
  template <class T>
  friend class CountedRef;
  mutable std::atomic<uint32_t> refs_{1};
};

// A reference to a T, or none; the last one deletes it. Copying counts up, moving does not. The object may be
// referenced from several threads; one CountedRef belongs to one thread at a time. T befriends it where its
// destructor is its own business.
template <class T>
class CountedRef {
 public:
  CountedRef() noexcept = default;
  CountedRef(const CountedRef& other) noexcept : object_(other.object_) {
    if (object_ != nullptr) object_->refs_.fetch_add(1, std::memory_order_relaxed);
  }
  CountedRef(CountedRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  CountedRef& operator=(CountedRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~CountedRef() {
    if (object_ != nullptr && object_->refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete object_;
  }
  // Takes over the reference that the object was made with.
  static CountedRef adopt(T* made) noexcept {
    CountedRef ref;
    ref.object_ = made;
    return ref;
  }

  explicit operator bool() const noexcept { return object_ != nullptr; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  // Whether there are other references, at this moment.
  bool shared() const noexcept {
    return object_ != nullptr && object_->refs_.load(std::memory_order_relaxed) > 1;
  }

 private:
  T* object_ = nullptr;
};

}  // namespace roost
