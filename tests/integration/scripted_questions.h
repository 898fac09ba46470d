// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/remote/ssh/questions.h"

namespace shardscope::testing {

/// Somebody who has all answers ready, or none.
class ScriptedQuestions final : public app::SshQuestions {
public:
    QList<QStringList> answers;
    QList<app::SshQuestion> asked;
    bool isThere = true;

    bool canAsk() const override { return isThere; }
    std::optional<QStringList> ask(const app::SshQuestion& question, app::Wake&) override {
        asked.append(question);
        if (answers.isEmpty())
            return {};
        return answers.takeFirst();
    }
};

} // namespace shardscope::testing
