// The head of an answer with rows, and what stands around the rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/buffer.h"
#include "modules/mysql/read_request.h"

namespace roost::http {
class Exchange;
class ResponseHead;
}  // namespace roost::http

namespace roost::modules::mysql {

// Estimates of more rows than this are not made exact.
constexpr uint64_t kEstimateFrom = 10'000;

// What a read has found out so far.
struct ReadFacts {
  uint64_t rows = 0;
  bool exact = false;               // total is no estimate
  std::optional<uint64_t> total;    // of all that fit the conditions, as far as it was asked for
  std::optional<uint64_t> version;  // of a single row: the hash of its version column's value
  bool too_many = false;            // rows of an embedding
};

// The number in a row's cell, of whatever type it is; 0 where it is none.
uint64_t numberIn(const db::ResultColumns& columns, const db::Row& row, size_t index) noexcept;
// Of EXPLAIN's first row: how many rows the server thinks it will look at.
uint64_t explainedRows(const db::ResultColumns& columns, const db::Row& row) noexcept;
// Where the row is one by its key and its version column is among what was selected.
void noteVersion(const tables::ExposedTable& table, const tables::ReadPlan& plan,
                 const db::ResultColumns& columns, const db::Row& row, ReadFacts& facts);

// Before the last row has come: what will have, as far as it is known. That may be wrong where rows are
// written meanwhile.
ReadFacts expected(const ReadFacts& facts, const tables::ReadPlan& plan) noexcept;
// 200, or 206 where it is known that these are not all.
int statusOf(const ReadFacts& facts) noexcept;
// Content-Type, Vary, Cache-Control, Content-Location, Preference-Applied.
void describeRows(http::Exchange& exchange, const Form& form, const tables::Preferences& preferences,
                  http::ResponseHead& head);
// Content-Range: "0-24/3573", "*/0".
void describeRange(const ReadFacts& facts, const tables::ReadPlan& plan, http::ResponseHead& head);
// A row, and what stands before it.
void appendRow(const Form& form, bool first, const tables::RowWriter& writer,
               const db::ResultColumns& columns, const db::Row& row, std::string& out);
// What stands before and behind the rows in `out`, once all of them are there or have been sent.
void finishText(const Form& form, bool merged, uint64_t rows, const tables::RowWriter& writer,
                std::string& out);
// A whole answer; what the socket does not take is not copied.
void replyShared(http::Exchange& exchange, http::ResponseHead& head, BufferRef body);
// Adds the ETag. False: what the request's conditions say has been answered, 304 or 412.
bool mayAnswer(http::Exchange& exchange, const Form& form, const std::string& tag, http::ResponseHead& head);
// Answers with the body or, where the request's conditions say so, with 304 or 412.
void replyTagged(http::Exchange& exchange, const Form& form, const ReadFacts& facts, std::string_view body,
                 http::ResponseHead& head);

tables::Problem rangeProblem(uint64_t offset, uint64_t total);
// More than `most` rows to put others into, or `stray` ones (EmbedMerge::hasStray).
tables::Problem embedProblem(uint32_t most, bool stray);
tables::Problem notOneRow();
tables::Problem notAcceptable();

}  // namespace roost::modules::mysql
