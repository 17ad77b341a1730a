// ORDER BY, and the condition that goes on behind a row. Within tables/ only.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tables/sql_context.h"

namespace roost::tables {

// An order made ready for one statement.
class Ordering {
 public:
  // What is referred to outlives it.
  explicit Ordering(const SqlContext& context) noexcept : context_(context) {}

  // The order that `query` asks for. Where it is for paging (`total`), the primary key is added if it does
  // not tell every row from every other. False: the problem is told.
  bool read(const Query& query, bool total);
  bool empty() const noexcept { return terms_.empty(); }
  const std::vector<const Column*>& columns() const noexcept {
    return columns_;
  }  // empty: not of columns alone

  void appendOrderBy(db::Statement& out) const;  // " ORDER BY ..."; nothing where there is no order
  // What is behind the row whose values `query.after` has, in this order. False: the problem is told.
  bool appendAfter(const Query& query, db::Statement& out) const;

 private:
  struct Term {
    Operand operand;
    const SelectItem* relation = nullptr;  // whose column it is
    bool descending = false;
    bool nulls_first = false;
    bool nullable = false;
  };

  bool readTerm(const OrderTerm& asked, const Query& query);
  bool readRelation(const OrderTerm& asked, const Query& query, Term& term);
  bool isOwnColumn(const Term& term) const noexcept;
  void complete(const Query& query);
  bool coversKey() const;
  void appendTerm(const Term& term, db::Statement& out) const;
  void appendExpression(const Term& term, db::Statement& out) const;
  void appendJsonKeys(const Term& term, db::Statement& out) const;
  bool appendBehind(const Query& query, size_t index, db::Statement& out) const;
  bool appendBehindNull(const Query& query, size_t index, db::Statement& out) const;
  bool valueOf(const Term& term, const std::string& text, db::Value& value) const;

  const SqlContext& context_;
  std::vector<Term> terms_;
  std::vector<const Column*> columns_;
  bool total_ = false;
};

}  // namespace roost::tables
