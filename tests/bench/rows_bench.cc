// links: roost_tables benchmark::benchmark
// What a row costs as JSON, straight from the binary row, beside the same by snprintf and one character at a
// time; and what strings cost by length.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tables/json_text.h"
#include "tables/output.h"
#include "tables/text_sink.h"

namespace {

using roost::db::Cell;
using roost::db::ResultColumns;
using roost::db::Row;
using roost::db::Type;
using roost::tables::OutputColumn;
using roost::tables::RowWriter;

constexpr int kRows = 100;

template <class T>
std::string bytesOf(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// An order: id, customer, status, total, time, weight, a note.
struct Sample {
  std::vector<std::string> values = {bytesOf(int64_t{1234567}),
                                     bytesOf(int32_t{4711}),
                                     "shipped",
                                     "1234.50",
                                     bytesOf(uint16_t{2026}) + "\x0b\x14\x16\x0d\x05",
                                     bytesOf(12.375),
                                     "left with the neighbours, ring twice \"at the back\""};
  std::vector<Type> types = {Type::kInt,      Type::kInt,    Type::kText, Type::kDecimal,
                             Type::kDateTime, Type::kDouble, Type::kText};
  std::vector<std::string> names = {"id", "customer_id", "status", "total", "placed_at", "weight", "note"};
  std::vector<OutputColumn> columns;
  ResultColumns results;
  std::vector<Cell> cells;

  Sample() {
    for (size_t i = 0; i < values.size(); ++i) {
      OutputColumn column;
      column.name = names[i];
      column.json_key = "\"" + names[i] + "\":";
      columns.push_back(column);
      results.emplace_back();
      results.back().type = types[i];
      cells.push_back({values[i].data(), values[i].size()});
    }
  }
};

void rowsByRowWriter(benchmark::State& state) {
  const Sample sample;
  const RowWriter writer(sample.columns, {});
  std::string out;
  for (auto _ : state) {
    out.clear();
    for (int i = 0; i < kRows; ++i) {
      out += ',';
      writer.object(sample.results, Row(sample.cells.data(), sample.cells.size()), out);
    }
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(rowsByRowWriter);

void escapeByCharacter(const Cell& cell, std::string& out) {
  out += '"';
  for (const char c : cell.view()) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void rowsBySnprintf(benchmark::State& state) {
  const Sample sample;
  std::string out;
  for (auto _ : state) {
    out.clear();
    for (int i = 0; i < kRows; ++i) {
      char text[64];
      for (size_t k = 0; k < sample.cells.size(); ++k) {
        const Cell& cell = sample.cells[k];
        out += k == 0 ? "{\"" : ",\"";
        out += sample.names[k];
        out += "\":";
        switch (sample.types[k]) {
          case Type::kInt:
            std::snprintf(text, sizeof text, "%lld", static_cast<long long>(roost::db::readInt(cell)));
            out += text;
            break;
          case Type::kDouble:
            std::snprintf(text, sizeof text, "%.17g", roost::db::readDouble(cell));
            out += text;
            break;
          case Type::kDateTime: {
            const auto moment = roost::db::readMoment(Type::kDateTime, cell);
            std::snprintf(text, sizeof text, "\"%04u-%02u-%02uT%02u:%02u:%02u+00:00\"", moment.year,
                          moment.month, moment.day, moment.hour, moment.minute, moment.second);
            out += text;
            break;
          }
          case Type::kDecimal:
            out += cell.view();
            break;
          default:
            escapeByCharacter(cell, out);
        }
      }
      out += '}';
    }
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(rowsBySnprintf);

std::string textOf(int64_t size, bool umlauts) {
  std::string text;
  while (static_cast<int64_t>(text.size()) < size)
    text += umlauts ? "gr\xc3\xb6\xc3\x9f"
                      "er als "
                    : "plain text and ";
  text.resize(static_cast<size_t>(size));
  return text;
}

void stringsByBlocks(benchmark::State& state) {
  const std::string text = textOf(state.range(0), state.range(1) != 0);
  std::string out;
  for (auto _ : state) {
    out.clear();
    roost::tables::appendJsonString(text, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(stringsByBlocks)->ArgsProduct({{8, 40, 200, 4000}, {0, 1}});

void stringsByCharacter(benchmark::State& state) {
  const std::string text = textOf(state.range(0), false);
  std::string out;
  for (auto _ : state) {
    out.clear();
    escapeByCharacter({text.data(), text.size()}, out);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(stringsByCharacter)->Arg(8)->Arg(40)->Arg(200)->Arg(4000);

void jsonChecked(benchmark::State& state) {
  std::string text = "[";
  for (int i = 0; text.size() < 4000; ++i)
    text += "{\"name\":\"colour\",\"size\":" + std::to_string(i) + ",\"tags\":[true,null]},";
  text.back() = ']';
  for (auto _ : state) benchmark::DoNotOptimize(roost::tables::isJson(text));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}
BENCHMARK(jsonChecked);

}  // namespace

BENCHMARK_MAIN();
