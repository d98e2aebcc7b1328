// mmafuzz campaign-worker: one worker process of a campaign, which `mmafuzz campaign` starts.
#include "campaign/batch_worker.h"
#include "cli/command.h"

namespace mmafuzz::cli {

void add_campaign_worker(Arguments& app, int& status) {
  auto options = std::make_shared<WorkerOptions>();
  Arguments* sub = app.add_subcommand("campaign-worker", "One worker process of a campaign")->group("");
  sub->add_option("--target", options->target)->required();
  sub->add_option("--op", options->op)->required();
  sub->add_option("--units", options->units);
  sub->add_option("--corpus", options->corpus)->required();
  sub->add_option("--segment", options->segment)->required();
  sub->add_option("--status", options->status)->required();
  sub->add_option("--seed", options->seed);
  sub->add_option("--cases", options->cases);
  sub->add_option("--earlier", options->walked_before);
  sub->add_option("--time", options->seconds);
  sub->add_flag("--alone", options->is_alone);
  sub->add_flag("--files", options->writes_files);
  sub->callback([options, &status] {
    options->units = split_units(options->units);
    run_batch_worker(*options);
    status = exit_ok;
  });
}

}  // namespace mmafuzz::cli
