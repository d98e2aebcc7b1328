// A row that was saved under a name stands for its unit on the commands that have --rows; files that say nothing clear
// are refused.
#include "plan/named_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "core/parallel.h"
#include "plan/registry.h"
#include "plan/request.h"
#include "plan/unit_alias.h"

namespace mmafuzz {
namespace {

const char half_op[] = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=4";
const char row[] = "model:custom?kernel=fused_sum,k=4,block=4,fraction_bits=23,output_rounding=toward_zero";

std::string why_refused(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
  try {
    read_rows(path);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(NamedRows, ASavedNameStandsForItsUnit) {
  const std::string path = testing::TempDir() + "mmafuzz_my.rows";
  std::remove(path.c_str());
  const Op op = op_from_text(half_op), other = op_from_text("dot a=bf16 b=bf16 c=fp32 d=fp32 k=4");
  save_row(path, {"mychip", row, op});
  save_row(path, {"mychip", "ieee:fma", other});  // the same name on another op
  EXPECT_THROW(save_row(path, {"mychip", "exact", op}), BadInput);
  EXPECT_THROW(save_row(path, {"h100", row, op}), BadInput);
  EXPECT_THROW(save_row(path, {"exact", row, op}), BadInput);
  EXPECT_THROW(save_row(path, {"my chip", row, op}), BadInput);
  EXPECT_EQ(read_rows(path).size(), 2u);

  EXPECT_FALSE(is_alias("mychip"));
  take_rows(path);
  take_rows(path);  // once is enough
  EXPECT_TRUE(is_alias("mychip?block=2"));
  EXPECT_EQ(unit_of_alias("mychip", op), row);
  EXPECT_EQ(unit_of_alias("mychip", op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=64")), row) << "any k";
  EXPECT_EQ(unit_of_alias("mychip?block=2", op), std::string(row) + ",block=2");
  EXPECT_EQ(unit_of_alias("mychip", other), "ieee:fma");
  EXPECT_EQ(bind_or_fail("mychip", op)->name(), row);
  EXPECT_THROW(bind_or_fail("mychip", op_from_text("dot a=fp16 b=fp16 c=fp16 d=fp16 k=4")), BadInput);
  const std::vector<std::string> searched = units_of({}, op);
  EXPECT_EQ(std::count(searched.begin(), searched.end(), row), 1) << "where no unit is named, rows of one's own join";
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(NamedRows, ARowIsSavedBehindWhatAFileHolds) {
  const std::string path = testing::TempDir() + "mmafuzz_behind.rows";
  const Op op = op_from_text(half_op);
  std::ofstream{path};  // empty
  save_row(path, {"mine", row, op});
  EXPECT_EQ(text_of(path), "mmafuzz-rows 1\nop " + std::string(half_op) + "\nmine " + row + "\n");
  std::ofstream(path) << "mmafuzz-rows 1\nop " << half_op << "\nfirst exact";  // no newline at the end
  save_row(path, {"mine", row, op});
  ASSERT_EQ(read_rows(path).size(), 2u);
  EXPECT_EQ(read_rows(path)[0].unit, "exact");
  EXPECT_THROW(save_row(path, {"op", row, op}), BadInput) << "begins an op line";
  EXPECT_THROW(check_can_save(testing::TempDir(), "mine", op), BadInput);
  EXPECT_THROW(check_can_save(testing::TempDir() + "no_such_folder/my.rows", "mine", op), BadInput);
  EXPECT_THROW(check_can_save("", "mine", op), BadInput);
}

TEST(NamedRows, ARowHoldsTheWholeNameOfItsUnit) {
  const std::string path = testing::TempDir() + "mmafuzz_short.rows";
  std::ofstream(path) << "mmafuzz-rows 1\r\nop dot a=fp16 b=fp16 c=fp32 d=fp32 k=16\r\nshort h100\r\n";
  const std::vector<NamedRow> rows = read_rows(path);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].unit, "model:hopper/mma.m16n8k16.f32.f16.f16.f32");
  take_rows(path);
  EXPECT_EQ(unit_of_alias("short", rows[0].op), rows[0].unit);
}

TEST(NamedRows, FilesAreTakenWhileOtherThreadsNameUnits) {
  const Op op = op_from_text(half_op);
  constexpr int files = 64;
  const auto name = [](int i) { return "taken" + std::to_string(i); };
  const auto path = [&](int i) { return testing::TempDir() + "mmafuzz_" + name(i) + ".rows"; };
  for (int i = 0; i < files; ++i)
    std::ofstream(path(i)) << "mmafuzz-rows 1\nop " << half_op << "\n" << name(i) << " exact\n";
  take_rows(path(0));
  const NamedRow* first = find_named_row(name(0));
  in_parallel(4, 4, [&](size_t part) {
    for (int i = 0; i < files; ++i) {
      if (part < 2) take_rows(path(i));
      else EXPECT_EQ(unit_of_alias(name(0), op), "exact");
    }
  });
  EXPECT_EQ(find_named_row(name(0)), first) << "it stays where it is";
  EXPECT_EQ(first->name, name(0));
  for (int i = 0; i < files; ++i) EXPECT_EQ(find_named_rows(name(i)).size(), 1u) << "once, whoever took the file";
}

TEST(NamedRows, AFileWithANameOfAnotherIsNotTaken) {
  const std::string one = testing::TempDir() + "mmafuzz_one.rows", two = testing::TempDir() + "mmafuzz_two.rows";
  const std::string head = std::string("mmafuzz-rows 1\nop ") + half_op + "\n";
  std::ofstream(one) << head << "ofone exact\n";
  std::ofstream(two) << head << "oftwo exact\nofone ieee:fma\n";
  take_rows(one);
  EXPECT_THROW(take_rows(two), BadInput);
  EXPECT_EQ(find_named_row("oftwo"), nullptr);
  EXPECT_EQ(unit_of_alias("ofone", op_from_text(half_op)), "exact");
}

TEST(NamedRows, AUnitOnFormatsTakesThemAtAnyLength) {
  const std::string half = std::string(row) + " on " + half_op;
  const Op longer = op_from_text("dot a=fp16 b=fp16 c=fp32 d=fp32 k=64"),
           other = op_from_text("dot a=bf16 b=bf16 c=fp32 d=fp32 k=4");
  EXPECT_EQ(units_of({half}, longer), std::vector<std::string>{row});
  EXPECT_EQ(units_of({half, "exact"}, other), std::vector<std::string>{"exact"});
  EXPECT_FALSE(unit_on_formats("process:./on on that"));
}

TEST(NamedRows, AFileThatIsWrongSaysWhere) {
  const std::string path = testing::TempDir() + "mmafuzz_bad.rows", op = std::string("op ") + half_op + "\n";
  EXPECT_NE(why_refused(path, "").find("is empty"), std::string::npos);
  EXPECT_NE(why_refused(path, "rows\n").find("bad.rows:1: the first line"), std::string::npos);
  EXPECT_NE(why_refused(path, "mmafuzz-rows 1\nx exact\n").find("bad.rows:2: a row needs an op"), std::string::npos);
  EXPECT_NE(why_refused(path, "mmafuzz-rows 1\n" + op + "x\n").find("bad.rows:3: expected"), std::string::npos);
  EXPECT_NE(why_refused(path, "mmafuzz-rows 1\n" + op + "x model:none\n").find("bad.rows:3: "), std::string::npos);
  EXPECT_NE(why_refused(path, "mmafuzz-rows 1\n" + op + "x model:custom?kernel=none\n").find("bad.rows:3: "),
            std::string::npos);
  EXPECT_NE(why_refused(path, "mmafuzz-rows 1\n" + op + "x exact\n\nx ieee:fma\n")
                .find("bad.rows:5: the name x is given twice"),
            std::string::npos);
  EXPECT_NE(why_refused(path, "mmafuzz-rows 1\n" + op + "1x exact\n").find("a letter, then letters, digits"),
            std::string::npos);
  EXPECT_THROW(read_rows(testing::TempDir() + "mmafuzz_missing.rows"), BadInput);
  EXPECT_NE(why_refused(testing::TempDir(), "").find("a folder"), std::string::npos);
  EXPECT_NE(why_refused("", "").find("the name of the rows' file is empty"), std::string::npos);
}

}  // namespace
}  // namespace mmafuzz
