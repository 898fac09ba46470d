// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/notes_row.h"

#include <QAction>
#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include "sim_engine/base/format.h"
#include "ui/kit/icon.h"
#include "ui/kit/parts.h"

namespace shardscope::ui {
namespace {

constexpr int kChipText = 220; ///< px

QString rangeText(const TimeRange& range) {
    const QString begin = QString::fromStdString(base::timeText(range.begin));
    return range.empty() ? begin
                         : QStringLiteral("%1 \u2013 %2")
                               .arg(begin, QString::fromStdString(base::timeText(range.end)));
}

} // namespace

NotesRow::NotesRow(TimeState* time, QWidget* parent)
    : QWidget(parent), m_time(time), m_chips(new QHBoxLayout), m_entry(new QWidget),
      m_about(label({}, "muted")), m_editor(new QLineEdit) {
    setProperty("look", "panel");
    setAttribute(Qt::WA_StyledBackground);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14, 5, 14, 5);
    row->setSpacing(8);
    m_chips->setSpacing(6);
    row->addLayout(m_chips);
    auto* entry = new QHBoxLayout(m_entry);
    entry->setContentsMargins(0, 0, 0, 0);
    entry->setSpacing(8);
    m_editor->setObjectName(QStringLiteral("results.note"));
    m_editor->setPlaceholderText(tr("What happens here? Enter keeps it, Esc does not"));
    m_editor->setAccessibleName(tr("Note"));
    m_editor->installEventFilter(this);
    entry->addWidget(m_about);
    entry->addWidget(m_editor, 1);
    row->addWidget(m_entry, 1);
    row->addStretch();
    m_entry->hide();
    connect(m_editor, &QLineEdit::returnPressed, this, &NotesRow::commit);
    connect(m_time, &TimeState::notesChanged, this, &NotesRow::refresh);
    connect(m_time, &TimeState::runChanged, this, [this] {
        if (m_time->notes().empty())
            closeEditor();
    });
    refresh();
}

bool NotesRow::beginNote() {
    const auto range = m_time->noteRange();
    if (!range)
        return false;
    m_range = *range;
    m_about->setText(tr("Note on %1").arg(rangeText(m_range)));
    m_editor->clear();
    m_entry->show();
    show();
    m_editor->setFocus();
    return true;
}

void NotesRow::commit() {
    const QString text = m_editor->text().simplified();
    closeEditor();
    if (text.isEmpty())
        return;
    std::vector<TimeNote> notes = m_time->notes();
    notes.push_back({m_range, text});
    emit notesEdited(notes);
}

void NotesRow::closeEditor() {
    m_entry->hide();
    setVisible(!m_time->notes().empty());
}

bool NotesRow::eventFilter(QObject* watched, QEvent* event) {
    const bool isKey = event->type() == QEvent::KeyPress;
    if (isKey && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        closeEditor();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void NotesRow::refresh() {
    while (QLayoutItem* item = m_chips->takeAt(0)) {
        if (item->widget())
            item->widget()->deleteLater();
        delete item;
    }
    const auto& notes = m_time->notes();
    for (std::size_t i = 0; i < notes.size(); ++i) {
        auto* chip =
            button(fontMetrics().elidedText(notes[i].text, Qt::ElideRight, kChipText), "chip");
        chip->setObjectName(QStringLiteral("results.noteChip"));
        chip->setToolTip(tr("%1: %2\nClick shows it, a right click offers more.")
                             .arg(rangeText(notes[i].range), notes[i].text));
        connect(chip, &QPushButton::clicked, this, [this, range = notes[i].range] {
            if (range.empty()) {
                m_time->setCursor(range.begin);
                return m_time->reveal(range.begin);
            }
            m_time->setSelection(range);
            const base::Nanos margin(range.span().value / 2);
            m_time->zoomTo({range.begin - margin, range.end + margin});
        });
        auto* remove = new QAction(tr("Delete this note"), chip);
        connect(remove, &QAction::triggered, this, [this, i] {
            std::vector<TimeNote> left = m_time->notes();
            left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
            emit notesEdited(left);
        });
        chip->addAction(remove);
        chip->setContextMenuPolicy(Qt::ActionsContextMenu);
        m_chips->addWidget(chip);
    }
    setVisible(!notes.empty() || !m_entry->isHidden());
}

} // namespace shardscope::ui
