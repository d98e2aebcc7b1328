// A row that was saved under a name stands for its unit on every command; files that say nothing clear are refused.
#include "plan/named_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

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

TEST(NamedRows, AFileThatIsWrongSaysWhere) {
  const std::string path = testing::TempDir() + "mmafuzz_bad.rows", op = std::string("op ") + half_op + "\n";
  EXPECT_NE(why_refused(path, "").find("is empty"), std::string::npos);
  EXPECT_NE(why_refused(path, "rows\n").find("bad.rows:1: the first line"), std::string::npos);
  EXPECT_NE(why_refused(path, "mmafuzz-rows 1\nx exact\n").find("bad.rows:2: a row needs an op"), std::string::npos);
  EXPECT_NE(why_refused(path, "mmafuzz-rows 1\n" + op + "x\n").find("bad.rows:3: expected"), std::string::npos);
  EXPECT_NE(why_refused(path, "mmafuzz-rows 1\n" + op + "x model:none\n").find("bad.rows:3: "), std::string::npos);
  EXPECT_NE(why_refused(path, "mmafuzz-rows 1\n" + op + "x model:custom?kernel=none\n").find("bad.rows:3: "),
            std::string::npos);
  EXPECT_THROW(read_rows(testing::TempDir() + "mmafuzz_missing.rows"), BadInput);
}

}  // namespace
}  // namespace mmafuzz
