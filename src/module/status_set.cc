#include "module/status_set.h"

namespace roost::module {

StatusSet StatusSet::of(config::Node list) {
  StatusSet set;
  for (size_t i = 0; i < list.size(); ++i) {
    const config::Node item = list.at(i);
    if (item.isInt()) {
      set.add(static_cast<int>(item.asInt()));
      continue;
    }
    const int first = (item.asString()[0] - '0') * 100;
    for (int status = first; status < first + 100; ++status) set.add(status);
  }
  return set;
}

}  // namespace roost::module
