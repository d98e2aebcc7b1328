// A target without an engine: runs files and folders of case text (.cases, .cases.gz) or of an engine's raw inputs.
// `--encode=FOLDER FILES` writes case text as an engine's seed inputs instead, `--decode FILES` prints inputs as case
// text.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "core/replace_file.h"
#include "fuzz_targets/target.h"

namespace mmafuzz {

void report_bin(int, int) {}
size_t neighbour_factor() { return max_neighbour_factor; }

namespace {

namespace fs = std::filesystem;

bool is_case_text(const std::string& path) { return path.ends_with(".cases") || path.ends_with(".cases.gz"); }

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!fs::exists(path)) throw std::runtime_error(path + ": no such file or folder");
    if (!fs::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file()) found.push_back(entry.path().string());
    std::sort(found.begin(), found.end());
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

std::vector<uint8_t> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int replay(int argc, char** argv) {
  std::vector<const char*> arguments = {argv[0]};
  std::vector<std::string> paths;
  std::string encode_to;
  bool decode = false;
  constexpr std::string_view encode_option = "--encode=";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "-h") arguments.push_back("--help");
    else if (argument.starts_with(encode_option)) encode_to = argument.substr(encode_option.size());
    else if (argument == "--decode") decode = true;
    else if (argument.starts_with("--")) arguments.push_back(argv[i]);
    else paths.push_back(argument);
  }
  const TargetOptions options = TargetOptions::parse(static_cast<int>(arguments.size()), arguments.data());
  if (paths.empty()) throw std::runtime_error(std::string("give files or folders to replay: ") + argv[0] + " PATH...");
  const std::unique_ptr<Target> target = make_target(options);
  size_t inputs = 0, cases = 0;
  for (const std::string& path : files_of(paths)) {
    if (!encode_to.empty()) {
      fs::create_directories(encode_to);
      for (const std::vector<uint8_t>& bytes : target->encode_cases(path))
        write_output(encode_to + "/" + fs::path(path).stem().string() + "-" + std::to_string(inputs++),
                     {bytes.begin(), bytes.end()});
    } else if (is_case_text(path)) {
      cases += target->replay_cases(path);
    } else {
      const std::vector<uint8_t> bytes = bytes_of(path);
      if (decode) std::printf("# %s\n%s", path.c_str(), target->decode_input(bytes.data(), bytes.size()).c_str());
      else target->run(bytes.data(), bytes.size());
      ++inputs;
    }
  }
  if (inputs + cases == 0) throw std::runtime_error("nothing to replay there");
  if (!decode)
    std::printf("%zu cases of case text, %zu inputs, %zu kinds of divergence\n", cases, inputs, target->divergences());
  return 0;
}

}  // namespace
}  // namespace mmafuzz

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // as the command does
  try {
    return mmafuzz::replay(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  }
}
