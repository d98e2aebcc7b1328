#include "plan/arguments.h"

#include <charconv>
#include <CLI/CLI.hpp>

#include "core/text.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

template <class Validator>
Check made(Validator validator) {
  return Check(std::make_shared<CLI::Validator>(std::move(validator)));
}

/// Takes off the zeros that a number begins with, as CLI11 would read an octal number.
std::string without_leading_zeros(std::string& text) {
  const size_t sign = text.starts_with('-') || text.starts_with('+');
  while (text.size() > sign + 1 && text[sign] == '0' && '0' <= text[sign + 1] && text[sign + 1] <= '9')
    text.erase(sign, 1);
  return "";
}

}  // namespace

Check unsigned_number() {
  return made(CLI::Validator(
      [](std::string& text) {
        const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        uint64_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (digits && error == std::errc::result_out_of_range) return "'" + text + "' is above 2^64 - 1";
        return digits ? std::string() : "'" + text + "' is not a whole number of 0 or more";
      },
      "UINT"));
}

Check positive_number() {
  return made(CLI::Validator(
      [](std::string& text) {
        double value = 0;
        const bool good = parse_number(text, value) && value > 0 && value < 1e300;
        return good ? std::string() : "'" + text + "' is not a number above 0";
      },
      "POSITIVE"));
}
Check positive_count() {
  return made(CLI::Validator(
      [whole = unsigned_number(), positive = positive_number()](std::string& text) {
        const std::string wrong = whole.validator()(text);
        return wrong.empty() ? positive.validator()(text) : wrong;
      },
      "UINT:POSITIVE"));
}
Check in_range(int least, int greatest) { return made(CLI::Range(least, greatest)); }
Check in_range(double least, double greatest) { return made(CLI::Range(least, greatest)); }
Check one_of(std::vector<std::string> words) { return made(CLI::IsMember(std::move(words))); }
Check existing_path() { return made(CLI::ExistingPath); }

Argument* Argument::required() {
  option_->required();
  return this;
}

Argument* Argument::check(const Check& check) {
  option_->check(check.validator());
  return this;
}

Argument* Argument::delimiter(char separator) {
  option_->delimiter(separator);
  return this;
}

Argument* Argument::allow_extra_args(bool allowed) {
  option_->allow_extra_args(allowed);
  return this;
}

Argument* Argument::capture_default_str() {
  option_->capture_default_str();
  return this;
}

Argument* Argument::needs(Argument* other) {
  option_->needs(other->option_);
  return this;
}

Argument* Argument::excludes(Argument* other) {
  option_->excludes(other->option_);
  return this;
}

Arguments* Arguments::add_subcommand(const std::string& name, const std::string& text) {
  return &subcommands_.emplace_back(app_->add_subcommand(name, text));
}

void Arguments::require_subcommand() { app_->require_subcommand(1); }

Arguments* Arguments::group(const std::string& name) {
  app_->group(name);
  return this;
}

Arguments* Arguments::footer(const std::string& text) {
  app_->footer(text);
  return this;
}

void Arguments::callback(std::function<void()> run) { app_->callback(std::move(run)); }

template <class T>
Argument* Arguments::add_option(const std::string& names, T& value, const std::string& text) {
  CLI::Option* option = app_->add_option(names, value, text);
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::vector<uint64_t>>)
    option->transform(CLI::Validator(without_leading_zeros, ""));
  return &arguments_.emplace_back(option);
}

Argument* Arguments::add_taken_option(const std::string& names, std::function<void(const std::string&)> take,
                                      const std::string& text) {
  const auto take_all = [take = std::move(take)](const std::vector<std::string>& values) {
    for (const std::string& value : values) take(value);
  };
  return &arguments_.emplace_back(app_->add_option_function<std::vector<std::string>>(names, take_all, text));
}

Argument* Arguments::add_flag(const std::string& names, bool& value, const std::string& text) {
  return &arguments_.emplace_back(app_->add_flag(names, value, text));
}

size_t Arguments::count(const std::string& name) const { return app_->count(name); }

CommandLine::CommandLine(const std::string& text, std::function<std::string()> version, const std::string& footer)
    : app_(std::make_unique<CLI::App>(text, "mmafuzz")), arguments_(app_.get()) {
  app_->set_version_flag("--version", std::move(version));
  app_->require_subcommand(1);
  app_->footer(footer);
}

CommandLine::~CommandLine() = default;

void CommandLine::parse(int argc, char** argv) {
  if (argc > 1 && argv[1][0] != '-') {
    std::string known;
    bool found = false;
    for (const CLI::App* sub : app_->get_subcommands({})) {
      if (!sub->get_group().empty()) known += " " + sub->get_name();
      found = found || sub->get_name() == argv[1];
    }
    if (!found) throw BadInput(std::string("unknown subcommand '") + argv[1] + "'; known:" + known);
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    app_->exit(e);
  } catch (const CLI::ParseError& e) {
    throw BadInput(std::string(e.what()) + "; see mmafuzz --help");
  }
}

template Argument* Arguments::add_option(const std::string&, std::string&, const std::string&);
template Argument* Arguments::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Argument* Arguments::add_option(const std::string&, double&, const std::string&);
template Argument* Arguments::add_option(const std::string&, int&, const std::string&);
template Argument* Arguments::add_option(const std::string&, unsigned&, const std::string&);
template Argument* Arguments::add_option(const std::string&, uint64_t&, const std::string&);
template Argument* Arguments::add_option(const std::string&, int64_t&, const std::string&);
template Argument* Arguments::add_option(const std::string&, std::vector<uint64_t>&, const std::string&);

}  // namespace mmafuzz
