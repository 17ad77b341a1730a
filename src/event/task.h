#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace roost::event {

// A piece of work that travels to a loop's or a task thread and is run there once, then destroyed there.
struct Task {
  Task* next = nullptr;  // the carrier's
  virtual void run() noexcept = 0;
  virtual ~Task() = default;
};

// A Task from a callable that must not throw.
template <class Fn>
std::unique_ptr<Task> makeTask(Fn&& fn) {
  struct FnTask final : Task {
    explicit FnTask(Fn&& callable) : callable_(std::forward<Fn>(callable)) {}
    void run() noexcept override { callable_(); }
    std::decay_t<Fn> callable_;
  };
  return std::make_unique<FnTask>(std::forward<Fn>(fn));
}

}  // namespace roost::event
