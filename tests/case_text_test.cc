// The case-text reader and writer: what is written is read back, and every malformed file gives one error with its
// place, after the cases that stand before it. A failure means that a corpus is misread, or that a damaged one passes.
#include "core/case_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include "tests/case_count.h"
#include "tests/test_names.h"

namespace mmafuzz {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A folder that goes away with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "case_text_test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot create " + name);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

void write_file(const std::string& path, std::string_view bytes) {
  std::filesystem::remove(path);  // a new file is not flushed when it is closed, an overwritten one may be
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.flush().good()) << path;
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_gzip(const std::string& path, std::string_view bytes) {
  gzFile file = gzopen(path.c_str(), "wb6");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
}

struct ReadCase {
  std::string unit, property, op, text;
  uint64_t line;
  friend bool operator==(const ReadCase&, const ReadCase&) = default;
};

std::ostream& operator<<(std::ostream& out, const ReadCase& c) {
  return out << c.line << ": [" << c.unit << "] [" << c.property << "] " << c.op << ": " << c.text;
}

struct ReadFile {
  std::vector<ReadCase> cases;
  std::optional<CaseTextError> error;
};

/// Everything that a file holds, each case printed again with its result and flags.
ReadFile read_file(const std::string& path, size_t limit = 4096) {
  ReadFile all;
  CaseReader reader(path);
  CaseBlock block;
  while (reader.next(block, limit)) {
    const size_t n = block.batch.size();
    EXPECT_GT(n, 0u);
    EXPECT_LE(n, limit);
    EXPECT_EQ(block.expected.cases(), n);
    EXPECT_EQ(block.has_expected.size(), n);
    EXPECT_EQ(block.has_flags.size(), n);
    EXPECT_EQ(block.expected_flags.size(), n);
    EXPECT_EQ(block.line.size(), n);
    Outcomes outcomes;
    outcomes.results = block.expected;
    for (size_t i = 0; i < n; ++i) {
      outcomes.answered.assign(n, block.has_expected[i]);
      outcomes.flags = block.has_flags[i] ? block.expected_flags : std::vector<uint8_t>{};
      all.cases.push_back(
          {block.unit, block.property, to_text(block.batch.op()), case_line(block.batch, i, &outcomes), block.line[i]});
    }
  }
  EXPECT_FALSE(reader.next(block, limit)) << "the end stays the end";
  all.error = reader.error();
  return all;
}

ReadFile read_text(std::string_view text) {
  const Folder folder;
  const std::string path = folder.file("text.cases");
  write_file(path, text);
  ReadFile all = read_file(path);
  if (all.error) {
    EXPECT_EQ(all.error->file, path);
  }
  return all;
}

const std::string header = "mmafuzz-cases 1\n";

uint64_t random_encoding(std::mt19937_64& random, const Format& f) { return random() & f.fields().container_mask(); }

Batch random_batch(const Op& op, size_t cases, uint64_t seed) {
  std::mt19937_64 random(seed);
  Batch batch(op);
  batch.resize(cases);
  const std::vector<FieldShape> fields = op.inputs();
  for (size_t f = 0; f < fields.size(); ++f)
    for (size_t i = 0; i < cases; ++i)
      for (int j = 0; j < fields[f].count; ++j) batch.inputs()[f].set(i, j, random_encoding(random, fields[f].format));
  return batch;
}

Outcomes random_outcomes(const Op& op, size_t cases, bool flags, uint64_t seed) {
  std::mt19937_64 random(seed);
  const FieldShape shape = op.result();
  Outcomes outcomes;
  outcomes.results = Column(shape.format, shape.count);
  outcomes.results.resize(cases);
  for (size_t i = 0; i < cases; ++i)
    for (int j = 0; j < shape.count; ++j) outcomes.results.set(i, j, random_encoding(random, shape.format));
  if (flags) {
    for (size_t i = 0; i < cases; ++i) outcomes.flags.push_back(static_cast<uint8_t>(random() & 0x3f));
  }
  return outcomes;
}

bool same_column(const Column& x, const Column& y) {
  return x.element_bytes() == y.element_bytes() && x.count() == y.count() && x.cases() == y.cases() &&
         (x.cases() == 0 || std::memcmp(x.data(), y.data(), x.cases() * x.stride()) == 0);
}

Op op_of(const std::string& text) {
  Result<Op> op = parse_op(text);
  if (!op) throw std::runtime_error(text + ": " + op.refusal().reason);
  return *op;
}

// ---- what is written is read back ----

class RoundTrip : public ::testing::TestWithParam<const char*> {};

