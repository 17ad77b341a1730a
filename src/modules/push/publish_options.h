#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/node.h"

namespace roost::modules::push {

// What a route says about its publishers, whatever they publish by.
struct PublishOptions {
  uint32_t max_message_bytes = 1u << 20;
  uint32_t history_messages = 10;
  uint32_t history_s = 3600;      // 0: whatever their age
  uint32_t max_per_second = 0;    // messages of one client to one channel; 0: as many as come
  uint32_t max_wait_ms = 60'000;  // 0: nobody may wait

  // Of the keys of publish_properties.json.
  static PublishOptions fromConfig(config::Node node);
};

// A route's lists of messages.
struct BatchOptions {
  bool on = false;
  uint32_t max_messages = 1000;
  uint32_t max_bytes = 8u << 20;
  std::vector<std::string> prefixes;  // of channels that may be named; empty: all

  static BatchOptions fromConfig(config::Node node);
};

}  // namespace roost::modules::push
