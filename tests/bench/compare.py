#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a whisper-bench beside shardscope-agent on the same model file and prints the ratios.

The two take turns, so that whatever the machine does beside them hurts both; the medians count.
Encode is what whisper.cpp counts as such: convolutions, layers, and keys and values of
cross-attention. Decode is one token at a time with everything in RAM.

    compare.py --peer whisper-bench --agent build/release/bin/shardscope-agent --model M.bin
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIPS = os.path.join(ROOT, "resources", "clips")


def output_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit("%s ended with %d:\n%s" % (command[0], done.returncode, done.stdout.strip()))
    return done.stdout


def peer_times(options, threads):
    """Encode and decode in ms, from the lines `encode time = 1356.78 ms / 1 runs ( ... )`."""
    text = output_of(
        [options.peer, "-m", options.model, "-t", str(threads), *options.peer_flags.split()]
    )
    times = {}
    for name, per_run in re.findall(r"(\w+) time =.*\(\s*([0-9.]+) ms per run\)", text):
        times[name] = float(per_run)
    if "encode" not in times or "decode" not in times:
        sys.exit("%s printed no times:\n%s" % (options.peer, text.strip()))
    return times["encode"], times["decode"]


def agent_times(options, threads):
    read, write = os.pipe()
    command = [options.agent, "run", "--model", options.model, "--audio", options.audio]
    command += ["--threads", str(threads), "--max-tokens", str(options.tokens), "--raw-greedy"]
    command += ["--json", "/dev/fd/%d" % write, *options.agent_flags.split()]
    done = subprocess.Popen(
        command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    with os.fdopen(read) as pipe:
        document = pipe.read()
    said = done.communicate()[1]
    if done.returncode != 0:
        sys.exit(said.strip())
    timing = json.loads(document)["timing"]
    return timing["encode_ms"] + timing["cross_kv_ms"], timing["decode_ms_per_token"]


def row(name, peer, ours):
    peer, ours = statistics.median(peer), statistics.median(ours)
    return {"peer": peer, "ours": ours, "ratio": ours / peer, "name": name}


def compare(options, threads):
    peer, ours = [], []
    for round_number in range(options.rounds):
        print("\r%d threads, round %d of %d" % (threads, round_number + 1, options.rounds),
              end="", file=sys.stderr, flush=True)
        ours.append(agent_times(options, threads))
        peer.append(peer_times(options, threads))
    print("\r\033[K", end="", file=sys.stderr)
    return [
        row("encode, %d threads" % threads, [p[0] for p in peer], [o[0] for o in ours]),
        row("decode, %d threads" % threads, [p[1] for p in peer], [o[1] for o in ours]),
    ]


def parsed():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--peer", required=True, metavar="FILE", help="a whisper-bench")
    p.add_argument("--peer-flags", default="", metavar="TEXT",
                   help="more flags for it, e.g. --peer-flags=-nfa (no flash attention)")
    p.add_argument("--agent", required=True, metavar="FILE", help="a shardscope-agent")
    p.add_argument("--agent-flags", default="", metavar="TEXT", help="more flags for it")
    p.add_argument("--model", required=True, metavar="FILE", help="a ggml Whisper model")
    p.add_argument("--audio", metavar="FILE", help="16 kHz mono WAV, up to 30 s; default: a sample")
    p.add_argument("--threads", default="1,2", metavar="LIST", help="default: 1,2")
    p.add_argument("--rounds", type=int, default=5, metavar="N", help="default: 5")
    p.add_argument("--tokens", type=int, default=224, metavar="N", help="decoded; default: 224")
    p.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = p.parse_args()
    if not options.audio:
        clips = sorted(name for name in os.listdir(CLIPS) if name.endswith(".wav"))
        options.audio = os.path.join(CLIPS, clips[0])
    return options


def main():
    options = parsed()
    rows = []
    for threads in options.threads.split(","):
        rows += compare(options, int(threads))
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print("%s, medians of %d rounds" % (os.path.basename(options.model), options.rounds))
    print("%-20s %12s %12s %8s" % ("", "peer ms", "ours ms", "ratio"))
    for r in rows:
        print("%-20s %12.2f %12.2f %8.2f" % (r["name"], r["peer"], r["ours"], r["ratio"]))


if __name__ == "__main__":
    main()