TEST_P(RoundTrip, WhatIsWrittenIsReadBackPlainAndGzipped) {
  const Op op = op_of(GetParam());
  const Folder folder;
  constexpr size_t cases = 7;
  for (const char* name : {"round.cases", "round.cases.gz"}) {
    for (const int results : {0, 1, 2}) {  // none; results; results and flags
      if (results == 2 && !op.has_flags()) continue;
      const Batch batch = random_batch(op, cases, 1);
      const Outcomes outcomes = random_outcomes(op, cases, results == 2, 2);
      const std::string path = folder.file(name);
      CaseWriter writer(path);
      writer.comment("made by a test");
      writer.unit("nvidia.h100/wmma.fp32.fp16");
      for (size_t i = 0; i < cases; ++i) {
        writer.op(op);
        writer.one_case(batch, i, results ? &outcomes : nullptr);
      }
      writer.finish();

      CaseReader reader(path);
      CaseBlock block;
      ASSERT_TRUE(reader.next(block, 1000)) << reader.error()->to_string();
      EXPECT_EQ(block.unit, "nvidia.h100/wmma.fp32.fp16");
      EXPECT_EQ(block.batch.op(), op);
      EXPECT_EQ(to_text(block.batch.op()), to_text(op));
      ASSERT_EQ(block.batch.size(), cases);
      ASSERT_EQ(block.batch.inputs().size(), batch.inputs().size());
      for (size_t f = 0; f < batch.inputs().size(); ++f)
        EXPECT_TRUE(same_column(block.batch.inputs()[f], batch.inputs()[f])) << f;
      for (size_t i = 0; i < cases; ++i) {
        EXPECT_EQ(block.line[i], 5 + i);  // header, comment, unit and op stand before
        EXPECT_EQ(block.has_expected[i], results > 0);
        EXPECT_EQ(block.has_flags[i], results == 2);
        if (results == 2) {
          EXPECT_EQ(block.expected_flags[i], outcomes.flags[i]);
        }
      }
      if (results) {
        EXPECT_TRUE(same_column(block.expected, outcomes.results));
      }
      EXPECT_FALSE(reader.next(block, 1000));
      EXPECT_FALSE(reader.error()) << reader.error()->to_string();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Ops, RoundTrip,
    ::testing::Values(
        "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4", "dot a=bf16 b=bf16 c=fp32 d=fp32 k=1",
        "dot a=tf32 b=tf32 c=fp32 d=fp32 k=8", "dot a=e4m3 b=e5m2 c=fp16 d=fp16 k=32",
        "dot a=e3m2 b=e2m3 c=fp32 d=fp32 k=3", "dot a=s8 b=u8 c=s32 d=s32 k=5",
        "dot a=fp64 b=fp64 c=fp64 d=fp64 k=2 nan=any ftz=1",
        "dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=64 sa=ue4m3 sb=ue4m3 sblock=16",
        "dot a=e4m3 b=e4m3 c=fp32 d=fp32 k=33 sa=e8m0 sb=e8m0 sblock=32",  // the last scale block is a short one
        "convert from=fp32 to=cfloat8_1_4_3:7 round=nearest_even",
        "convert from=fp64 to=e2m1 round=stochastic seed=77 saturate=1",
        "convert from=fp16 to=fp32 round=up tiny=before", "scalar add format=fp16 round=down",
        "scalar sub format=fp32 round=up", "scalar mul format=bf16 round=nearest_away",
        "scalar div format=fp64 round=toward_zero nan=any", "scalar sqrt format=fp32 round=nearest_even tiny=before",
        "scalar fma format=fp32 round=nearest_even ftz=1", "scalar rcp format=e5m2 round=nearest_even",
        "gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=2",
        "gemm a=fp16 b=fp16 c=fp32 d=fp32 m=3 n=2 k=4 alpha=40000000 beta=3f800000",
        "gemm a=s8 b=s8 c=s32 d=s32 m=2 n=2 k=2"));

class EveryFormatInText : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryFormatInText, EncodingsOfAllItsBitsAreReadBack) {
  Op op;
  op.kind = OpKind::convert;
  op.a = op.d = format(GetParam());
  Batch batch(op);
  Outcomes outcomes;
  outcomes.results = Column(op.d, 1);
  std::mt19937_64 random(3);
  const int width = op.a.fields().width;
  const size_t cases = width <= 16 ? size_t{1} << width : 4096;
  batch.resize(cases);
  outcomes.results.resize(cases);
  for (size_t i = 0; i < cases; ++i) {
    batch.inputs()[0].set(i, 0, width <= 16 ? i : random_encoding(random, op.a));
    outcomes.results.set(i, 0, batch.inputs()[0].get(cases - 1 - i) & op.a.fields().container_mask());
  }
  const Folder folder;
  CaseWriter writer(folder.file("all.cases"));
  writer.op(op);
  for (size_t i = 0; i < cases; ++i) writer.one_case(batch, i, &outcomes);
  writer.finish();
  CaseReader reader(folder.file("all.cases"));
  CaseBlock block;
  ASSERT_TRUE(reader.next(block, cases)) << reader.error()->to_string();
  EXPECT_EQ(block.batch.op().a.name(), GetParam());
  EXPECT_TRUE(same_column(block.batch.inputs()[0], batch.inputs()[0]));
  EXPECT_TRUE(same_column(block.expected, outcomes.results));
  EXPECT_FALSE(reader.next(block, 1));
  EXPECT_FALSE(reader.error());
}

std::vector<std::string> all_format_names() {
  std::vector<std::string> names = format_names();
  for (const char* more :
       {"cfloat8_1_4_3:63", "cfloat8_1_5_2:31", "shp:15", "cfloat8_1_4_3:7?denormal=gradual", "shp:1?denormal=literal"})
    names.push_back(more);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Formats, EveryFormatInText, ::testing::ValuesIn(all_format_names()), test_name);

/// A file with many changes of unit, property and op.
std::string long_mixed_file() {
  std::string text = header;
  for (int i = 0; i < 300; ++i) {
    if (i % 7 == 0) text += "unit u" + std::to_string(i % 3) + "\n";
    if (i % 31 == 0) text += "property p" + std::to_string(i) + " a b\n";
    if (i % 11 == 0) text += "op scalar add format=fp16 round=nearest_even\n";
    if (i % 11 == 5) text += "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=2\n";
    if (i % 13 == 0) text += "\n# a comment\n";
    char digits[5];
    std::snprintf(digits, sizeof digits, "%04x", i);
    const std::string x = digits;
    text += i % 11 < 5 ? x + " 3c00 | 4000" + (i % 2 ? " | 01\n" : "\n")
                       : x + " 3c00 | 3c00 " + x + " | 00000000" + (i % 3 ? " | 3f800000\n" : "\n");
  }
  return text;
}

TEST(CaseTextReader, SmallBlocksGiveTheSameCasesAsOneBigBlock) {
  const Folder folder;
  write_file(folder.file("x.cases"), long_mixed_file());
  write_gzip(folder.file("x.cases.gz"), long_mixed_file());
  const ReadFile whole = read_file(folder.file("x.cases"), 100000);
  ASSERT_FALSE(whole.error) << whole.error->to_string();
  ASSERT_EQ(whole.cases.size(), 300u);
  for (const size_t limit : {1, 2, 3, 5, 64, 299, 300}) {
    EXPECT_EQ(read_file(folder.file("x.cases"), limit).cases, whole.cases) << limit;
    EXPECT_EQ(read_file(folder.file("x.cases.gz"), limit).cases, whole.cases) << limit;
  }
}

TEST(CaseTextReader, FilesLargerThanABlockAreReadWhole) {
  std::string text = header + "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=2\n";
  constexpr size_t cases = 200'000;  // 8 MB: more than a block and many buffers
  for (size_t i = 0; i < cases; ++i) text += "3c00 4000 | 3c00 4000 | 00000000 | 40a00000\n";
  const Folder folder;
  write_file(folder.file("x.cases"), text);
  CaseReader reader(folder.file("x.cases"));
  CaseBlock block;
  size_t count = 0;
  while (reader.next(block, cases)) {
    for (size_t i = 0; i < block.batch.size(); ++i) {
      ASSERT_EQ(block.line[i], 3 + count + i);
      ASSERT_EQ(block.expected.get(i), 0x40a00000u);
    }
    count += block.batch.size();
  }
  EXPECT_FALSE(reader.error());
  EXPECT_EQ(count, cases);
}

TEST(CaseTextReader, MegabytesOfCommentsBeforeACaseDoNotHideIt) {
  std::string text = header + "op scalar rcp format=fp16\n";
  for (int i = 0; i < 100'000; ++i) text += "# a comment of sixty characters, one of a great many of them..\n";
  text += "3c00 | 3c00\n";
  const ReadFile all = read_text(text);
  EXPECT_FALSE(all.error);
  ASSERT_EQ(all.cases.size(), 1u);
  EXPECT_EQ(all.cases[0].line, 100'003u);
}

TEST(CaseTextReader, WindowsLineEndsAreAccepted) {
  const ReadFile all = read_text(
      "mmafuzz-cases 1\r\nunit exact\r\nop scalar rcp format=fp16\r\n\r\n# comment\r\n3c00 | 3c00\r\n4000\r\n");
  ASSERT_FALSE(all.error) << all.error->to_string();
  ASSERT_EQ(all.cases.size(), 2u);
  EXPECT_EQ(all.cases[0].unit, "exact");
  EXPECT_EQ(all.cases[0].text, "3c00 | 3c00");
  EXPECT_EQ(all.cases[1].text, "4000");
}

TEST(CaseTextReader, ALastLineWithoutNewlineIsACase) {
  const ReadFile all = read_text(header + "op scalar rcp format=fp16\n3c00 | 3c00");
  ASSERT_FALSE(all.error);
  ASSERT_EQ(all.cases.size(), 1u);
  EXPECT_EQ(all.cases[0].text, "3c00 | 3c00");
}

TEST(CaseTextReader, BlanksAroundFieldsDoNotMatter) {
  const ReadFile all =
      read_text(header + "op  dot  a=fp16 b=fp16 c=fp32  d=fp32 k=2 \n3c00  4000|3c00 4000   |00000000|40a00000  \n");
  ASSERT_FALSE(all.error) << all.error->to_string();
  ASSERT_EQ(all.cases.size(), 1u);
  EXPECT_EQ(all.cases[0].text, "3c00 4000 | 3c00 4000 | 00000000 | 40a00000");
}

TEST(CaseTextReader, AFileWithOnlyItsHeaderHasNoCasesAndNoError) {
  for (const char* text :
       {"mmafuzz-cases 1\n", "mmafuzz-cases 1", "mmafuzz-cases 1\r\n", "mmafuzz-cases 1\n\n# nothing\nunit exact\n"}) {
    const ReadFile all = read_text(text);
    EXPECT_FALSE(all.error) << text;
    EXPECT_TRUE(all.cases.empty()) << text;
  }
}

TEST(CaseTextReader, UnitAndOpLinesHoldUntilTheNext) {
  const ReadFile all =
      read_text(header +
                "op scalar rcp format=fp16\n3c00\nunit exact\n3c01\nop scalar sqrt format=fp16\n3c02\n3c03\n"
                "property monotone_in_c exact\n3c04\nunit ieee\nunit ieee:fma\n3c05\n");
  ASSERT_FALSE(all.error);
  ASSERT_EQ(all.cases.size(), 6u);
  const std::vector<std::string> units = {"", "exact", "exact", "exact", "exact", "ieee:fma"};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(all.cases[i].unit, units[i]) << i;
  EXPECT_THAT(all.cases[1].op, HasSubstr("rcp"));
  EXPECT_THAT(all.cases[2].op, HasSubstr("sqrt"));
  EXPECT_EQ(all.cases[3].property, "");
  EXPECT_EQ(all.cases[4].property, "monotone_in_c exact");
  EXPECT_EQ(all.cases[5].property, "monotone_in_c exact");
}

// ---- malformed text: one error, with its place ----

struct Malformed {
  const char* name;
  std::string text;  ///< after the header line
  uint64_t line, column;
  std::string message;  ///< a part of it
  size_t cases_before = 0;
};

void PrintTo(const Malformed& m, std::ostream* out) { *out << m.name; }

const std::string dot2 = "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=2\n";
const std::string good2 = "3c00 4000 | 3c00 4000 | 00000000 | 40a00000\n";

const Malformed malformed[] = {
    // cases
    {"TooFewEncodings", dot2 + good2 + "3c00 | 3c00 4000 | 00000000\n", 4, 6, "field a: expected 2 encodings, found 1",
     1},
    {"TooFewInTheSecondField", dot2 + "3c00 4000 | 3c00 | 00000000\n", 3, 18, "field b: expected 2 encodings, found 1"},
    {"TooManyEncodings", dot2 + "3c00 4000 4200 | 3c00 4000 | 00000000\n", 3, 11, "field a: more than 2 encodings"},
    {"EmptyField", dot2 + "3c00 4000 | | 00000000\n", 3, 13, "field b: expected 2 encodings, found 0"},
    {"MissingField", dot2 + "3c00 4000 | 3c00 4000\n", 3, 22, "expected '|' and field c"},
    {"MissingFieldAfterItsBar", dot2 + "3c00 4000 | 3c00 4000 |\n", 3, 24, "field c: expected 1 encodings, found 0"},
    {"ExtraField", dot2 + "3c00 4000 | 3c00 4000 | 00000000 | 40a00000 | 40a00000\n", 3, 45,
     "expected the end of the line, found '| 40a00000'"},
    {"TwoResults", dot2 + "3c00 4000 | 3c00 4000 | 00000000 | 40a00000 40a00000\n", 3, 45,
     "expected the end of the line"},
    {"TooFewDigits", dot2 + "3c0 4000 | 3c00 4000 | 00000000\n", 3, 1,
     "field a: expected 4 lower-case hex digits of fp16, found '3c0'"},
    {"TooManyDigits", dot2 + "3c00 40000 | 3c00 4000 | 00000000\n", 3, 6,
     "expected 4 lower-case hex digits of fp16, found '40000'"},
    {"WrongDigitsInC", dot2 + "3c00 4000 | 3c00 4000 | 0000\n", 3, 25,
     "field c: expected 8 lower-case hex digits of fp32, found '0000'"},
    {"WrongDigitsInTheResult", dot2 + good2 + "3c00 4000 | 3c00 4000 | 00000000 | 4000\n", 4, 36,
     "field result: expected 8", 1},
    {"UpperCase", dot2 + "3c00 4000 | 3C00 4000 | 00000000\n", 3, 13, "lower-case hex digits of fp16, found '3C00'"},
    {"NotHex", dot2 + "3c00 4g00 | 3c00 4000 | 00000000\n", 3, 6, "found '4g00'"},
    {"Prefixed0x", dot2 + "0x3c00 4000 | 3c00 4000 | 00000000\n", 3, 1, "found '0x3c00'"},
    {"TabBetweenEncodings", dot2 + "3c00\t4000 | 3c00 4000 | 00000000\n", 3, 1, "found '3c00?4000'"},
    {"BeyondSixBits", "op dot a=e3m2 b=e3m2 c=fp32 d=fp32 k=1\nff | 00 | 00000000\n", 3, 1,
     "field a: does not fit 6 bits"},
    {"BeyondSixBitsInTheResult", "op convert from=fp32 to=e2m3\n3f800000 | 40\n", 3, 12,
     "field result: does not fit 6 bits"},
    {"ScaleFieldMissing",
     "op dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=2 sa=e8m0 sb=e8m0 sblock=32\n1 1 | 1 1 | 00000000 | 7f\n", 3, 26,
     "expected '|' and field sb"},
    {"KDoesNotMatch", "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=3\n3c00 4000 | 3c00 4000 | 00000000\n", 3, 11,
     "field a: expected 3 encodings, found 2"},
    {"ConvertFlagsOfOneDigit", "op convert from=fp32 to=fp16\n3f800000 | 3c00 | 1\n", 3, 19, "field flags: expected 2"},
    {"FlagsWithoutResult", "op convert from=fp32 to=fp16\n3f800000 | | 00\n", 3, 12, "field result: expected 4"},
    {"FlagsTwice", "op convert from=fp32 to=fp16\n3f800000 | 3c00 | 00 | 00\n", 3, 22, "expected the end of the line"},
    {"FlagsOnADot", dot2 + "3c00 4000 | 3c00 4000 | 00000000 | 40a00000 | 00\n", 3, 45, "expected the end of the line"},
    {"FmaWithTwoOperands", "op scalar fma format=fp16\n3c00 3c00 | 3c00\n", 3, 11,
     "field operands: expected 3 encodings, found 2"},
    {"GemmResultTooShort", "op gemm a=fp16 b=fp16 c=fp16 d=fp16 m=1 n=2 k=1\n3c00 | 3c00 3c00 | 0000 0000 | 3c00\n", 3,
     36, "field result: expected 4"},
    {"BlankLineOfSpaces", dot2 + good2 + "   \n", 4, 4, "field a: expected 2 encodings, found 0", 1},
    {"OnlyABar", dot2 + "|\n", 3, 1, "field a: expected 2 encodings, found 0"},
    // directives
    {"CaseBeforeAnyOp", "unit exact\n3c00 | 3c00\n", 3, 1, "a case before any 'op' line"},
    {"UnknownDirective", dot2 + good2 + "units exact\n", 4, 1,
     "expected a case, a comment, 'unit', 'op' or 'property', found 'units exact'", 1},
    {"CommentWithTheWrongSign", "// comment\n", 2, 1, "found '// comment'"},
    {"UnprintableBytesAreShownAsQuestionMarks", "\x01\xff\x1b[31m\n", 2, 1, "found '???[31m'"},
    {"EmptyUnit", "unit \n", 2, 6, "expected a unit name"},
    {"UnitOfBlanks", "unit    \n", 2, 6, "expected a unit name"},
    {"UnitWithoutBlank", "unit\n", 2, 1, "found 'unit'"},
    {"SecondHeader", dot2 + good2 + header, 4, 1, "found 'mmafuzz-cases 1'", 1},
    // op lines
    {"UnknownOpKind", "op dots a=fp16 b=fp16 c=fp32 d=fp32 k=2\n", 2, 4,
     "expected an op kind: dot, convert, scalar, gemm, quantize or dequantize"},
    {"OpWithoutKind", "op \n", 2, 4, "expected an op kind"},
    {"UnknownScalarOperation", "op scalar exp format=fp32\n", 2, 11,
     "expected a scalar operation: add, sub, mul, div, sqrt, fma, rcp, rem, round_to_integral, equal, less, "
     "less_equal, unordered, equal_signaling, less_quiet or less_equal_quiet"},
    {"InexactOfNoInteger", "op convert from=fp32 to=fp16 inexact=0\n", 2, 30,
     "inexact= belongs to conversions to integers and to round_to_integral"},
    {"NoScalarOperation", "op scalar\n", 2, 10, "expected a scalar operation"},
    {"UnknownFormat", "op dot a=fp17 b=fp16 c=fp32 d=fp32 k=2\n", 2, 8, "unknown format 'fp17'"},
    {"EmptyFormat", "op dot a= b=fp16 c=fp32 d=fp32 k=2\n", 2, 8, "unknown format ''"},
    {"BiasTooLarge", "op convert from=fp32 to=cfloat8_1_4_3:64\n", 2, 22, "'cfloat8_1_4_3:64' needs a bias of 0 to 63"},
    {"BiasNegative", "op convert from=fp32 to=shp:-1\n", 2, 22, "needs a bias of 0 to 63"},
    {"BiasMissing", "op convert from=fp32 to=cfloat8_1_5_2\n", 2, 22, "needs a bias of 0 to 63, as in cfloat8_1_5_2:7"},
    {"BiasEmpty", "op convert from=fp32 to=cfloat8_1_5_2:\n", 2, 22, "needs a bias of 0 to 63"},
    {"BiasNotANumber", "op convert from=fp32 to=cfloat8_1_5_2:7x\n", 2, 22, "needs a bias of 0 to 63"},
    {"BiasOnAFormatWithout", "op convert from=fp32 to=fp16:15\n", 2, 22, "takes no bias"},
    {"UnknownSwitch", "op convert from=fp32 to=cfloat8_1_4_3:7?denormal=never\n", 2, 22,
     "has no switch 'denormal=never'"},
    {"KZero", "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=0\n", 2, 36, "k= needs a whole number from 1 to 65536"},
    {"KHuge", "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=65537\n", 2, 36, "k= needs a whole number from 1 to 65536"},
    {"KBeyondSixtyFourBits", "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=99999999999999999999999\n", 2, 36,
     "k= needs a whole number"},
    {"KNegative", "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=-4\n", 2, 36, "k= needs a whole number"},
    {"KNotANumber", "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=4x\n", 2, 36, "k= needs a whole number"},
    {"KMissing", "op dot a=fp16 b=fp16 c=fp32 d=fp32\n", 2, 4, "attribute k= is missing"},
    {"FormatMissing", "op dot a=fp16 b=fp16 d=fp32 k=4\n", 2, 4, "attribute c= is missing"},
    {"ScaleBlockMissing", "op dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=4 sa=e8m0 sb=e8m0\n", 2, 4,
     "attribute sblock= is missing"},
    {"ScaleFormatMissing", "op dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=4 sa=e8m0 sblock=2\n", 2, 4,
     "attribute sb= is missing"},
    {"ScaleBlockZero", "op dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=4 sa=e8m0 sb=e8m0 sblock=0\n", 2, 56,
     "sblock= needs a whole number"},
    {"UnknownAttribute", "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=4 size=3\n", 2, 40, "op dot has no attribute 'size'"},
    {"AttributeOfAnotherKind", "op convert from=fp32 to=fp16 k=4\n", 2, 30, "op convert has no attribute 'k'"},
    {"AttributeTwice", "op dot a=fp16 b=fp16 a=fp16 c=fp32 d=fp32 k=4\n", 2, 22, "attribute 'a' given twice"},
    {"NoAttribute", "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=4 fast\n", 2, 40,
     "expected an attribute name=value, found 'fast'"},
    {"UnknownRounding", "op convert from=fp32 to=fp16 round=nearest\n", 2, 30,
     "round= is nearest_even | toward_zero | up | down"},
    {"UnknownTininess", "op convert from=fp32 to=fp16 tiny=never\n", 2, 30, "tiny= is after | before"},
    {"UnknownNanPolicy", "op convert from=fp32 to=fp16 nan=all\n", 2, 30, "nan= is exact | any"},
    {"FlagThatIsNeither0Nor1", "op convert from=fp32 to=fp16 ftz=2\n", 2, 30, "ftz= is 0 or 1"},
    {"SeedNotANumber", "op convert from=fp32 to=fp16 round=stochastic seed=x\n", 2, 47, "seed= needs a whole number"},
    {"AlphaNotHex", "op gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 n=1 k=1 alpha=1.0\n", 2, 49,
     "alpha= needs 16 lower-case hex digits of fp64"},
    {"AlphaTooWide", "op gemm a=fp16 b=fp16 c=fp16 d=fp16 m=1 n=1 k=1 alpha=fffff\n", 2, 49,
     "alpha= needs 4 lower-case hex digits of fp16"},
    {"EmptySwitch", "op dot a=fp16? b=fp16 c=fp32 d=fp32 k=1\n", 2, 8, "has no switch"},
    {"EndsInSeparator", "op dot a=fp16 b=fp16 c=fp32 d=fp32 k=1\n3c00 | 3c00 | 00000000 |\n", 3, 25,
     "expected a result after the last '|'"},
    {"GemmTooLarge", "op gemm a=fp64 b=fp64 c=fp64 d=fp64 m=65536 n=1 k=65536\n", 2, 4,
     "may have at most 262144 elements"},
    {"GemmExtentMissing", "op gemm a=fp64 b=fp64 c=fp64 d=fp64 m=1 k=1\n", 2, 4, "attribute n= is missing"},
};

class MalformedText : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedText, IsAnErrorWithItsPlaceAfterTheCasesBefore) {
  const Malformed& m = GetParam();
  const ReadFile all = read_text(header + m.text);
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->line, m.line);
  EXPECT_EQ(all.error->column, m.column);
  EXPECT_THAT(all.error->message, HasSubstr(m.message));
  EXPECT_EQ(all.error->message.find('\n'), std::string::npos);
  EXPECT_EQ(all.error->to_string(), all.error->file + ":" + std::to_string(m.line) + ":" + std::to_string(m.column) +
                                        ": " + all.error->message);
  EXPECT_EQ(all.cases.size(), m.cases_before);
}

TEST_P(MalformedText, IsTheSameErrorInBlocksOfOneCase) {
  const Folder folder;
  write_file(folder.file("x.cases"), header + GetParam().text);
  const ReadFile all = read_file(folder.file("x.cases"), 1);
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->line, GetParam().line);
  EXPECT_EQ(all.error->column, GetParam().column);
  EXPECT_EQ(all.cases.size(), GetParam().cases_before);
}

