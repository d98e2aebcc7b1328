#include "plan/help_pages.h"

#include <CLI/CLI.hpp>

namespace mmafuzz {
namespace {

/// The items that --help shows: CLI11 hides those without a group.
template <class Item>
std::vector<const Item*> shown(std::vector<const Item*> items) {
  std::erase_if(items, [](const Item* item) { return item->get_group().empty(); });
  return items;
}
std::vector<const CLI::App*> shown_subcommands(const CLI::App& app) { return shown(app.get_subcommands({})); }
std::vector<const CLI::Option*> shown_options(const CLI::App& app) { return shown(app.get_options()); }

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0; }

/// The words that an option takes, separated by spaces, from "{a,b,c}" in CLI11's name of its type; "" for any value.
std::string words_taken(const CLI::Option& option) {
  std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return "";
  type = type.substr(begin + 1, end - begin - 1);
  std::replace(type.begin(), type.end(), ',', ' ');
  return type;
}

/// Text as it is written in roff, the language of manual pages.
std::string roff(const std::string& text) {
  std::string escaped;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') escaped += "\\e";
    else if (c == '-') escaped += "\\-";
    else escaped += c;
    line_start = c == '\n';
  }
  return escaped;
}

/// The names of an option and its type, "-o, --output FILE"; of a positional argument its name.
std::string names_of(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += (text.empty() ? "" : ", ") + ("-" + name);
  for (const std::string& name : option.get_lnames()) text += (text.empty() ? "" : ", ") + ("--" + name);
  if (text.empty()) return option.get_single_name();
  return takes_value(option) ? text + " " + option.get_type_name() : text;
}

/// The page of a command. `call` is what a user types for it: "mmafuzz bench rate".
ManualPage page_of(const CLI::App& app, const std::string& call, const std::string& version) {
  std::string name = call, head = app.get_description();
  std::replace(name.begin(), name.end(), ' ', '-');
  std::string text = ".TH " + roff(name) + " 1 \"\" \"" + roff("mmafuzz " + version) + "\" \"mmafuzz\"\n.SH NAME\n" +
                     roff(name) + " \\- " + roff(head.starts_with("mmafuzz: ") ? head.substr(9) : head) +
                     "\n.SH SYNOPSIS\n.B " + roff(call) + "\n";
  const std::vector<const CLI::App*> subs = shown_subcommands(app);
  if (!subs.empty()) text += "SUBCOMMAND\n";
  for (const CLI::Option* option : shown_options(app))
    if (option->get_positional())
      text += roff(option->get_required() ? option->get_single_name() : "[" + option->get_single_name() + "]") +
              (option->get_expected_max() > 1 ? "...\n" : "\n");
  text += "[options]\n";
  std::string options;
  for (const CLI::Option* option : shown_options(app)) {
    options += ".TP\n.B " + roff(names_of(*option)) + "\n" + roff(option->get_description());
    if (!option->get_default_str().empty()) options += roff(" [" + option->get_default_str() + "]");
    options += "\n";
  }
  if (!options.empty()) text += ".SH OPTIONS\n" + options;
  if (!subs.empty()) {
    text += ".SH SUBCOMMANDS\n";
    for (const CLI::App* sub : subs)
      text += ".TP\n.B " + roff(sub->get_name()) + "\n" + roff(sub->get_description()) + "\n";
  }
  if (!app.get_footer().empty()) text += ".SH NOTES\n.nf\n" + roff(app.get_footer()) + "\n.fi\n";
  return {name, text};
}

void add_pages(const CLI::App& app, const std::string& call, const std::string& version,
               std::vector<ManualPage>& pages) {
  pages.push_back(page_of(app, call, version));
  for (const CLI::App* sub : shown_subcommands(app)) add_pages(*sub, call + " " + sub->get_name(), version, pages);
}

/// What the completion script says of each command. The first two are branches of a `case`.
struct Completion {
  std::string after_options, after_commands;  ///< the words or files that an option takes; what can follow a command
  std::string calls = ";";                    ///< ";mmafuzz bench;mmafuzz bench rate;..."
};

void add_completion(const CLI::App& app, const std::string& call, Completion& script) {
  std::string followers;
  for (const CLI::App* sub : shown_subcommands(app)) followers += sub->get_name() + " ";
  for (const CLI::Option* option : shown_options(app))
    for (const std::string& name : option->get_lnames()) {
      const std::string branch = "    '" + call + " --" + name + "') ", words = words_taken(*option);
      followers += "--" + name + " ";
      if (!words.empty()) script.after_options += branch + "words='" + words + "' ;;\n";
      if (takes_value(*option)) script.after_options += branch + "files=1 ;;\n";
    }
  script.after_commands += "    '" + call + "') words='" + followers + "' ;;\n";
  for (const CLI::App* sub : shown_subcommands(app)) {
    script.calls += call + " " + sub->get_name() + ";";
    add_completion(*sub, call + " " + sub->get_name(), script);
  }
}

// The script: script_head, after_options, script_middle, after_commands, script_end, calls. In it, `path` is the
// command before the cursor, `begun` what stands before the last comma of the word there, `words` what can stand there.
constexpr char script_head[] =
    R"sh(# bash completion of mmafuzz. Written by `mmafuzz help-pages` from the command's own help.
_mmafuzz() {
  local cur prev words cword
  _init_completion -n := || return
  local path=mmafuzz next files='' i
  for ((i = 1; i < cword; ++i)); do
    next=$path\ ${words[i]}
    [[ ' '$_mmafuzz_paths' ' == *";$next;"* ]] && path=$next
  done
  words=''
  case "$path $prev" in
    *' --unit' | *' --units') words=$(mmafuzz list 2>/dev/null | cut -d ' ' -f 1)' default' ;;
    *' --targets' | *' --target') words=$(mmafuzz list targets 2>/dev/null | cut -d ' ' -f 1) ;;
)sh";

constexpr char script_middle[] = R"sh(    *) words='' ;;
  esac
  local begun=${cur%,*},
  [[ $cur == *,* ]] || begun=''
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -P "$begun" -W "$words" -- "${cur##*,}"))
    __ltrim_colon_completions "$cur"
    return
  fi
  [[ -z $files ]] || { _filedir; return; }
  case "$path" in
)sh";

constexpr char script_end[] = R"sh(  esac
  [[ $cur == -* || $path == mmafuzz || $path == 'mmafuzz bench' ]] && COMPREPLY=($(compgen -W "$words" -- "$cur")) || _filedir
}
complete -F _mmafuzz mmafuzz
)sh";

}  // namespace

std::vector<ManualPage> manual_pages(const Arguments& program, const std::string& version) {
  std::vector<ManualPage> pages;
  add_pages(program.described(), "mmafuzz", version, pages);
  return pages;
}

std::string bash_completion(const Arguments& program) {
  Completion script;
  add_completion(program.described(), "mmafuzz", script);
  return script_head + script.after_options + script_middle + script.after_commands + script_end + "_mmafuzz_paths='" +
         script.calls + "'\n";
}

}  // namespace mmafuzz
