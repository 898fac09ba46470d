// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/demo.h"

#include <algorithm>

#include "app/cli/result_text.h"
#include "app/cli/run_headless.h"
#include "app/cli/terminal.h"
#include "app/remote/sample.h"
#include "app/replay/what_if.h"
#include "sim_engine/base/format.h"
#include "sim_engine/plan/knobs.h"

namespace shardscope::app {

using Json = nlohmann::ordered_json;

namespace {

/// What the simulator says of the run that was just measured.
Json predictedResult(const RunDocument& document) {
    const std::int32_t windows = std::max(1, document.windows());
    const sim::Workload workload{(document.tokens() + windows - 1) / windows, windows};
    const Prediction p = predict(document.card(), document.config(), document.board(), workload);
    if (!p.plan)
        return nullptr;
    return analyze::resultJson(p.summary, *p.plan, plan::loaderName(p.plan->config.loader), "");
}

std::string conditions(const RunOrder& order) {
    return "The sample model, held to " + base::bytesText(*order.config.budget) + " and reads of " +
           base::rateText(order.config.emulateRead->real()) + ":\n\n";
}

} // namespace

int runDemo(QString* recording) {
    auto order = demoOrder();
    if (!order)
        return fail(order.error());
    auto store = RunStore::open(DataPaths::standard());
    if (!store)
        return fail(store.error());
    RunDocument document;
    if (const auto error = runToEnd(store->get(), *order, document))
        return fail(*error);
    print(conditions(*order) + resultText(document.result()));
    if (const Json predicted = predictedResult(document); !predicted.is_null()) {
        Table table;
        table.add({"", "predicted", "measured", "difference"});
        for (const FigureDelta& d : compareResults(predicted, document.result()))
            if (!d.change.empty())
                table.add({d.name, d.before, d.after, d.change});
        print("\nThe simulator's word on it, from the same plan:\n\n" + table.text());
    }
    print(
        "\nkept as run " + document.uuid().left(8).toStdString() +
        "; `shardscope` shows it in the window\n");
    if (recording)
        *recording = (*store)->paths().recording(document.uuid());
    return 0;
}

} // namespace shardscope::app