INSTANTIATE_TEST_SUITE_P(CaseText, MalformedText, ::testing::ValuesIn(malformed),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(CaseTextReader, CasesBeforeAnErrorAreDelivered) {
  std::string text = header + dot2;
  for (int i = 0; i < 1000; ++i) text += good2;
  text += "3c00 4000 | 3c00 | 00000000\n" + good2;
  const Folder folder;
  write_file(folder.file("x.cases"), text);
  for (const size_t limit : {1, 7, 1000, 5000}) {
    const ReadFile all = read_file(folder.file("x.cases"), limit);
    ASSERT_TRUE(all.error);
    EXPECT_EQ(all.error->line, 1003u) << limit;
    EXPECT_EQ(all.cases.size(), 1000u) << limit;
  }
}

TEST(CaseTextReader, AnErrorInTheFirstCaseOfALaterBlockKeepsItsLine) {
  const ReadFile all = read_text(header + dot2 + good2 + "unit exact\n3c00 | 3c00 4000 | 00000000\n");
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->line, 5u);
  EXPECT_EQ(all.error->column, 6u);
  EXPECT_EQ(all.cases.size(), 1u);
}

TEST(CaseTextReader, AMissingHeaderOrAnotherVersionIsAnErrorOfTheFirstLine) {
  for (const char* text :
       {"op scalar rcp format=fp16\n3c00\n", "mmafuzz-cases 2\n", "mmafuzz-cases\n", "mmafuzz-cases 1 \n",
        " mmafuzz-cases 1\n", "\nmmafuzz-cases 1\n", "\xef\xbb\xbfmmafuzz-cases 1\n", "\n"}) {
    const ReadFile all = read_text(text);
    ASSERT_TRUE(all.error) << text;
    EXPECT_EQ(all.error->line, 1u) << text;
    EXPECT_EQ(all.error->column, 1u) << text;
    EXPECT_THAT(all.error->message, StartsWith("expected the first line 'mmafuzz-cases 1', found '")) << text;
    EXPECT_TRUE(all.cases.empty());
  }
}

