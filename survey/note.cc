// The note of a survey: findings first, then a table for each kind of step.
#include "survey/book.h"

namespace mmafuzz::survey {
namespace {

std::string text_of(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value.get<double>());
    return text;
  }
  return value.dump();
}

std::string cell(const Json& row, const char* key) {
  std::string text = row.contains(key) ? text_of(row[key]) : "";
  for (char& c : text)
    if (c == '|' || c == '\n') c = '/';
  return text;
}

struct Table {
  const char* kind;
  const char* title;
  const char* text;
  std::vector<const char*> columns;
};

const std::vector<Table>& tables() {
  static const std::vector<Table> all = {
      {"facts", "Device and libraries", "", {"step", "status", "seconds", "why"}},
      {"control",
       "Positive control",
       "Recorded results of the same architecture, put to this device.",
       {"unit", "status", "cases", "differs", "unstable", "source", "why"}},
      {"published",
       "Published cases",
       "Against the claimed model; each case runs twice, at other places of the tiles.",
       {"unit", "model", "status", "cases", "differs", "unstable", "why"}},
      {"sweep",
       "Sweeps",
       "Dots share rows and columns across a tile; vectors are the independent operand sets.",
       {"unit", "model", "status", "dots", "vectors", "divergent", "unstable", "bins", "dots_per_second", "diagnosis",
        "why"}},
      {"compare",
       "Units against references",
       "Where a unit claims the reference, a difference is a divergence; elsewhere it is counted.",
       {"unit", "op", "reference", "claimed", "status", "cases", "differs", "why"}},
      {"dgemm",
       "FP64 products of large matrices",
       "Native, emulated by cuBLAS, and by our Ozaki scheme around cublasGemmEx, n x n x n; elements (uniform - 0.5) * "
       "exp(0.1 * normal). TFLOP/s are 2 n^3 by the median of the runs. error: the greatest relative error of the "
       "sampled elements; beyond: of these the number that are no numbers or outside of the bound for any order of "
       "summation (emulated: of a generous one, since none is published); differs: the number that are not the bits of "
       "the same plan in the oracles. split, products and sums: seconds of one more run. Published for comparison, "
       "TFLOP/s, emulated and native: Titan RTX "
       "0.98 and 0.54 (Mukunoki et al. 2020, fp16 slices), GH200 104 and 59.4 (GEMMul8, 14 INT8 moduli, fast mode).",
       {"n", "arithmetic", "status", "tflops", "times_native", "seconds", "runs", "error", "beyond", "differs", "split",
        "products", "sums", "why"}},
      {"tool", "Tools", "", {"step", "unit", "status", "seconds", "why"}},
  };
  return all;
}

/// The rows of a step for its table: a step that did several things holds a row for each. Status and seconds of the
/// step are not repeated in them; a step that was not finished has one more row, which says why.
std::vector<Json> rows_of(const Json& step) {
  if (!step.contains("rows")) return {step};
  Json common = step;
  for (const char* key : {"rows", "status", "why", "seconds"}) common.erase(key);
  std::vector<Json> rows;
  for (const Json& row : step["rows"]) {
    Json whole = common;
    for (const auto& [key, value] : row.items()) whole[key] = value;
    rows.push_back(std::move(whole));
  }
  if (rows.empty() || step.value("status", "") != "done") {
    for (const char* key : {"status", "why"})
      if (step.contains(key)) common[key] = step[key];
    rows.push_back(std::move(common));
  }
  return rows;
}

std::string discriminators(const Json& steps) {
  std::string text;
  for (const Json& step : steps) {
    if (step.value("kind", "") != "discriminators") continue;
    for (const Json& row : step.value("rows", Json::array()))
      text += "| " + cell(row, "point") + " | " + cell(step, "unit") + " | `" + cell(row, "case") + "` | " +
              cell(row, "got") + " | " + cell(row, "agrees") + " | " + cell(row, "disagrees") + " | " +
              cell(row, "own_agrees") + " |\n";
    if (step.value("status", "") != "done")
      text += "| | " + cell(step, "unit") + " | " + cell(step, "status") + ": " + cell(step, "why") + " | | | | |\n";
  }
  if (text.empty()) return "";
  return "\n## Open points\n\nWhat the device gives, and which readings predict that. The last column: whether the "
         "claimed model does, and the switches of it that do.\n\n"
         "| point | unit | case | device | agree | disagree | claimed model |\n|---|---|---|---|---|---|---|\n" +
         text;
}

}  // namespace

std::string note_of(const Json& document) {
  std::string text = "# Survey of " + (document.contains("device") ? text_of(document["device"]) : "a device") + "\n\n";
  text += "Written by `mmafuzz survey`" +
          (document.contains("recorded_by") ? ", " + text_of(document["recorded_by"]) : "") + ". ";
  text += document.value("complete", false)
              ? "Complete.\n"
              : "Not complete: " +
                    (document.contains("cut_short") ? text_of(document["cut_short"]) : "steps were still to come") +
                    ".\n";
  text += "\n## Findings\n\n";
  if (document["findings"].empty()) text += "None.\n";
  for (const Json& f : document["findings"])
    text += "- **" + cell(f, "kind") + "**, " + cell(f, "step") +
            (cell(f, "unit").empty() ? "" : ", `" + cell(f, "unit") + "`") + ": " + cell(f, "what") + "\n";
  for (const Table& table : tables()) {
    if (table.kind == std::string("published")) text += discriminators(document["steps"]);
    std::string rows;
    for (const Json& step : document["steps"]) {
      if (step.value("kind", "") != table.kind) continue;
      for (const Json& row : rows_of(step)) {
        rows += "|";
        for (const char* column : table.columns) rows += " " + cell(row, column) + " |";
        rows += "\n";
      }
    }
    if (rows.empty()) continue;
    text += std::string("\n## ") + table.title + "\n\n" + (*table.text ? std::string(table.text) + "\n\n" : "") + "|";
    for (const char* column : table.columns) text += " " + std::string(column) + " |";
    text += "\n|";
    for (size_t i = 0; i < table.columns.size(); ++i) text += "---|";
    text += "\n" + rows;
  }
  return text;
}

}  // namespace mmafuzz::survey
