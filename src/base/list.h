#pragma once

namespace roost {

// A link of a circular, intrusive, doubly linked list; the list itself is a link too. Not owning.
struct ListHook {
  ListHook* prev = this;
  ListHook* next = this;

  ListHook() noexcept = default;
  ListHook(const ListHook&) = delete;
  ListHook& operator=(const ListHook&) = delete;

  bool linked() const noexcept { return next != this; }
  void unlink() noexcept {
    prev->next = next;
    next->prev = prev;
    prev = next = this;
  }
  // Puts `node` before this link: at the end, when this is the list. REQUIRES: !node.linked().
  void insertBefore(ListHook& node) noexcept {
    node.prev = prev;
    node.next = this;
    prev->next = &node;
    prev = &node;
  }
  // Moves all of another list to the end of this one.
  void takeAll(ListHook& other) noexcept {
    if (!other.linked()) return;
    other.next->prev = prev;
    prev->next = other.next;
    other.prev->next = this;
    prev = other.prev;
    other.prev = other.next = &other;
  }
};

}  // namespace roost
