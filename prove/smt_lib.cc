#include "prove/smt_lib.h"

#include <cctype>
#include <sstream>

#include "prove/evaluate.h"

namespace mmafuzz::prove {
namespace {

std::string sort_of(int width) { return "(_ BitVec " + std::to_string(width) + ")"; }

std::string literal(const Bits& value, int width) {
  std::string text = "#b";
  for (int i = width - 1; i >= 0; --i) text += static_cast<bool>((value >> i) & 1) ? '1' : '0';
  return text;
}

std::string printed_name(const Expressions& table, uint32_t index) {
  const Expressions::Node& n = table.node(index);
  if (n.operation == Operation::variable) return table.name(n);
  if (n.operation == Operation::constant) return literal(table.value(n), n.width);
  return "n" + std::to_string(index);
}

/// The term that defines a node other than a variable or constant. A comparison, a Bool in SMT-LIB, is a bit here.
std::string printed_definition(const Expressions& table, const Expressions::Node& n) {
  const auto argument = [&](int i) { return printed_name(table, n.argument[i]); };
  const auto call = [&](const std::string& operation) {
    std::string text = "(" + operation;
    for (int i = 0; i < arity(n.operation); ++i) text += " " + argument(i);
    return text + ")";
  };
  const std::string name = smt_lib_name(n.operation);
  switch (n.operation) {
    case Operation::extract:
      return call("(_ extract " + std::to_string(n.low + n.width - 1) + " " + std::to_string(n.low) + ")");
    case Operation::sign_extend:
      return call("(_ sign_extend " + std::to_string(n.width - table.node(n.argument[0]).width) + ")");
    case Operation::ite: return "(ite (= " + argument(0) + " #b1) " + argument(1) + " " + argument(2) + ")";
    case Operation::equal:
    case Operation::bvult:
    case Operation::bvslt: return "(ite " + call(name) + " #b1 #b0)";
    default: return call(name);
  }
}

}  // namespace

std::vector<Expression> variables_of(const std::vector<Expression>& assertions) {
  std::vector<Expression> variables;
  if (assertions.empty()) return variables;
  Expressions& table = assertions[0].table();
  for (const uint32_t index : in_order(assertions))
    if (table.node(index).operation == Operation::variable) variables.push_back({&table, index});
  return variables;
}

std::string to_smt_lib(const std::vector<Expression>& assertions, const std::string& comment) {
  std::string text;
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);) text += "; " + line + "\n";
  text += "(set-logic QF_BV)\n(set-option :produce-models true)\n";
  if (assertions.empty()) return text;
  const Expressions& table = assertions[0].table();
  for (const uint32_t index : in_order(assertions)) {
    const Expressions::Node& n = table.node(index);
    if (n.operation == Operation::variable)
      text += "(declare-const " + printed_name(table, index) + " " + sort_of(n.width) + ")\n";
    else if (n.operation != Operation::constant)
      text += "(define-fun " + printed_name(table, index) + " () " + sort_of(n.width) + " " +
              printed_definition(table, n) + ")\n";
  }
  for (const Expression& assertion : assertions)
    text += "(assert (= " + printed_name(table, assertion.index()) + " #b1))\n";
  return text;
}

bool parse_values(const std::string& text, std::map<std::string, Bits>& values) {
  std::vector<std::string> words;
  int depth = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (std::isspace(static_cast<unsigned char>(c))) ++i;
    else if (c == '(' || c == ')') {
      depth += c == '(' ? 1 : -1;
      if (depth < 0 || depth > 2) return false;
      ++i;
    } else {
      const size_t end = std::min(text.find_first_of(" \t\r\n()", i), text.size());
      words.push_back(text.substr(i, end - i));
      i = end;
    }
  }
  if (depth != 0 || words.size() % 2 != 0) return false;
  for (size_t i = 0; i < words.size(); i += 2) {
    const std::string& value = words[i + 1];
    const bool binary = value.starts_with("#b");
    if ((!binary && !value.starts_with("#x")) || value.size() == 2) return false;
    if ((value.size() - 2) * (binary ? 1 : 4) > size_t(greatest_width)) return false;
    Bits bits = 0;
    for (size_t j = 2; j < value.size(); ++j) {
      const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(value[j])));
      const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
      if (digit >= (binary ? 2 : 16)) return false;
      bits = (bits << (binary ? 1 : 4)) | Bits(unsigned(digit));
    }
    values[words[i]] = bits;
  }
  return true;
}

}  // namespace mmafuzz::prove
