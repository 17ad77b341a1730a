#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "db/value.h"
#include "modules/mysql/query_config.h"
#include "tables/exposure.h"
#include "tables/problem.h"

namespace roost::http {
class Exchange;
}

namespace roost::modules::mysql {

// Finds the values of a configured statement's parameters in requests. Immutable; any thread.
class QueryArguments {
 public:
  explicit QueryArguments(const QueryRouteConfig& config);  // which outlives it

  // One for each parameter, in their order, of the path, the query and the body (empty: there is none), which
  // is a JSON object or a form, as Content-Type says. False: `problem`.
  bool read(const http::Exchange& exchange, std::string_view body, std::vector<db::Value>& values,
            tables::Problem& problem) const;

 private:
  // What one request has said so far.
  struct Reading {
    std::vector<db::Value>& values;
    std::vector<bool> given;
    tables::Problem& problem;
  };

  bool readPath(const http::Exchange& exchange, Reading& reading) const;
  bool readForm(std::string_view text, QueryParameter::From only, Reading& reading) const;
  bool readBody(const http::Exchange& exchange, std::string_view body, Reading& reading) const;
  bool readJson(std::string_view text, Reading& reading) const;
  bool readText(size_t index, std::string_view text, Reading& reading) const;
  bool set(size_t index, db::Value value, Reading& reading) const;
  bool fillIn(Reading& reading) const;

  const QueryRouteConfig& config_;
  // The parameters as the columns of a table, which a JSON body is a row of.
  tables::Table table_;
  tables::TableConfig table_config_;
  tables::RestConfig rest_;
  tables::ExposedTable row_;
};

}  // namespace roost::modules::mysql