TEST(CaseTextReader, AnEmptyFileIsAnError) {
  const ReadFile all = read_text("");
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->line, 1u);
  EXPECT_THAT(all.error->message, HasSubstr("empty file, expected the first line 'mmafuzz-cases 1'"));
}

TEST(CaseTextReader, AFolderIsAnError) {
  const Folder folder;
  const ReadFile all = read_file(folder.path());
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->to_string(), folder.path() + ": is a folder, expected a case file");
}

TEST(CaseTextReader, AMissingFileIsAnError) {
  const Folder folder;
  const ReadFile all = read_file(folder.file("none.cases"));
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->to_string(), folder.file("none.cases") + ": cannot open: No such file or directory");
}

TEST(CaseTextWriter, AFolderThatIsMissingIsAnErrorOfTheWriter) {
  const Folder folder;
  for (const char* name : {"none/x.cases", "none/x.cases.gz"}) {
    try {
      CaseWriter writer(folder.file(name));
      FAIL() << name;
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(std::string(e.what()), folder.file(name) + ": cannot write: No such file or directory");
    }
  }
}

TEST(CaseTextWriter, AFullDiskIsAnErrorOfTheWriter) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  CaseWriter writer("/dev/full");
  EXPECT_THROW(writer.finish(), std::runtime_error);
}

