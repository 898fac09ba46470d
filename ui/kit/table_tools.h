// SPDX-License-Identifier: GPL-3.0-or-later
// What every table offers: rows that can be copied, columns that can be chosen.
#pragma once

class QTableView;

namespace shardscope::ui {

/// Ctrl+C copies the selected rows as lines of cells with tabs between; the same as an action of
/// the table. At most some ten thousand rows are taken.
void addCopyAction(QTableView* table);

/// A right click on the header chooses which columns are shown; one always stays.
void addColumnChooser(QTableView* table);

} // namespace shardscope::ui
