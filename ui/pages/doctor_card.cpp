// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/doctor_card.h"

#include <QCoreApplication>
#include <QGridLayout>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include "ui/kit/parts.h"

namespace shardscope::ui {
namespace {

QString tr(const char* words) {
    return QCoreApplication::translate("DoctorCard", words);
}

/// "io_uring", for people.
QString checkName(const QJsonValue& finding) {
    return finding.toObject()["check"].toString().replace(QLatin1Char('_'), QLatin1Char(' '));
}

QLabel* wrapped(const QString& words, const char* look) {
    QLabel* sentence = label(words, look);
    sentence->setWordWrap(true);
    sentence->setTextInteractionFlags(Qt::TextSelectableByMouse); // a mend is often a command
    return sentence;
}

} // namespace

QWidget* doctorCard(const QString& report) {
    const QJsonArray findings =
        QJsonDocument::fromJson(report.toUtf8()).object()["findings"].toArray();
    if (findings.isEmpty())
        return nullptr;
    auto* card = frame("card");
    auto* grid = new QGridLayout(card);
    grid->setContentsMargins(18, 14, 18, 16);
    grid->setHorizontalSpacing(14);
    grid->setVerticalSpacing(9);
    grid->setColumnStretch(2, 1);
    grid->addWidget(label(tr("Doctor"), "section"), 0, 0, 1, 3);
    int at = 1;
    for (const auto& [severity, look] :
         {std::pair{"problem", "badge-bad"}, {"warning", "badge-warning"}, {"note", "badge"}})
        for (const QJsonValue& value : findings) {
            const QJsonObject finding = value.toObject();
            if (finding["severity"].toString() != QLatin1String(severity))
                continue;
            grid->addWidget(label(tr(severity), look), at, 0, Qt::AlignLeft | Qt::AlignTop);
            grid->addWidget(label(checkName(value), "value"), at, 1, Qt::AlignLeft | Qt::AlignTop);
            grid->addWidget(wrapped(finding["what"].toString(), ""), at++, 2);
            if (const QString mend = finding["mend"].toString(); !mend.isEmpty())
                grid->addWidget(wrapped(mend, "muted"), at++, 2);
        }
    QStringList fine;
    for (const QJsonValue& value : findings)
        if (value.toObject()["severity"].toString() == QLatin1String("good"))
            fine.append(checkName(value));
    if (!fine.isEmpty())
        grid->addWidget(
            wrapped(tr("Fine: %1").arg(fine.join(QStringLiteral(", "))), "muted"), at, 0, 1, 3);
    return card;
}

} // namespace shardscope::ui
