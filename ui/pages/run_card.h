// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/store/run_record.h"
#include "ui/kit/tile_button.h"

namespace shardscope::ui {

/// A run on the start page: picture of its memory, model, board, date, peak, time a token.
class RunCard : public TileButton {
    Q_OBJECT
public:
    explicit RunCard(const app::RunRecord& run, QWidget* parent = nullptr);
};

} // namespace shardscope::ui
