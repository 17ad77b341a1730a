#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.h"

namespace roost::push {

// What a NameTable keeps its entries by. The name's bytes are shared with whoever speaks of it.
template <class T>
struct Named {
  Named(BufferRef name_bytes, uint64_t name_hash) noexcept : name(std::move(name_bytes)), hash(name_hash) {}
  const BufferRef name;
  const uint64_t hash;
  T* next_named = nullptr;
};

// Entries by name, not owned. It grows and shrinks by one bucket per entry (linear hashing), so that among a
// million channels no single one waits for all to be moved. T is derived from Named<T>. One thread.
template <class T>
class NameTable {
 public:
  T* find(std::string_view name, uint64_t hash) const noexcept {
    if (buckets_.empty()) return nullptr;
    for (T* entry = buckets_[indexOf(hash)]; entry != nullptr; entry = next(*entry)) {
      if (entry->hash == hash && entry->name.view() == name) return entry;
    }
    return nullptr;
  }
  // REQUIRES: no entry of that name is there.
  void insert(T& entry) {
    if (size_ >= buckets_.size()) grow();
    T*& head = buckets_[indexOf(entry.hash)];
    entry.next_named = head;
    head = &entry;
    ++size_;
  }
  // REQUIRES: it is there.
  void erase(T& entry) noexcept {
    T** link = &buckets_[indexOf(entry.hash)];
    while (*link != &entry) link = &(*link)->next_named;
    *link = next(entry);
    --size_;
    if (buckets_.size() > kFewest && size_ < buckets_.size() / 2) shrink();
  }
  size_t size() const noexcept { return size_; }
  // Any of them; nullptr when there is none. To take one after the other costs no more than to visit all.
  T* any() noexcept {
    if (size_ == 0) return nullptr;
    for (;; ++last_any_) {
      if (last_any_ >= buckets_.size()) last_any_ = 0;
      if (buckets_[last_any_] != nullptr) return buckets_[last_any_];
    }
  }

 private:
  static constexpr size_t kFewest = 16;
  static T* next(const T& entry) noexcept { return entry.next_named; }
  // Buckets beyond low_ are splits of those low_ before them.
  size_t indexOf(uint64_t hash) const noexcept {
    const size_t index = hash & (2 * low_ - 1);
    return index < buckets_.size() ? index : index & (low_ - 1);
  }
  void grow() {
    if (buckets_.empty()) {
      buckets_.resize(kFewest);
      low_ = kFewest;
      return;
    }
    buckets_.push_back(nullptr);  // first: it may throw, and then nothing has changed
    T* entry = std::exchange(buckets_[buckets_.size() - 1 - low_], nullptr);
    while (entry != nullptr) {
      T* following = next(*entry);
      T*& head = buckets_[indexOf(entry->hash)];
      entry->next_named = head;
      head = entry;
      entry = following;
    }
    if (buckets_.size() == 2 * low_) low_ *= 2;
  }
  void shrink() noexcept {
    if (buckets_.size() == low_) low_ /= 2;
    T* entry = buckets_.back();
    buckets_.pop_back();
    while (entry != nullptr) {
      T* following = next(*entry);
      T*& head = buckets_[indexOf(entry->hash)];
      entry->next_named = head;
      head = entry;
      entry = following;
    }
    if (buckets_.size() < buckets_.capacity() / 4) buckets_.shrink_to_fit();
  }

  std::vector<T*> buckets_;
  size_t low_ = kFewest;
  size_t size_ = 0;
  size_t last_any_ = 0;  // the bucket where any() found one
};

}  // namespace roost::push
