#include "plan/case_arrays.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/text.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

/// NumPy's type of the numbers of each format that has one. Where an op is read off arrays, a type stands for the first
/// format in this table.
constexpr std::pair<const char*, const char*> numpy_types[] = {
    {"fp16", "<f2"}, {"fp32", "<f4"}, {"tf32", "<f4"}, {"fp64", "<f8"}, {"s8", "|i1"},
    {"u8", "|u1"},   {"s32", "<i4"},  {"u32", "<u4"},  {"s64", "<i8"},  {"u64", "<u8"}};

/// NumPy's type of a format's numbers; "" where there is none.
std::string numpy_type(const Format& format) {
  for (const auto& [name, type] : numpy_types)
    if (format.name() == name) return type;
  return "";
}

std::string encodings_type(const Format& format) {
  const int bytes = format.storage_bytes();
  return (bytes == 1 ? "|u" : "<u") + std::to_string(bytes);
}

std::string shape_text(const std::vector<size_t>& shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

/// The shape that one case has in the array of a field; the result is the field behind the inputs.
std::vector<size_t> shape_of_case(const Op& op, size_t field) {
  const auto m = static_cast<size_t>(op.m), n = static_cast<size_t>(op.n), k = static_cast<size_t>(op.k);
  if (op.kind == OpKind::gemm)
    return field == 0 ? std::vector{m, k} : field == 1 ? std::vector{k, n} : std::vector{m, n};
  const std::vector<FieldShape> inputs = op.inputs();
  const bool is_result = field >= inputs.size();
  const int count = is_result ? op.result().count : inputs[field].count;
  // Factors and scales of a dot and the elements of a block are vectors, even of one element.
  const bool is_vector = !is_result && (op.kind == OpKind::dot ? field != 2 : op.is_of_blocks() && field == 0);
  return count > 1 || is_vector ? std::vector{static_cast<size_t>(count)} : std::vector<size_t>{};
}

void check_type(const NamedArray& input, const FieldShape& field) {
  const Format& format = field.format;
  const std::string numbers = numpy_type(format), encodings = encodings_type(format);
  const std::string opaque = "|V" + std::to_string(format.storage_bytes());
  // Arrays of ml_dtypes are saved as opaque bytes. They are taken for the field's format if NumPy has no type for it.
  const std::string& type = input.array.type;
  if (type == numbers || type == encodings || (numbers.empty() && type == opaque)) return;
  throw BadInput(input.name + " holds " + type + ", and " + field.name + " is " + format.name() + ": save " +
                 (numbers.empty() ? "" : numbers + ", or ") + encodings + " with the encodings");
}

/// The number of cases in an array, from its shape. Throws BadInput where the shape is none of the field's.
size_t cases_in(const NamedArray& input, const Op& op, size_t index, const FieldShape& field) {
  const std::vector<size_t> case_shape = shape_of_case(op, index), &shape = input.array.shape;
  const auto is_tail = [&] {
    return std::equal(case_shape.begin(), case_shape.end(), shape.end() - static_cast<ptrdiff_t>(case_shape.size()));
  };
  if (shape.size() == case_shape.size() && is_tail()) return 1;
  if (shape.size() == case_shape.size() + 1 && is_tail()) return shape[0];
  std::vector<size_t> several = case_shape;
  several.insert(several.begin(), 0);
  std::string expected = shape_text(several);
  throw BadInput(input.name + " has shape " + shape_text(shape) + "; " + field.name + " of '" + to_text(op) +
                 "' is (cases" + (case_shape.empty() ? ",)" : expected.substr(2)) + ", or " + shape_text(case_shape) +
                 " for one case");
}

void fill(Column& column, const NamedArray& input, const FieldShape& field) {
  const std::string& data = input.array.data;
  const size_t width = input.array.element_bytes();
  const size_t copies = input.array.elements() == 1 ? column.cases() * static_cast<size_t>(column.count()) : 1;
  for (size_t i = 0; i < copies && !data.empty(); ++i) std::memcpy(column.data() + i * width, data.data(), data.size());
  const uint64_t mask = field.format.fields().container_mask();
  for (size_t i = 0; i < column.cases(); ++i)
    for (int e = 0; e < column.count(); ++e)
      if (column.get(i, e) & ~mask)
        throw BadInput(input.name + ": element " + std::to_string(e) + " of case " + std::to_string(i) +
                       " does not fit the " + std::to_string(field.format.fields().width) + " bits of " +
                       field.format.name());
}

/// Whether a and b are matrices, and not the factors of dots, by the shapes of all arrays (op_line_of_arrays). Throws
/// BadInput, which ends with `ask`, where they are neither.
bool are_matrices(const std::vector<NamedArray>& fields, const std::string& ask) {
  const std::vector<size_t>&a = fields[0].array.shape, &b = fields[1].array.shape;
  for (size_t i = fields.size() - 1; i >= 2; --i) {
    if (!fields[i].is_given()) continue;
    const std::vector<size_t>& shape = fields[i].array.shape;
    const bool has_one_before = shape.size() == a.size() + 1 && shape[0] == 1;  // a dimension for one product
    if (a.size() >= 2 && (shape.size() == a.size() || has_one_before)) return true;
    if (shape.size() + 1 == a.size() && (fields[i].array.elements() != 1 || shape.empty() || a[0] == 1)) return false;
    if (fields[i].array.elements() != 1)
      throw BadInput("the shapes of " + fields[0].name + " and " + fields[i].name +
                     " fit neither a dot nor a matrix product" + ask);
  }
  return a.size() >= 2 && b.size() == a.size() && a.back() == b[b.size() - 2];
}

}  // namespace

