#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/status.h"

namespace roost::http {

// Tables that several places of a configuration share by a name. Owned by a module; main thread. A table
// lives as long as a filter uses it, so one whose options stay the same survives a reload with what it has
// counted.
//
// `Options` has ==. `Table` is made by make(options), a Result<std::shared_ptr<Table>>.
template <class Table, class Options>
class Zones {
 public:
  // The table of that name; "" is a table of the place's own. `generation` tells one configuration from the
  // next. Errors: make()'s, or the name stands for other options in this configuration.
  template <class Make>
  Result<std::shared_ptr<Table>> find(const std::string& name, const Options& options, const void* generation,
                                      Make&& make) {
    if (name.empty()) return make(options);
    Zone& zone = zones_[name];
    if (std::shared_ptr<Table> table = zone.table.lock()) {
      if (zone.options == options) {
        zone.generation = generation;
        return table;
      }
      if (zone.generation == generation) {
        return Status::error("zone \"" + name +
                             "\" has other numbers elsewhere: places that share it must agree");
      }
    }
    Result<std::shared_ptr<Table>> made = make(options);
    if (made.ok()) zone = {options, *made, generation};
    return made;
  }

 private:
  struct Zone {
    Options options{};
    std::weak_ptr<Table> table;
    const void* generation = nullptr;
  };
  std::map<std::string, Zone> zones_;
};

}  // namespace roost::http
