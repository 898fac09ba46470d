#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a model under several settings and prints, for each, what was planned and what was measured.

    memory_table.py --agent build/release/bin/shardscope-agent --model M.bin \\
        --knobs "--budget 24MiB" --knobs "--budget 12MiB --encoder-shard tensor --slots 1"

`process` is the peak of the resident set as the kernel reports it when the agent has ended; what it
holds beside the arena is the last column. Without --knobs: everything resident.
"""

import argparse
import json
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIPS = os.path.join(ROOT, "resources", "clips")
MIB = 1 << 20


def peak_of(command):
    """Exit status and peak resident bytes. vfork: the peak of a forked child begins with ours."""
    pid = os.posix_spawn(
        command[0], command, os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(pid, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024


def measured(options, knobs):
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "result.json")
        command = [options.agent, "run", "--model", options.model, "--audio", options.audio]
        command += ["--raw-greedy", "--max-tokens", str(options.tokens), "--json", result]
        code, peak = peak_of(command + knobs.split())
        if code != 0:
            return None
        with open(result) as file:
            return json.load(file), peak


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--agent", required=True, metavar="FILE", help="a shardscope-agent")
    p.add_argument("--model", required=True, metavar="FILE", help="a ggml Whisper model")
    p.add_argument("--audio", metavar="FILE", help="16 kHz mono WAV; default: a sample")
    p.add_argument("--tokens", type=int, default=8, metavar="N", help="decoded; default: 8")
    p.add_argument("--knobs", action="append", metavar="TEXT", help="settings of a row; repeat")
    options = p.parse_args()
    options.agent = os.path.abspath(options.agent)
    if not options.audio:
        clips = sorted(name for name in os.listdir(CLIPS) if name.endswith(".wav"))
        options.audio = os.path.join(CLIPS, clips[0])
    heads = ("planned", "arena", "process", "beside", "encode", "token")
    print("%9s %9s %9s %9s %11s %10s  settings" % heads)
    failed = False
    for knobs in options.knobs or [""]:
        row = measured(options, knobs)
        if row is None:
            failed = True
            continue
        result, peak = row
        memory, timing = result["memory"], result["timing"]
        planned = memory["planned_peak_bytes"]
        arena = memory["arena_peak_bytes"]
        print("%5.1f MiB %5.1f MiB %5.1f MiB %5.2f MiB %8.0f ms %7.2f ms  %s" % (
            planned / MIB, arena / MIB, peak / MIB, (peak - planned) / MIB,
            timing["encode_ms"], timing["decode_ms_per_token"], knobs or "(all resident)"))
        failed = failed or arena != planned
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