// ---- gzip ----

TEST(GzippedCaseText, IsToldByContentNotByName) {
  const Folder folder;
  write_gzip(folder.file("gzip-without-the-ending"), long_mixed_file());
  write_file(folder.file("plain.gz"), long_mixed_file());
  EXPECT_EQ(read_file(folder.file("gzip-without-the-ending")).cases.size(), 300u);
  EXPECT_EQ(read_file(folder.file("plain.gz")).cases.size(), 300u);
}

TEST(GzippedCaseText, TwoMembersInOneFileAreReadAsOneText) {
  const Folder folder;
  write_gzip(folder.file("1.gz"), header + dot2);
  write_gzip(folder.file("2.gz"), good2);
  write_file(folder.file("both.gz"), bytes_of(folder.file("1.gz")) + bytes_of(folder.file("2.gz")));
  const ReadFile all = read_file(folder.file("both.gz"));
  EXPECT_FALSE(all.error);
  EXPECT_EQ(all.cases.size(), 1u);
}

TEST(GzippedCaseText, TruncatedGzipIsAnErrorWithItsPlaceAfterTheCasesBefore) {
  const Folder folder;
  write_gzip(folder.file("x.gz"), long_mixed_file());
  const std::string whole = bytes_of(folder.file("x.gz"));
  const std::vector<ReadCase> cases = read_file(folder.file("x.gz")).cases;
  const std::string path = folder.file("cut.gz");
  size_t most = 0;
  for (size_t length = 1; length < whole.size(); length += length < 40 || length + 40 > whole.size() ? 1 : 37) {
    write_file(path, whole.substr(0, length));
    const ReadFile all = read_file(path);
    ASSERT_TRUE(all.error) << length;
    EXPECT_GE(all.error->line, 1u) << length;
    EXPECT_EQ(all.error->column, 1u) << length;
    if (length > 20) {
      EXPECT_EQ(all.error->message, "gzip data is truncated") << length;
    }
    ASSERT_LE(all.cases.size(), cases.size());
    for (size_t i = 0; i < all.cases.size(); ++i) ASSERT_EQ(all.cases[i], cases[i]) << length;
    if (!all.cases.empty()) {
      EXPECT_GT(all.error->line, all.cases.back().line) << length;
    }
    most = std::max(most, all.cases.size());
  }
  EXPECT_EQ(most, cases.size()) << "a file that lacks only its check sum still holds every case";
}

