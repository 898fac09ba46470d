// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/model_flag.h"

#include "sim_engine/model/card_catalog.h"

namespace shardscope::app {

base::Result<std::shared_ptr<const model::ModelCard>> cardFromArgs(const base::Args& args) {
    auto model = args.required("--model");
    if (!model)
        return model.error();
    auto card = model::loadCard(*model);
    if (!card)
        return card.error();
    return std::make_shared<const model::ModelCard>(std::move(*card));
}

} // namespace shardscope::app
