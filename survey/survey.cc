#include "survey/survey.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <thread>

#include "core/json_text.h"

namespace mmafuzz::survey {
namespace {

/// Ends the process with exit code 2 when the last limit has passed, whatever hangs; the results are on disk by then.
class LastResort {
 public:
  LastResort(Book& book, Clock::time_point limit) : thread_([this, &book, limit] { wait(book, limit); }) {}
  ~LastResort() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void wait(Book& book, Clock::time_point limit) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_until(lock, limit, [&] { return is_over_; })) return;
    book.close("a step did not come back in time");
    std::quick_exit(2);
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

void run_step(Context& context, const Step& step) {
  Json result = {{"step", step.name}, {"kind", step.kind}, {"unit", step.unit}, {"limit", step.limit}};
  const auto begin = Clock::now();
  if (begin >= context.end) {
    result["status"] = "out of time";
    context.book.end_step(std::move(result));
    return;
  }
  context.book.begin_step(result);
  const auto deadline = std::min(seconds_after(begin, step.limit), context.end);
  context.child->give_up_at(std::min(seconds_after(deadline, context.options.patience), context.last_call));
  result["status"] = "done";
  try {
    step.work(result, deadline);
  } catch (const DeviceLost& e) {
    result["status"] = "lost";
    result["why"] = e.what();
    context.book.note_finding("lost", step.name, step.unit, e.what());
  } catch (const OutOfTime& e) {
    result["status"] = "out of time";
    result["why"] = e.what();
  } catch (const std::exception& e) {
    result["status"] = "failed";
    result["why"] = e.what();
    context.book.note_finding("failed", step.name, step.unit, e.what());
  }
  result["seconds"] = seconds_since(begin);
  fmt::print("{:6.1f} s  {}: {}{}\n", seconds_since(context.start),
             step.name + (step.unit.empty() ? "" : " " + step.unit), result["status"].get<std::string>(),
             result.contains("why") ? ", " + result["why"].get<std::string>() : "");
  std::fflush(stdout);
  context.book.end_step(std::move(result));
}

void look_at_device(Context& context, Json& result) {
  const Result<DeviceInfo> device = context.child->info();
  if (!device) throw std::runtime_error("no device: " + device.refusal().reason);
  context.book.set("device", to_text(*device));
  result["device"] = to_text(*device);
  result["multiprocessors"] = device->multiprocessors;
  context.arch = arch_of_capability(device->major, device->minor);
  for (const Instruction& i : instructions()) {
    if (!(i.archs & context.arch)) continue;
    if (selected(context, "cuda:" + i.name)) context.instructions.push_back(&i);
    const std::string path = UnitName(claimed_model(i, context.arch)).path;  // "hopper/mma..."; "" of no model
    if (context.family.empty()) context.family = path.substr(0, path.find('/'));
  }
  result["matrix_units"] = context.instructions.size();
  Json libraries = Json::array();
  for (const UnitInfo& info : context.registry.list())
    if (info.name.starts_with("cublas:")) libraries.push_back({{"name", info.name}, {"unavailable", info.unavailable}});
  result["libraries"] = std::move(libraries);
}

}  // namespace

const std::vector<Part>& parts() {
  static const std::vector<Part> all = {
      {"control", control_steps},
      {"discriminators", discriminator_steps},
      {"published", published_steps},
      {"sweep", short_sweep_steps},
      {"cores", core_steps},
      {"conversions", conversion_steps},
      {"ozaki", ozaki_steps},
      {"cublas", cublas_steps},
      {"dgemm", dgemm_steps},
      {"sanitizer", sanitizer_steps},
      {"long_sweep", long_sweep_steps},
      {"rates", rate_steps},
  };
  return all;
}

bool selected(const Context& context, const std::string& unit) { return matches_any_glob(context.options.units, unit); }

void run_or_lose(const Context& context, const Unit& unit, const Batch& batch, Outcomes& outcomes) {
  const uint64_t losses = context.child->losses();
  unit.run(batch, outcomes);
  if (outcomes.answered.empty()) return;
  throw DeviceLost(context.child->losses() != losses ? context.child->last_loss() : unit.name() + " gave no answer");
}

int run(const Options& options, const Registry& registry, const std::shared_ptr<DeviceChild>& child) {
  const auto start = Clock::now(), last_call = seconds_after(start, options.seconds);
  const auto end = seconds_after(start, options.seconds - std::min(options.patience, 0.1 * options.seconds));
  Book book(options.output, {{"json_version", json_version},
                             {"recorded_by", options.recorded_by},
                             {"seconds", options.seconds},
                             {"seed", options.seed},
                             {"units", options.units}});
  const LastResort last_resort(book, seconds_after(last_call, 5));
  Context context{options, registry, child, book, start, end, last_call, 0, "", {}};
  run_step(context, {"device and libraries", "facts", "", 60,
                     [&](Json& result, Clock::time_point) { look_at_device(context, result); }});
  if (context.arch == 0) {
    book.close("no device");
    return 2;
  }
  for (const Part& part : parts()) {
    if (!options.parts.empty() && !matches_any_glob(options.parts, part.name)) continue;
    std::vector<Step> steps;
    run_step(context, {std::string("plan of ") + part.name, "plan", "", 30, [&](Json& result, Clock::time_point) {
                         steps = part.steps(context);
                         result["steps"] = steps.size();
                       }});
    for (const Step& step : steps) run_step(context, step);
  }
  book.close("");
  const size_t divergences = book.count_findings("divergence") + book.count_findings("unstable"),
               troubles = book.count_findings("lost") + book.count_findings("failed");
  fmt::print("survey: {} divergences and instabilities, {} losses and failures; {}/note.md\n", divergences, troubles,
             options.output);
  return divergences ? 1 : troubles ? 2 : 0;
}

}  // namespace mmafuzz::survey