TEST(GzippedCaseText, CorruptGzipIsAnErrorAndNoWrongCase) {
  const Folder folder;
  write_gzip(folder.file("x.gz"), long_mixed_file());
  const std::string whole = bytes_of(folder.file("x.gz"));
  const std::string path = folder.file("corrupt.gz");
  for (size_t at = 12; at < whole.size(); at += 61) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    write_file(path, bytes);
    const ReadFile all = read_file(path);
    ASSERT_TRUE(all.error) << "a flipped bit in byte " << at;
    EXPECT_GE(all.error->line, 1u);
    EXPECT_GE(all.error->column, 1u);
  }
}

TEST(GzippedCaseText, AWrongCheckSumIsAnErrorAfterEveryCase) {
  const Folder folder;
  write_gzip(folder.file("x.gz"), long_mixed_file());
  std::string bytes = bytes_of(folder.file("x.gz"));
  bytes[bytes.size() - 8] = static_cast<char>(bytes[bytes.size() - 8] ^ 1);
  write_file(folder.file("x.gz"), bytes);
  const ReadFile all = read_file(folder.file("x.gz"));
  ASSERT_TRUE(all.error);
  EXPECT_THAT(all.error->message, StartsWith("gzip data is corrupt"));
  EXPECT_EQ(all.cases.size(), 300u) << "nothing before the damage is lost";
}

