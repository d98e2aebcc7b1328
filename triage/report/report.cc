// The HTML report: verdict, facts and, through report_sections.h, the rest.
#include "triage/report/report.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/case_text.h"
#include "core/text.h"
#include "triage/explain/explain.h"
#include "triage/explain/explanation_svg.h"
#include "triage/explain/markup.h"
#include "triage/explain/number_text.h"
#include "triage/facts/conclusions_text.h"
#include "triage/report/page_address.h"
#include "triage/report/report_sections.h"

namespace mmafuzz {
namespace {

constexpr size_t units_shown = 40;   ///< limit for a fact
constexpr size_t facts_shown = 300;  ///< limit for a page

/// A number that fits a tile: "999,999", "15.2 M", "3.20 T".
std::string rounded(uint64_t n) {
  if (n < 1000000) return with_commas(n);
  double value = double(n) / 1e6;
  const char* unit = "MGTPE";
  for (; value >= 999.5; value /= 1000) ++unit;
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, *unit);
}

void add_verdict(const ReportData& data, Conclusions all, PageData& page) {
  all.inconclusive = why_inconclusive(data);
  const bool wrong = !all.inconclusive.empty() || !all.contradictions.empty();
  page.set("verdict", verdict(all));
  page.set("verdict_class", wrong ? "contract" : "good");
  uint64_t cases = 0;
  for (const CampaignRecord& c : data.campaigns) cases += c.cases;
  PageData tiles = page_list();
  const auto tile = [&](const std::string& number, const char* what, const char* cls) {
    tiles.push_back(page_object({{"number", number}, {"what", what}, {"class", cls}}));
  };
  tile(with_commas(all.contradictions.size()), "contradictions", all.contradictions.empty() ? "" : "contract");
  tile(with_commas(all.fresh.size()), "new facts", all.fresh.empty() ? "" : "semantic");
  tile(with_commas(all.confirmed.size()), "known facts", "");
  tile(with_commas(data.buckets.size()), "buckets behind them", "");
  if (!data.campaigns.empty()) {
    tile(with_commas(data.campaigns.size()), data.campaigns.size() == 1 ? "campaign" : "campaigns", "");
    tile(rounded(cases), "cases", "");
  }
  page.set("tiles", tiles);
}

/// The explanation of a witness as SVG; empty where that fails, with the text of the error in `reason`.
std::string explanation_of(const Bucket& b, const Registry& registry, std::string& reason) {
  try {
    return explanation_svg(explain_witness(b.witness, registry));
  } catch (const std::exception& e) {
    reason = std::string("No explanation: ") + e.what();
    return "";
  }
}

/// The results of a bucket's witness, of two units on its last case, or of one unit on its case and changed case. A
/// unit that does not bind or answer is left out.
PageData results_of(const Bucket& bucket, const Registry& registry) {
  PageData list = page_list();
  CaseReader reader("witness", bucket.witness);
  CaseBlock block;
  if (!reader.next(block, SIZE_MAX)) return list;
  const size_t first = bucket.key.units.size() == 2 ? block.batch.size() - 1 : 0;  // the end of a sequence
  for (const std::string& name : bucket.key.units) {
    const Result<std::unique_ptr<Unit>> unit = registry.bind(name, block.batch.op());
    if (!unit) continue;
    const Outcomes outcomes = (*unit)->outcomes_of(block.batch);
    const Op& op = block.batch.op();
    for (size_t i = first; i < block.batch.size(); ++i) {
      const bool repeated = i > first && case_line(block.batch, i) == case_line(block.batch, 0);
      if (!outcomes.has_answer(i) || repeated) continue;
      const std::string result = explained_number(op.result_format(0), outcomes.results.get(i)).to_string();
      list.push_back(page_object({{"unit", name + (i > first ? ", the changed case" : "")}, {"result", result}}));
    }
  }
  return list;
}

/// `bits` and `version` of html_report().
struct PageOfBits {
  std::string address, version;
};

/// A fact's anchor on the page is its name, so that a link into a report fits the next report too. Blanks, which an id
/// must not have, and percent signs, which an address interprets, become '_'.
std::string anchor_of(const Fact& fact) {
  std::string anchor = fact.name;
  std::replace_if(
      anchor.begin(), anchor.end(), [](char ch) { return ch == ' ' || ch == '%'; }, '_');
  return anchor;
}

PageData fact_data(const Fact& fact, const Registry& registry, const PageOfBits& bits) {
  const std::string counts = with_commas(fact.divergences) + (fact.divergences == 1 ? " divergence" : " divergences") +
                             " in " + with_commas(fact.buckets.size()) +
                             (fact.buckets.size() == 1 ? " bucket" : " buckets");
  PageData data = page_object({{"anchor", anchor_of(fact)},
                               {"name", fact.name},
                               {"severity", name_of(fact.severity)},
                               {"sentence", sentence(fact)},
                               {"evidence", evidence(fact) + "; " + counts},
                               {"units", joined(fact.units, ", ", units_shown)},
                               {"ops", joined(fact.ops, ", ")}});
  if (!fact.best.note.empty()) data.set("note", fact.best.note);
  if (fact.best.first_seen)
    data.set("when", fmt::format("its witness: first seen {}, last {}, seed {}", date_text(fact.best.first_seen),
                                 date_text(fact.best.last_seen), fact.best.seed));
  if (!fact.reason.empty()) data.set("reason", fact.reason);
  if (!fact.best.witness.empty()) {
    data.set("witness", fact.best.witness);
    data.set("results", results_of(fact.best, registry));
  }
  if (const std::string command = reproduction_command(fact.best); !command.empty()) {
    data.set("command", command);
    if (!bits.address.empty())
      data.set("bits", bits.address + page_address(bits.version, reproduction_words(fact.best)));
  }
  return data;
}

/// Adds the facts in their lists, each with its picture as long as the pictures fit into `room` bytes.
void add_facts(const Conclusions& all, const Registry& registry, size_t room, const PageOfBits& bits, PageData& page) {
  struct List {
    const char *id, *title, *meaning;
    const std::vector<Fact>& facts;
  };
  const List lists[] = {
      {"contradictions", "Contradictions", "A broken claim, or what nothing explains: a bug somewhere.",
       all.contradictions},
      {"new", "New facts", "Not in the folder of known facts, and nobody called them known or expected.", all.fresh},
      {"known", "Known facts", "Seen again.", all.confirmed}};
  size_t left = room, bare = 0, shown = 0;
  PageData sections = page_list();
  for (const List& list : lists) {
    if (list.facts.empty()) continue;
    PageData facts = page_list();
    for (const Fact& fact : list.facts) {
      if (shown >= facts_shown) break;
      ++shown;
      PageData one = fact_data(fact, registry, bits);
      std::string reason;
      const bool has_witness = !fact.best.witness.empty();
      const std::string svg = !has_witness || room == 0 ? "" : explanation_of(fact.best, registry, reason);
      if ((has_witness && room == 0) || svg.size() + reason.size() > left) {
        ++bare;
      } else {
        left -= svg.size() + reason.size();
        if (!svg.empty()) one.set("svg", svg);
        if (svg.empty() && !reason.empty()) one.set("no_explanation", reason);
      }
      facts.push_back(one);
    }
    PageData section = page_object({{"id", list.id},
                                    {"title", fmt::format("{}: {}", list.title, with_commas(list.facts.size()))},
                                    {"meaning", list.meaning},
                                    {"facts", facts}});
    if (&list.facts != &all.confirmed) section.set("open", PageData(PageData::type::bool_true));
    sections.push_back(section);
  }
  page.set("sections", sections);
  std::string left_out;
  if (bare) left_out = fmt::format("There is no room for the bits of {} facts; mmafuzz explain shows them. ", bare);
  const size_t count = all.contradictions.size() + all.fresh.size() + all.confirmed.size();
  if (count > facts_shown)
    left_out += fmt::format("The first {} of {} facts are shown; mmafuzz findings lists all.", facts_shown, count);
  page.set("left_out", left_out.empty() ? PageData(PageData::type::bool_false) : PageData(left_out));
}

std::string rendered(const PageData& page) {
  kainjow::mustache::mustache page_template{std::string(report_page)};
  page_template.set_custom_escape(escaped);
  return page_template.render(page);
}

}  // namespace

std::string html_report(const ReportData& data, const Knowledge& knowledge, const Registry& registry,
                        const std::string& bits, const std::string& version) {
  const Conclusions all = conclude(data.buckets, knowledge, {});
  FactsOfBuckets numbers;
  std::vector<int64_t> first_seen;
  for (const std::vector<Fact>* list : {&all.contradictions, &all.fresh, &all.confirmed})
    for (const Fact& fact : *list) {
      if (first_seen.size() < facts_shown)
        for (const std::string& id : fact.buckets) numbers[id].emplace_back(first_seen.size(), anchor_of(fact));
      first_seen.push_back(fact.first_seen);
    }
  PageData page;
  add_verdict(data, all, page);
  add_matrices(data, numbers, page);
  add_coverage(data, page);
  add_charts(data, page);
  add_trends(data, page);
  add_campaigns(data, first_seen, page);
  add_facts(all, registry, 0, {bits, version}, page);
  const size_t without_pictures = rendered(page).size();
  add_facts(all, registry, greatest_page - std::min(greatest_page, without_pictures), {bits, version}, page);
  return rendered(page);
}

}  // namespace mmafuzz
