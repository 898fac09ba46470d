// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/remote/ssh/agent_files.h"

#include <cstring>
#include <elf.h>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>
#include <QSysInfo>

namespace shardscope::app {

using base::Error;
using base::ErrorCode;
using base::Status;

namespace {

const QString kName = QStringLiteral("shardscope-agent");

QStringList placesOf(const QString& architecture) {
    const QString own = QCoreApplication::applicationDirPath();
    const QString inFolder = architecture + QLatin1Char('/') + kName;
    const QString data = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation);
    QStringList places;
    if (const QString told = qEnvironmentVariable("SHARDSCOPE_AGENTS"); !told.isEmpty())
        places.append(told + QLatin1Char('/') + inFolder);
    if (architecture == agentArchitecture(QSysInfo::currentCpuArchitecture())) {
        if (const QString told = qEnvironmentVariable("SHARDSCOPE_AGENT"); !told.isEmpty())
            places.append(told);
        places.append(own + QLatin1Char('/') + kName);
    }
    places +=
        {own + QStringLiteral("/../agents/") + inFolder,
         own + QStringLiteral("/../share/shardscope/agents/") + inFolder,
         data + QStringLiteral("/shardscope/agents/") + inFolder,
         own + QStringLiteral("/../../") + architecture + QStringLiteral("/bin/") + kName};
    return places;
}

/// What the head of an ELF file says.
struct Elf {
    quint8 wordClass = 0;
    quint16 machine = 0;
    bool needsInterpreter = false;
};

template <typename Header, typename Segment>
Elf readElf(const QByteArray& bytes, quint8 wordClass) {
    Header header{};
    std::memcpy(&header, bytes.constData(), sizeof header);
    Elf elf{wordClass, header.e_machine, false};
    for (quint64 i = 0; i < header.e_phnum; ++i) {
        const quint64 at = header.e_phoff + i * sizeof(Segment);
        Segment segment{};
        if (at > static_cast<quint64>(bytes.size()) - sizeof segment)
            break;
        std::memcpy(&segment, bytes.constData() + at, sizeof segment);
        elf.needsInterpreter |= segment.p_type == PT_INTERP;
    }
    return elf;
}

} // namespace

QString agentArchitecture(const QString& machine) {
    if (machine == QLatin1String("x86_64") || machine == QLatin1String("amd64"))
        return QStringLiteral("x86_64");
    if (machine == QLatin1String("aarch64") || machine == QLatin1String("arm64"))
        return QStringLiteral("arm64"); // it is static: the rest of the system may be 32-bit
    if (machine.startsWith(QLatin1String("armv7")) || machine.startsWith(QLatin1String("armv8")))
        return QStringLiteral("armhf");
    return {};
}

Status checkAgentFile(const QString& path, const QString& architecture) {
    const auto failure = [&](const QString& what) {
        return Error{
            ErrorCode::Connection, what.toStdString(), path.toStdString(),
            "build it with `cmake --preset agent`, or armhf or arm64"};
    };
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return failure(QStringLiteral("the agent cannot be read: ") + file.errorString());
    const QByteArray head = file.read(4096);
    if (head.size() < static_cast<qsizetype>(sizeof(Elf64_Ehdr)) || !head.startsWith(ELFMAG))
        return failure(QStringLiteral("this is no Linux program"));
    const bool is64 = head[EI_CLASS] == ELFCLASS64;
    const Elf elf = is64 ? readElf<Elf64_Ehdr, Elf64_Phdr>(head, ELFCLASS64)
                         : readElf<Elf32_Ehdr, Elf32_Phdr>(head, ELFCLASS32);
    const quint16 wanted = architecture == QLatin1String("x86_64")  ? EM_X86_64
                           : architecture == QLatin1String("arm64") ? EM_AARCH64
                                                                    : EM_ARM;
    if (elf.machine != wanted)
        return failure(QStringLiteral("this program is not for %1").arg(architecture));
    return {};
}

base::Result<QString> findAgentFor(const QString& machine) {
    const QString architecture = agentArchitecture(machine);
    if (architecture.isEmpty())
        return Error{
            ErrorCode::Connection, "there is no agent for this processor", machine.toStdString(),
            "boards with armv7l, aarch64 and x86_64 are supported"};
    const QStringList places = placesOf(architecture);
    for (const QString& place : places)
        if (QFileInfo(place).isFile() && checkAgentFile(place, architecture))
            return QDir::cleanPath(QFileInfo(place).absoluteFilePath());
    QStringList clean;
    for (const QString& place : places)
        clean.append(QDir::cleanPath(place));
    const std::string preset =
        architecture == QLatin1String("x86_64") ? "agent" : architecture.toStdString();
    return Error{
        ErrorCode::Connection,
        "there is no agent for " + architecture.toStdString() + "; looked for as " +
            clean.join(QStringLiteral(", ")).toStdString(),
        machine.toStdString(),
        "build it with `cmake --preset " + preset + " && cmake --build --preset " + preset +
            "`, or set SHARDSCOPE_AGENTS"};
}

} // namespace shardscope::app