// ---- size ----

/// The most memory that this process ever held, MiB.
long peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

void expect_too_long_line(const std::string& path, uint64_t line, size_t cases) {
  const long before = peak_mebibytes();
  const ReadFile all = read_file(path);
  ASSERT_TRUE(all.error);
  EXPECT_EQ(all.error->line, line);
  EXPECT_GT(all.error->column, 1u);
  EXPECT_EQ(all.error->message, "line longer than 32 MiB");
  EXPECT_EQ(all.cases.size(), cases);
  EXPECT_LT(peak_mebibytes() - before, 256) << "memory must not grow with the line";
}

TEST(CaseTextReader, ALineOfAGigabyteIsAnErrorAndTakesLittleMemory) {
  const Folder folder;
  const std::string path = folder.file("zeros.cases");
  write_file(path, header + dot2 + good2);
  std::filesystem::resize_file(path, size_t{1} << 30);  // a hole: bytes of zero, nothing on disk
  expect_too_long_line(path, 4, 1);
}

TEST(CaseTextReader, AFirstLineOfAGigabyteIsAnErrorToo) {
  const Folder folder;
  const std::string path = folder.file("zeros.cases");
  write_file(path, "mmafuzz-cases 1");
  std::filesystem::resize_file(path, size_t{1} << 30);
  expect_too_long_line(path, 1, 0);
}

