// The command line, on top of CLI11, which takes seconds to compile: two files in plan/ alone include it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace mmafuzz {

/// A condition on the text of a value.
class Check {
 public:
  explicit Check(std::shared_ptr<CLI::Validator> validator) : validator_(std::move(validator)) {}
  CLI::Validator& validator() const { return *validator_; }

 private:
  std::shared_ptr<CLI::Validator> validator_;
};

/// A whole number of 0 or more; -1 is refused, not read as 2^64 - 1.
Check unsigned_number();
Check positive_number();
Check positive_count();  ///< a whole number above 0
/// From `least` to `greatest`, both included.
Check in_range(int least, int greatest);
Check in_range(double least, double greatest);
Check one_of(std::vector<std::string> words);
Check existing_path();

/// An option, a flag or a positional argument.
class Argument {
 public:
  explicit Argument(CLI::Option* option) : option_(option) {}
  Argument* required();
  Argument* check(const Check& check);
  Argument* delimiter(char separator);
  Argument* allow_extra_args(bool allowed);  ///< whether an option with a list takes several values at a time
  Argument* capture_default_str();           ///< --help shows the value that the variable has now
  Argument* needs(Argument* other);
  Argument* excludes(Argument* other);

 private:
  CLI::Option* option_;
};

/// The arguments of a command or subcommand, which must not outlive the variables of its options and what its callbacks
/// refer to. It owns what the returned pointers point to.
class Arguments {
 public:
  explicit Arguments(CLI::App* app) : app_(app) {}

  Arguments* add_subcommand(const std::string& name, const std::string& text);
  std::deque<Arguments>& subcommands() { return subcommands_; }
  void require_subcommand();
  Arguments* group(const std::string& name);  ///< "": not shown in --help
  Arguments* footer(const std::string& text);
  void callback(std::function<void()> run);

  /// Parses the option's value into `value`. The possible types are at the end of plan/arguments.cc.
  template <class T>
  Argument* add_option(const std::string& names, T& value, const std::string& text = "");
  /// Calls `take` with each value of the option, before any callback runs.
  Argument* add_taken_option(const std::string& names, std::function<void(const std::string&)> take,
                             const std::string& text);
  Argument* add_flag(const std::string& names, bool& value, const std::string& text = "");

  /// How often the option `name` was given.
  size_t count(const std::string& name) const;
  /// The description in CLI11, for the manual (plan/help_pages.h).
  const CLI::App& described() const { return *app_; }

 private:
  CLI::App* app_;
  std::deque<Arguments> subcommands_;
  std::deque<Argument> arguments_;
};

/// The arguments of a whole program.
class CommandLine {
 public:
  CommandLine(const std::string& text, std::function<std::string()> version, const std::string& footer);
  ~CommandLine();
  Arguments& arguments() { return arguments_; }

  /// Parses the command line and runs the callbacks of its subcommands, or prints --help or --version. Throws BadInput
  /// on a wrong call, and what callbacks throw.
  void parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
  Arguments arguments_;
};

}  // namespace mmafuzz
