#include "plan/help_pages.h"

#include <CLI/CLI.hpp>

namespace mmafuzz {
namespace {

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

ManualPage page_of(const CLI::App& app, const std::string& name, const std::string& call, const std::string& version) {
  const std::string head = app.get_description();
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

void add_pages(const CLI::App& app, const std::string& name, const std::string& call, const std::string& version,
               std::vector<ManualPage>& pages) {
  pages.push_back(page_of(app, name, call, version));
  for (const CLI::App* sub : shown_subcommands(app))
    add_pages(*sub, name + "-" + sub->get_name(), call + " " + sub->get_name(), version, pages);
}

/// Adds the branches of the script for a subcommand and those below it: to `words` the subcommands and options that can
/// follow, to `values` the words that its options take.
void add_completion(const CLI::App& app, const std::string& path, std::string& words, std::string& values) {
  std::string all;
  for (const CLI::App* sub : shown_subcommands(app)) all += sub->get_name() + " ";
  for (const CLI::Option* option : shown_options(app)) {
    for (const std::string& name : option->get_lnames()) all += "--" + name + " ";
    if (const std::string taken = words_taken(*option); !taken.empty())
      for (const std::string& name : option->get_lnames())
        values += "    '" + path + " --" + name + "') words='" + taken + "' ;;\n";
    if (takes_value(*option))
      for (const std::string& name : option->get_lnames()) values += "    '" + path + " --" + name + "') files=1 ;;\n";
  }
  words += "    '" + path + "') words='" + all + "' ;;\n";
  for (const CLI::App* sub : shown_subcommands(app)) add_completion(*sub, path + " " + sub->get_name(), words, values);
}

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

void add_paths(const CLI::App& app, const std::string& path, std::string& paths) {
  for (const CLI::App* sub : shown_subcommands(app)) {
    paths += path + " " + sub->get_name() + ";";
    add_paths(*sub, path + " " + sub->get_name(), paths);
  }
}

}  // namespace

std::vector<ManualPage> manual_pages(const Arguments& program, const std::string& version) {
  std::vector<ManualPage> pages;
  add_pages(program.described(), "mmafuzz", "mmafuzz", version, pages);
  return pages;
}

std::string bash_completion(const Arguments& program) {
  std::string words, values, paths = ";";
  add_completion(program.described(), "mmafuzz", words, values);
  add_paths(program.described(), "mmafuzz", paths);
  return script_head + values + script_middle + words + script_end + "_mmafuzz_paths='" + paths + "'\n";
}

}  // namespace mmafuzz