TEST(GzippedCaseText, AGzipOfOneEndlessLineIsAnErrorAndTakesLittleMemory) {
  const Folder folder;
  const std::string path = folder.file("bomb.cases.gz");
  gzFile file = gzopen(path.c_str(), "wb1");
  ASSERT_NE(file, nullptr);
  gzputs(file, (header + dot2 + good2).c_str());
  const std::string chunk(size_t{1} << 20, 'a');
  for (int i = 0; i < 200; ++i) ASSERT_EQ(gzwrite(file, chunk.data(), unsigned(chunk.size())), int(chunk.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
  ASSERT_LT(std::filesystem::file_size(path), size_t{4} << 20);
  expect_too_long_line(path, 4, 1);
}

TEST(CaseTextReader, TheWidestDotIsReadBack) {
  const Op op = op_of("dot a=fp64 b=fp64 c=fp64 d=fp64 k=65536");
  const Batch batch = random_batch(op, 3, 1);
  const Folder folder;
  CaseWriter writer(folder.file("wide.cases"));
  writer.op(op);
  for (size_t i = 0; i < 3; ++i) writer.one_case(batch, i);
  writer.finish();
  const ReadFile all = read_file(folder.file("wide.cases"));
  ASSERT_FALSE(all.error) << all.error->to_string();
  ASSERT_EQ(all.cases.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(all.cases[i].text, case_line(batch, i));
}

// ---- no input crashes ----

TEST(CaseTextReader, RandomBytesNeverCrash) {
  const Folder folder;
  const std::string path = folder.file("random.cases");
  for (size_t seed = 0; seed < case_count(400, 100'000); ++seed) {
    std::mt19937_64 random(seed);
    std::string bytes = seed % 2 ? header : seed % 4 ? header + dot2 : std::string();
    const size_t size = seed < 50 ? 10'000 : random() % 300;
    while (bytes.size() < size) bytes += static_cast<char>(random());
    write_file(path, bytes);
    const ReadFile all = read_file(path, 1 + random() % 10);
    if (all.error) {
      ASSERT_EQ(all.error->message.find('\n'), std::string::npos) << "seed " << seed;
    }
  }
}

/// What lines are made of, to be put anywhere.
constexpr const char* pieces[] = {"op ",
                                  "unit ",
                                  "property ",
                                  "dot ",
                                  "scalar ",
                                  "gemm ",
                                  "convert ",
                                  "k=",
                                  "k=65536 ",
                                  "k=4294967296 ",
                                  "a=fp16 ",
                                  "d=fp32 ",
                                  "sa=e8m0 ",
                                  "|",
                                  "| ",
                                  "#",
                                  "\n",
                                  "\r\n",
                                  "\n\n",
                                  "3c00",
                                  "00000000",
                                  " ",
                                  "=",
                                  ":",
                                  "?",
                                  "e3m2",
                                  "ff",
                                  "m=",
                                  "n=3 ",
                                  "sblock=",
                                  "alpha=",
                                  "seed=",
                                  "round=",
                                  "\x1f\x8b",
                                  "cfloat8_1_4_3:",
                                  "shp:",
                                  "mmafuzz-cases 1\n",
                                  "ftz=1",
                                  "from=",
                                  "to="};

std::string mutated(std::string text, std::mt19937_64& random) {
  const size_t changes = 1 + random() % 4;
  for (size_t i = 0; i < changes; ++i) {
    const size_t at = random() % (text.size() + 1);
    switch (random() % 6) {
      case 0: text.erase(at, 1 + random() % 20); break;
      case 1: text.insert(at, pieces[random() % std::size(pieces)]); break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 3:
        if (at < text.size()) text[at] = "0123456789abcdef |"[random() % 18];
        break;
      case 4: text.insert(at, text.substr(random() % (text.size() + 1), random() % 60)); break;
      default: text.resize(at); break;
    }
  }
  return text;
}

TEST(CaseTextReader, MutationsOfAValidFileNeverCrashAndEndInCasesOrOneError) {
  const std::string valid =
      header + "# a comment\nunit nvidia.h100/wmma.fp32.fp16\n" + dot2 + good2 + "3c00 4000 | 3c00 4000 | 00000000\n" +
      "op dot a=e2m1 b=e2m1 c=fp32 d=fp32 k=2 sa=e8m0 sb=e8m0 sblock=1\n1 2 | 3 4 | 00000000 | 7f 80 | 7f 7e | "
      "3f800000\n"
      "property monotone_in_c exact\nop convert from=fp32 to=cfloat8_1_4_3:7 round=nearest_even\n3f800000 | 38 | 00\n"
      "op scalar fma format=fp32 round=up\n3f800001 3f800001 bf800002 | 28800000\n"
      "op gemm a=fp16 b=fp16 c=fp16 d=fp16 m=1 n=2 k=1 alpha=3c00 beta=4000\n3c00 | 3c00 3c00 | 0000 0000 | 3c00 "
      "3c00\n";
  const Folder folder;
  const std::string path = folder.file("mutated.cases");
  size_t with_error = 0, without = 0;
  for (size_t seed = 0; seed < case_count(1500, 400'000); ++seed) {
    std::mt19937_64 random(seed);
    const std::string text = mutated(valid, random);
    write_file(path, text);
    const size_t limit = 1 + random() % 4;
    const ReadFile all = read_file(path, limit);
    if (all.error) {
      ++with_error;
      ASSERT_GE(all.error->line, 1u) << "seed " << seed;
      ASSERT_GE(all.error->column, 1u) << "seed " << seed;
      ASSERT_EQ(all.error->message.find('\n'), std::string::npos) << "seed " << seed;
      if (!all.cases.empty()) {
        ASSERT_GT(all.error->line, all.cases.back().line) << "seed " << seed;
      }
    } else {
      ++without;
    }
    // What was read says the same when it is written and read again.
    std::string again = header, last_op;
    for (const ReadCase& c : all.cases) {
      if (c.op != last_op) again += c.op + "\n";
      last_op = c.op;
      again += c.text + "\n";
    }
    write_file(path, again);
    const ReadFile second = read_file(path);
    ASSERT_FALSE(second.error) << "seed " << seed << ": " << second.error->to_string();
    ASSERT_EQ(second.cases.size(), all.cases.size()) << "seed " << seed;
    for (size_t i = 0; i < all.cases.size(); ++i) {
      ASSERT_EQ(second.cases[i].text, all.cases[i].text) << "seed " << seed;
      ASSERT_EQ(second.cases[i].op, all.cases[i].op) << "seed " << seed;
    }
  }
  EXPECT_GT(with_error, 100u);
  EXPECT_GT(without, 100u);
}

}  // namespace
}  // namespace mmafuzz
