#pragma once

#include <cstdint>
#include <memory>

#include "modules/push/publish_answer.h"
#include "modules/push/publish_options.h"
#include "modules/push/publisher.h"

namespace roost::http {
class Exchange;
}

namespace roost::modules::push {

// How a list of messages is answered.
struct BatchOrder {
  AnswerForm form = AnswerForm::kText;
  uint32_t wait_ms = 0;
  uint64_t source = 0;  // Publisher::sourceOf
};

// Reads the request's content as a list of messages (readBatch), publishes them in their order, and answers
// with what has become of each, once that is known of all. A long list is read on a task thread. REQUIRES:
// the request has content; `publisher` lives as long as the route.
void takeBatch(http::Exchange& exchange, const Publisher& publisher,
               std::shared_ptr<const BatchOptions> limits, const BatchOrder& order);

}  // namespace roost::modules::push
