// The HTML report: verdict, buckets and, through report_sections.h, the rest.
#include "triage/report/report.h"

#include <fmt/core.h>

#include <algorithm>

#include "triage/explain/explain.h"
#include "triage/explain/explanation_svg.h"
#include "triage/explain/markup.h"
#include "triage/report/report_page.h"
#include "triage/report/report_sections.h"

namespace mmafuzz {
namespace {

constexpr size_t room_for_buckets = 900000;    ///< bytes of the page for all buckets without witness and explanation
constexpr size_t room_for_witnesses = 400000;  ///< bytes for witnesses and commands
constexpr size_t markup_of_bucket = 420;       ///< bytes of tags around a bucket's texts, at most

struct SeverityText {
  Severity severity;
  const char* title;
  const char* meaning;
};
constexpr SeverityText severity_texts[] = {
    {Severity::contract, "Contract", "A unit differs from what its row claims: a bug somewhere."},
    {Severity::accuracy, "Accuracy", "A result lies beyond the proven error bound of its unit."},
    {Severity::semantic, "Semantic", "Units that are meant to differ do differ, once for each kind."},
};

bool is_failure(const Bucket& b) { return b.severity == Severity::contract && b.status != BucketStatus::expected; }

/// A number that fits a tile: "999,999", "15.2 M", "3.20 T".
std::string rounded(uint64_t n) {
  if (n < 1000000) return counted(n);
  double value = double(n) / 1e6;
  const char* unit = "MGTPE";
  for (; value >= 999.5; value /= 1000) ++unit;
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, *unit);
}

std::string kinds(size_t n, const char* what) {
  return fmt::format("{} kind{} of {} divergence", n, n == 1 ? "" : "s", what);
}

void add_verdict(const ReportData& data, PageData& page) {
  const auto count = [&](auto test) {
    return static_cast<size_t>(std::count_if(data.buckets.begin(), data.buckets.end(), test));
  };
  const auto of = [&](Severity s) { return count([=](const Bucket& b) { return b.severity == s; }); };
  const size_t failing = count(is_failure), contract = of(Severity::contract), accuracy = of(Severity::accuracy),
               semantic = of(Severity::semantic);
  const size_t unexplained_count = count([](const Bucket& b) { return b.cause == unexplained; });
  std::string verdict;
  if (has_untriaged(data)) verdict = "Not triaged: some divergences are in no bucket, so that nothing can be concluded";
  else if (failing) verdict = "A contract is broken: " + kinds(failing, "contract");
  else if (contract) verdict = "No contract is broken but as expected: " + kinds(contract, "contract");
  else if (data.buckets.empty()) verdict = "Nothing diverges";
  else verdict = "No contract is broken: " + (accuracy ? kinds(accuracy, "accuracy") : kinds(semantic, "semantic"));
  if (failing) {
    const size_t open = count([](const Bucket& b) { return is_failure(b) && b.cause == unexplained; });
    if (open) verdict += fmt::format(", {} of them unexplained", open);
  }
  page.set("verdict", verdict + ".");
  page.set("verdict_class", failing ? "contract" : "good");
  uint64_t cases = 0;
  for (const CampaignRecord& c : data.campaigns) cases += c.cases;
  PageData tiles(PageData::type::list);
  const auto tile = [&](const std::string& number, const char* what, const char* cls) {
    PageData t;
    t.set("number", number);
    t.set("what", what);
    t.set("class", cls);
    tiles.push_back(t);
  };
  tile(counted(contract), "contract", contract ? "contract" : "");
  tile(counted(accuracy), "accuracy", accuracy ? "accuracy" : "");
  tile(counted(semantic), "semantic", semantic ? "semantic" : "");
  tile(counted(unexplained_count), "unexplained", unexplained_count ? "contract" : "");
  if (!data.campaigns.empty()) {
    tile(counted(data.campaigns.size()), data.campaigns.size() == 1 ? "campaign" : "campaigns", "");
    tile(rounded(cases), "cases", "");
  }
  page.set("tiles", tiles);
}

PageData bucket_data(const Bucket& b) {
  PageData data;
  data.set("id", b.id());
  data.set("cause", b.cause);
  data.set("line", b.line());
  data.set("status", name_of(b.status));
  data.set("count", counted(b.count) + (b.count == 1 ? " divergence" : " divergences"));
  if (!b.detail.empty()) data.set("detail", b.detail);
  if (!b.note.empty()) data.set("note", b.note);
  if (b.first_seen)
    data.set("facts", fmt::format("first seen {}, last {}, seed {}; {} nonzero addends", date_text(b.first_seen),
                                  date_text(b.last_seen), b.seed, b.addends));
  return data;
}

/// The explanation as SVG; empty, with the reason, where there is none.
std::string explanation_of(const Bucket& b, const Registry& registry, std::string& reason) {
  try {
    return explanation_svg(explain_witness(b.witness, registry));
  } catch (const std::exception& e) {
    reason = std::string("No explanation: ") + e.what();
    return "";
  }
}

/// Takes `bytes` from what is left, or says that they do not fit.
bool take(size_t& left, size_t bytes) {
  if (bytes > left) return false;
  left -= bytes;
  return true;
}

/// Buckets by severity, as much of each as fits: first all the lines, then witnesses, then explanations until the page
/// is full.
void add_buckets(const ReportData& data, const Registry& registry, size_t room, PageData& page) {
  size_t lines_left = std::min(room, room_for_buckets), witnesses_left = room_for_witnesses;
  size_t shown = 0, used = 0;
  for (const Bucket& b : data.buckets) {
    const size_t bytes = markup_of_bucket + escaped(b.line() + b.cause + b.detail + b.note).size();
    if (!take(lines_left, bytes)) break;
    used += bytes;
    ++shown;
  }
  const auto witness_bytes = [](const Bucket& b) { return escaped(b.witness + b.command).size(); };
  size_t witnessed = 0;
  for (; witnessed < shown; ++witnessed) {
    const size_t bytes = witness_bytes(data.buckets[witnessed]);
    if (used + bytes > room || !take(witnesses_left, bytes)) break;
    used += bytes;
  }
  size_t explanations_left = room - std::min(room, used), explained = 0;
  bool full = false;
  PageData severities(PageData::type::list);
  for (const SeverityText& text : severity_texts) {
    PageData buckets(PageData::type::list);
    for (size_t i = 0; i < shown; ++i) {
      const Bucket& b = data.buckets[i];
      if (b.severity != text.severity) continue;
      PageData one = bucket_data(b);
      if (i < witnessed) {
        one.set("witness", b.witness);
        if (!b.command.empty()) one.set("command", b.command);
        std::string reason;
        const std::string svg = full ? "" : explanation_of(b, registry, reason);
        full = full || !take(explanations_left, svg.size() + reason.size());
        if (!full && svg.empty()) one.set("no_explanation", reason);
        if (!full && !svg.empty()) {
          PageData explanation;
          explanation.set("svg", svg);
          if (explained++ == 0) explanation.set("open", PageData(PageData::type::bool_true));
          one.set("explanation", explanation);
        }
      }
      buckets.push_back(one);
    }
    if (buckets.is_empty_list()) continue;
    PageData severity;
    severity.set("severity", name_of(text.severity));
    severity.set("title", fmt::format("{}: {}", text.title,
                                      counted(static_cast<uint64_t>(std::count_if(
                                          data.buckets.begin(), data.buckets.end(),
                                          [&](const Bucket& b) { return b.severity == text.severity; })))));
    severity.set("meaning", text.meaning);
    severity.set("buckets", buckets);
    severities.push_back(severity);
  }
  page.set("severities", severities);
  std::string left_out;
  if (full)
    left_out +=
        fmt::format("The bits of the first {} witnesses are drawn; mmafuzz explain shows the others. ", explained);
  if (witnessed < shown)
    left_out +=
        fmt::format("Witnesses of the first {} buckets are shown; mmafuzz findings prints the others. ", witnessed);
  if (shown < data.buckets.size())
    left_out +=
        fmt::format("The first {} of {} buckets are shown; mmafuzz findings lists all.", shown, data.buckets.size());
  if (!left_out.empty()) page.set("left_out", left_out);
}

std::string rendered(const PageData& page) {
  kainjow::mustache::mustache page_template{std::string(report_page)};
  page_template.set_custom_escape(escaped);
  return page_template.render(page);
}

}  // namespace

std::string html_report(const ReportData& data, const Registry& registry) {
  PageData page;
  add_verdict(data, page);
  add_matrices(data, page);
  add_coverage(data, page);
  add_charts(data, page);
  add_campaigns(data, page);
  const size_t others = rendered(page).size();
  add_buckets(data, registry, greatest_page - std::min(greatest_page, others), page);
  return rendered(page);
}

}  // namespace mmafuzz