std::string content_of(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw BadInput(path + ": is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadInput(path + ": cannot open");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  if (file.bad()) throw BadInput(path + ": cannot read");
  return text;
}

NamedArray read_npy(const std::string& path) { return {path, parse_npy(path, content_of(path))}; }

std::string op_line_of_arrays(const std::vector<NamedArray>& fields) {
  const std::string ask = ": give --op, as in --op 'dot a=fp16 b=fp16 c=fp32 d=fp32'";
  if (fields.size() < 2 || fields.size() > 4) throw BadInput("a, b and maybe c and d tell an op" + ask);
  const auto format_of = [&](const NamedArray& field) {
    const auto of_type = [&](const auto& one) { return field.array.type == one.second; };
    const auto known = std::find_if(std::begin(numpy_types), std::end(numpy_types), of_type);
    if (known == std::end(numpy_types) || field.array.type.find('u') != std::string::npos)
      throw BadInput(field.name + " holds " + field.array.type + ", which does not say its format" + ask);
    return std::string(known->first);
  };
  const std::string a = format_of(fields[0]), b = format_of(fields[1]);
  const bool has_c = fields.size() > 2 && fields[2].is_given(), has_d = fields.size() > 3;
  const std::string default_c = a == "fp64"                                           ? "fp64"
                                : fields[0].array.type.find('i') != std::string::npos ? "s32"
                                                                                      : "fp32";
  const std::string c = has_c ? format_of(fields[2]) : has_d ? format_of(fields[3]) : default_c;
  const std::string d = has_d ? format_of(fields[3]) : c;
  const bool gemm = are_matrices(fields, ask);
  return (gemm ? "gemm a=" : "dot a=") + a + " b=" + b + " c=" + c + " d=" + d;
}

Op op_of_arrays(const std::string& op_text, const std::vector<NamedArray>& fields) {
  std::string text = op_text.starts_with("op ") ? op_text.substr(3) : op_text;
  const std::vector<std::string> words = words_of(text);
  const auto add = [&](const char* name, size_t field, size_t from_last) {
    const bool is_there =
        std::any_of(words.begin(), words.end(), [&](const std::string& w) { return w.starts_with(name); });
    if (is_there || fields.size() <= field || fields[field].array.shape.size() < from_last) return;
    const std::vector<size_t>& shape = fields[field].array.shape;
    text += std::string(" ") + name + std::to_string(shape[shape.size() - from_last]);
  };
  if (!words.empty() && words[0] == "dot") add("k=", 0, 1);
  if (!words.empty() && words[0] == "gemm") {
    add("m=", 0, 2);
    add("n=", 1, 1);
    add("k=", 0, 1);
  }
  return op_from_text(text);
}

CaseBlock cases_of_arrays(const Op& op, std::vector<NamedArray> arrays) {
  std::vector<FieldShape> fields = op.inputs();
  fields.push_back(op.result());
  const size_t inputs = fields.size() - 1;
  const bool sums = op.kind == OpKind::dot || op.kind == OpKind::gemm;
  if (sums && arrays.size() == 2) arrays.push_back({"c", {}});
  if (arrays.size() != inputs && arrays.size() != fields.size()) {
    std::string names;
    for (size_t i = 0; i < inputs; ++i) names += (i ? ", " : "") + std::string(fields[i].name);
    throw BadInput("'" + to_text(op) + "' takes " + std::to_string(inputs) + " arrays (" + names +
                   "), or one more with the results; here are " + std::to_string(arrays.size()));
  }
  CaseBlock block;
  block.batch = Batch(op);
  for (size_t i = 0; i < arrays.size(); ++i) {
    const bool is_c = sums && i == 2;
    if (is_c && !arrays[i].is_given()) continue;
    check_type(arrays[i], fields[i]);
    if (is_c && arrays[i].array.elements() == 1) continue;  // one c for all
    const size_t cases = cases_in(arrays[i], op, i, fields[i]);
    if (i == 0) block.batch.resize(cases);
    if (cases != block.batch.size())
      throw BadInput(arrays[i].name + ", " + shape_text(arrays[i].array.shape) + ", holds " + counted(cases, "case") +
                     " of '" + to_text(op) + "', and " + arrays[0].name + ", " + shape_text(arrays[0].array.shape) +
                     ", " + std::to_string(block.batch.size()));
  }
  block.expected = Column(fields.back().format, fields.back().count);
  block.expected.resize(block.batch.size());
  for (size_t i = 0; i < inputs; ++i)
    if (arrays[i].is_given()) fill(block.batch.inputs()[i], arrays[i], fields[i]);
  if (arrays.size() > inputs) fill(block.expected, arrays.back(), fields.back());
  block.has_expected.assign(block.batch.size(), arrays.size() > inputs);
  block.has_flags.assign(block.batch.size(), 0);
  block.expected_flags.assign(block.batch.size(), 0);
  block.line.assign(block.batch.size(), 0);
  return block;
}

std::vector<std::pair<std::string, NpyArray>> arrays_of_cases(const CaseBlock& cases) {
  const Op& op = cases.batch.op();
  std::vector<std::pair<std::string, NpyArray>> arrays;
  const auto add = [&](const char* name, const FieldShape& field, size_t index, const Column& column) {
    NpyArray array;
    array.type = numpy_type(field.format).empty() ? encodings_type(field.format) : numpy_type(field.format);
    array.shape = shape_of_case(op, index);
    const bool one_product = op.kind == OpKind::gemm && cases.batch.size() == 1;
    if (!one_product) array.shape.insert(array.shape.begin(), cases.batch.size());
    array.data.assign(reinterpret_cast<const char*>(column.data()), column.stride() * cases.batch.size());
    arrays.emplace_back(name, std::move(array));
  };
  const std::vector<FieldShape> inputs = op.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) add(inputs[i].name, inputs[i], i, cases.batch.inputs()[i]);
  const bool have_results =
      std::all_of(cases.has_expected.begin(), cases.has_expected.end(), [](uint8_t has) { return has != 0; });
  if (have_results) add("d", op.result(), inputs.size(), cases.expected);
  return arrays;
}

}  // namespace mmafuzz
