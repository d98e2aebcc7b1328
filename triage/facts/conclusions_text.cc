#include "triage/facts/conclusions_text.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "core/fnv1a.h"
#include "core/program.h"
#include "core/text.h"
#include "triage/facts/fact_name.h"
#include "triage/facts/smallest_case.h"

namespace mmafuzz {
namespace {

std::string list_text(const char* title, const std::vector<Fact>& facts, size_t most, const ConclusionsStyle& style) {
  if (facts.empty()) return "";
  std::string text = "\n" + std::string(title) + " (" + std::to_string(facts.size()) + ")\n";
  const size_t shown = std::min(facts.size(), most);
  for (size_t i = 0; i < shown; ++i) text += fact_text(facts[i], style);
  if (shown < facts.size())
    text += "  and " + std::to_string(facts.size() - shown) + " more: " + program_name() + " findings " +
            shell_word(style.store) + "\n";
  return text;
}

/// A command that explains the witness from its file beside the store, or from its words where there is no file.
std::string explain_command(const Bucket& bucket, const std::string& store) {
  const std::filesystem::path file =
      std::filesystem::path(store).parent_path() / "witnesses" / (bucket.id() + ".cases");
  if (!std::filesystem::exists(file)) return reproduction_command(bucket, program_name());
  // Without the option, two cases of a property would be read as a case and its changed case.
  const bool needs_option = is_of_sequence(bucket.cause) && bucket.key.units.size() == 1;
  return program_name() + " explain " + (needs_option ? "--sequence " : "") + shell_word(file.string());
}

/// Known differences of rows with their smallest cases, least strangeness() first, equal ones in an order by the seed.
std::string known_text(const std::vector<Fact>& facts, const ConclusionsStyle& style) {
  std::vector<std::tuple<int, uint64_t, const Fact*>> drawn;
  for (const Fact& fact : facts)
    if (is_about_rows(fact.name))
      drawn.emplace_back(strangeness(fact.telling), fnv1a(fact.name, fnv1a(std::to_string(style.seed))), &fact);
  std::sort(drawn.begin(), drawn.end());
  std::string text;
  std::set<std::string> parameters;  // each parameter is shown once
  for (const auto& [strange, key, fact] : drawn) {
    if (parameters.size() == style.max_known) break;
    const std::string shown = smallest_case(fact->telling);
    if (shown.empty() || !parameters.insert(parts_of_fact(fact->name).subject).second) continue;
    text += wrapped(sentence(*fact) + ".", style.width, 2) + wrapped(shown, style.width, 4) + "    " +
            explain_command(fact->telling, style.store) + "\n";
  }
  if (text.empty()) return "";
  return "\n" + counted(parameters.size(), "known difference") + " of " + std::to_string(facts.size()) +
         ", others with another --seed\n" + text;
}

}  // namespace

std::string wrapped(const std::string& text, size_t width, size_t indent) {
  std::string all, line(indent, ' ');
  for (const std::string& word : words_of(text)) {
    if (line.size() > indent && line.size() + 1 + word.size() > width) {
      all += line + "\n";
      line.assign(indent, ' ');
    }
    line += (line.size() > indent ? " " : "") + word;
  }
  return all + line + "\n";
}

std::string fact_text(const Fact& fact, const ConclusionsStyle& style) {
  std::string text =
      "  " + fact.name + "\n" + wrapped(sentence(fact), style.width, 4) + wrapped(evidence(fact), style.width, 4);
  if (!fact.best.witness.empty() && !style.store.empty())
    text += "    " + explain_command(fact.best, style.store) + "\n";
  return text;
}

std::string verdict(const Conclusions& all) {
  const size_t known = all.known_contradictions();
  std::string text = !all.contradictions.empty() ? counted(all.contradictions.size(), "contradiction")
                     : known > 0                 ? "No new contradiction"
                     : all.inconclusive.empty()  ? "Nothing contradicts what is claimed"
                                                 : "";
  if (known > 0) text += "; " + counted(known, "contradiction") + " that somebody called known";
  if (!all.inconclusive.empty())
    text += (text.empty() ? "Nothing can be concluded: " : "; nothing else can be concluded: ") + all.inconclusive;
  const size_t fresh = all.fresh.size(), confirmed = all.confirmed.size();
  text += fresh == 0 ? "; no fact is new" : "; " + counted(fresh, "fact") + (fresh == 1 ? " is new" : " are new");
  return text + "; " + counted(confirmed, "known fact") + (confirmed == 1 ? " was seen." : " were seen.");
}

std::string conclusions_text(const Conclusions& all, const ConclusionsStyle& style) {
  std::string text = wrapped(verdict(all), style.width, 0) +
                     list_text("Contradictions", all.contradictions, style.max_contradictions, style) +
                     list_text("New facts", all.fresh, style.max_new, style) + known_text(all.confirmed, style);
  if (all.unseen.empty()) return text;
  text +=
      "\nExpected but not seen (" + std::to_string(all.unseen.size()) + "): the rows imply it, the search missed it\n";
  std::set<std::string> names;
  for (const auto& [name, example] : all.unseen) names.insert(name);
  return text + wrapped(joined(names, ", ", 8), style.width, 2);
}

}  // namespace mmafuzz
