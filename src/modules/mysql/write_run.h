#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "modules/mysql/operation_runner.h"
#include "modules/mysql/write_handler.h"
#include "modules/mysql/write_request.h"

namespace roost::modules::mysql {

class WriteRun;
// Letting go of a run leaves it: what is not done by then is given up, and what may be done already comes to
// its end by itself, so that the tables' channels are told of all that was written.
struct LeaveRun {
  void operator()(WriteRun* run) const noexcept;
};
using WriteRunPtr = std::unique_ptr<WriteRun, LeaveRun>;

// What is to be written, all of it or nothing. Refers to nothing but an exposure.
struct WritePlan {
  std::vector<std::unique_ptr<tables::Operation>> operations;
  std::vector<std::string> methods;            // of each, as the tables' channels are told
  std::vector<std::unique_ptr<RowTags>> tags;  // that operations look at
  tables::BodyLease lease;                     // of the bodies that they were made of
  bool rolls_back = false;
  size_t most_bytes = SIZE_MAX;  // of all answers together
};

// Operations on their way to the database, and what is told of them. Refers to nothing of the exchange that
// they came by: whoever answers that has a WriteRunPtr. Loop thread.
class WriteRun final : private OperationsDone {
 public:
  // `done` is told how they end, unless it has left before: this call may be within start().
  static void start(const WriteSite& site, WritePlan plan, OperationsDone& done, WriteRunPtr& run) noexcept;

  const std::vector<std::unique_ptr<tables::Operation>>& operations() const noexcept {
    return runner_.operations();
  }

 private:
  friend struct LeaveRun;

  WriteRun(const WriteSite& site, WritePlan plan, OperationsDone& done);
  ~WriteRun() = default;
  void leave() noexcept;
  void onOperationsDone() noexcept override;
  void onOperationFailed(size_t index, const tables::Problem& problem,
                         uint32_t retry_after_s) noexcept override;

  const std::shared_ptr<const tables::Exposure> exposure_;  // the operations refer to it, and to the tags
  const std::vector<std::unique_ptr<RowTags>> tags_;
  const std::vector<std::string> methods_;
  const tables::BodyLease lease_;
  ::roost::push::Shard* const shard_;
  OperationsDone* waits_;  // nullptr: nobody does any more
  bool ended_ = false;
  OperationRunner runner_;
};

}  // namespace roost::modules::mysql
