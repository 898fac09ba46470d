#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how well the engine streams weights, and prints what it reaches beside what it should.

  throughput   bytes streamed / time while tokens are decoded with RAM for a part of the weights,
               against fio with the same request size and depth on the same file   (>= 0.90)
  mmap         tokens per second against the loader mmap under the same memory cgroup (>= 5)
  encode,      share of the read time that no op waits for, with reads held to 0.9 of the compute
  hidden       time by --emulate-read: in the encoder, and while tokens are decoded (>= 0.95)
  throttle     rate that --emulate-read keeps, against the one that was asked for
  tracing      time of a run with events against one without                       (<= 1.01)

Ours and the other take turns; medians of the rounds count. `throughput` wants fio; `mmap` and
--device-limit want root and cgroup v1 (memory, blkio), and leave no group behind.

    stream.py --agent build/release/bin/shardscope-agent --model M.bin
    stream.py --agent A --model M.bin --only throughput,mmap --device-limit 400MB --json
"""

import argparse
import json
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CLIPS = os.path.join(ROOT, "resources", "clips")
MIB = 1 << 20
URING_PIECE, URING_DEPTH = 512 << 10, 8  # of UringLoader
SLOTS = 2
PHASE, COMPUTE, READ, STALL, LOAD = 3, 4, 5, 6, 7  # trace::EventKind
PREFILL_PASS, DECODE_PASS = 2, 3  # model::PassKind
ROW_READ = 0xFFFFFFFE


class Group:
    """A cgroup v1 that goes away with the block."""

    def __init__(self, controller, files):
        self.files = files
        self.path = "/sys/fs/cgroup/%s/shardscope-stream-%d" % (controller, os.getpid())

    def __enter__(self):
        try:
            os.mkdir(self.path)
            for name, value in self.files.items():
                with open(os.path.join(self.path, name), "w") as f:
                    f.write(value)
        except OSError as error:
            if os.path.isdir(self.path):
                os.rmdir(self.path)
            sys.exit("%s: %s; run as root where cgroup v1 is mounted" % (self.path, error.strerror))
        return self

    def join(self):
        with open(os.path.join(self.path, "cgroup.procs"), "w") as f:
            f.write("0")

    def __exit__(self, *_):
        for _ in range(100):
            try:
                return os.rmdir(self.path)
            except OSError:
                time.sleep(0.02)


def forget(path):
    """Gives the file's pages in the page cache back."""
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def call(command, groups=()):
    """Output and CPU seconds of a command that must succeed, inside of the groups."""
    def enter():
        for group in groups:
            group.join()

    before = os.times()
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=enter if groups else None
    )
    after = os.times()
    if done.returncode != 0:
        sys.exit("%s ended with %d: %s" % (command[0], done.returncode, done.stderr.decode()[-500:]))
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout.decode(), cpu


class Bench:
    def __init__(self, options):
        self.o = options
        self.groups = []
        self.folder = tempfile.mkdtemp(prefix="stream-")
        self.trace = os.path.join(self.folder, "run.sst")
        self.json = os.path.join(self.folder, "run.json")

    def run(self, *knobs, tokens=None, groups=(), trace=False):
        command = [self.o.agent, "run", "--model", self.o.model, "--audio", self.o.audio]
        command += ["--raw-greedy", "--max-tokens", str(tokens or self.o.tokens)]
        command += ["--threads", str(self.o.threads), "--json", self.json]
        command += [str(k) for k in knobs] + self.o.agent_flags.split()
        if trace:
            command += ["--trace", self.trace]
        _, cpu = call(command, [*self.groups, *groups])
        with open(self.json) as f:
            document = json.load(f)
        document["cpu_s"] = cpu
        return document

    def recording(self):
        """The legend and the events (t, a, b, id, kind) of the last run that was traced."""
        with open(self.trace, "rb") as f:
            data = f.read()
        at, legend, events = 0, None, []
        while at + 24 <= len(data):
            magic, _, kind, _, size, _, _ = struct.unpack_from("<IBBHIIQ", data, at)
            if magic != 0x31465353:
                sys.exit("a recording that cannot be read")
            payload = data[at + 24 : at + 24 + size]
            at += 24 + size
            if kind == 2:
                events += [e[:5] for e in struct.iter_unpack("<QQQIBBH", payload)]
            elif b'"run"' in payload[:16]:
                legend = json.loads(payload)["run"]["legend"]
        return legend, sorted(events)

    def pinned_for(self, share):
        """Bytes to pin so that they and the slots are this share of the weights of a token, and
        the mean bytes of a load."""
        r = self.run("--pin", "none", "--slots", SLOTS, "--loader", "pread", tokens=4, trace=True)
        legend, events = self.recording()
        begin = min(t for t, _, _, i, kind in events if kind == PHASE and i >= PREFILL_PASS)
        # A shard of the legend: name, bytes, bytes held, pinned.
        held = [legend["shards"][i] for t, _, _, i, kind in events if kind == LOAD and t >= begin]
        slot = max(s[2] for s in held)
        whole = r["plan"]["streamed_bytes_per_token"]
        mean = sum(s[1] for s in held) / len(held)
        pin = share * whole - SLOTS * slot
        if pin <= 0:
            sys.exit("two slots alone are %.0f %% of the weights" % (100 * SLOTS * slot / whole))
        return int(pin), int(mean), whole

    def fio(self, engine, size, depth):
        """Bytes per second of sequential O_DIRECT reads."""
        name = [
            "fio", "--name=read", "--filename=" + self.o.model, "--readonly", "--direct=1",
            "--rw=read", "--ioengine=" + engine, "--bs=%d" % size, "--iodepth=%d" % depth,
            "--time_based", "--runtime=%g" % self.o.fio_seconds, "--output-format=json",
        ]
        text, _ = call(name, self.groups)
        return json.loads(text[text.index("{") :])["jobs"][0]["read"]["bw_bytes"]

    def throughput(self):
        if not shutil.which("fio"):
            sys.exit("fio is not installed: apt-get install fio")
        pin, mean, whole = self.pinned_for(self.o.share)
        rows = []
        for loader in self.o.loaders.split(","):
            ring = loader == "uring"
            size, depth = (URING_PIECE, URING_DEPTH) if ring else (max(mean >> 12 << 12, 4096), 1)
            ours, theirs, ratios, stalls = [], [], [], []
            for _ in range(self.o.rounds):
                before = self.fio("io_uring" if ring else "psync", size, depth)
                r = self.run("--pin", pin, "--slots", SLOTS, "--loader", loader)
                after = self.fio("io_uring" if ring else "psync", size, depth)
                if r["io"]["loader"] != loader:
                    sys.exit("%s: %s" % (r["io"]["loader"], r["io"]["loader_reason"]))
                streamed, ms = r["plan"]["streamed_bytes_per_token"], r["timing"]["decode_ms_per_token"]
                ours.append(streamed / ms * 1e3)
                theirs.append((before + after) / 2)
                ratios.append(ours[-1] / theirs[-1])
                stalls.append(r["io"]["hidden_fraction"])
            rows.append({
                "what": "throughput " + loader, "ratio": statistics.median(ratios), "goal": 0.90,
                "spread": [min(ratios), max(ratios)],
                "told": "%.0f of %.0f MB/s, requests of %d KiB at depth %d; %.1f of %.1f MB a token" % (
                    statistics.median(ours) / 1e6, statistics.median(theirs) / 1e6, size >> 10, depth,
                    streamed / 1e6, whole / 1e6),
            })
        return rows

    def mmap(self):
        pin, _, _ = self.pinned_for(self.o.share)
        loader = self.o.loaders.split(",")[0]
        peak = self.run("--pin", pin, "--slots", SLOTS, tokens=2)["memory"]["planned_peak_bytes"]
        limit = peak + self.o.overhead * MIB
        ours, theirs = [], []
        for _ in range(self.o.rounds):
            for knobs, into in (
                (("--pin", pin, "--slots", SLOTS, "--loader", loader), ours),
                (("--pin", "all", "--loader", "mmap"), theirs),
            ):
                forget(self.o.model)
                with Group("memory", {"memory.limit_in_bytes": str(limit)}) as group:
                    r = self.run(*knobs, tokens=self.o.mmap_tokens, groups=[group])
                into.append(r["timing"]["decode_ms_per_token"])
        ratios = [t / o for o, t in zip(ours, theirs)]
        return [{
            "what": "tokens/s %s : mmap" % loader, "ratio": statistics.median(ratios), "goal": 5,
            "spread": [min(ratios), max(ratios)],
            "told": "%.1f against %.1f ms a token in %.0f MiB" % (
                statistics.median(ours), statistics.median(theirs), limit / MIB),
        }]

    def times(self, decoding):
        """Nanoseconds of reads, stalls and compute of the last traced run: of the decoding steps, or
        of encode and cross with the shards that they use."""
        legend, events = self.recording()
        decode = min(t for t, _, _, i, kind in events if kind == PHASE and i == DECODE_PASS)
        prefill = min(t for t, _, _, i, kind in events if kind == PHASE and i == PREFILL_PASS)
        names = [s[0] for s in legend["shards"]]
        first = min(i for i, name in enumerate(names) if name.startswith(("decoder", "vocab")))
        read = stall = compute = 0
        for t, a, _, i, kind in events:
            inside = t >= decode if decoding else t < prefill and (kind == COMPUTE or i < first)
            if not inside:
                continue
            read += a if kind == READ else 0
            stall += a if kind == STALL or (kind == READ and i == ROW_READ) else 0
            compute += a if kind == COMPUTE else 0
        return read, stall, compute

    def held_to(self, flags, decoding, rate, tokens):
        """Runs whose reads took 0.9 of their compute, each as (hidden, read, compute, rate, result).
        Compute is that of the same run, so what others do to the machine is in both; a run that
        came out at another ratio sets the rate of the next and does not count."""
        kept = []
        for _ in range(4 * self.o.rounds):
            r = self.run(*flags, "--loader", self.o.hidden_loader, "--emulate-read", int(rate),
                         tokens=tokens, trace=True)
            read, stall, compute = self.times(decoding)
            if abs(read / compute - 0.9) < 0.03:
                kept.append((1 - stall / read, read, compute, rate, r))
            else:
                rate *= read / compute / 0.9
            if len(kept) == self.o.rounds:
                break
        return sorted(kept, key=lambda k: k[0])

    def hidden_row(self, name, kept):
        if not kept:
            sys.exit("no run came out at a ratio of 0.9: another --hidden-rate, a quieter machine?")
        return {
            "what": "hidden %s %s" % (self.o.hidden_loader, name), "goal": 0.95,
            "ratio": kept[len(kept) // 2][0], "spread": [kept[0][0], kept[-1][0]],
        }

    def encode(self):
        flags = ["--pin", "none", "--encoder-shard", "tensor", "--slots", self.o.hidden_slots]
        encode = self.run(*flags, "--loader", "pread", tokens=2)["timing"]["encode_ms"] * 1e-3
        kept = self.held_to(flags, False, os.path.getsize(self.o.model) / 3 / encode, 2)
        row = self.hidden_row("encode", kept)
        _, read, compute, rate, _ = kept[len(kept) // 2]
        row["told"] = "compute %.0f, reads %.0f ms at %.0f MB/s" % (
            compute / 1e6, read / 1e6, rate / 1e6)
        return [row]

    def hidden(self):
        """What streams is a part that the device can surely deliver in the time."""
        flags = ["--decoder-shard", "tensor", "--vocab-shards", "48", "--slots", self.o.hidden_slots]
        whole = self.run("--pin", "none", *flags, tokens=4)["plan"]["streamed_bytes_per_token"]
        compute = self.run("--pin", "all")["timing"]["decode_ms_per_token"] * 1e-3
        flags += ["--pin", int(max(0, whole - 0.9 * compute * self.o.hidden_rate))]
        streamed = self.run(*flags, tokens=4)["plan"]["streamed_bytes_per_token"]
        if streamed < whole / 100:
            sys.exit("nothing streams: give a larger --hidden-rate")
        kept = self.held_to(flags, True, streamed / (0.9 * compute), None)
        row = self.hidden_row("decode", kept)
        _, read, compute, rate, r = kept[len(kept) // 2]
        ms = 1e-6 / (r["n_tokens"] - 1)
        row["told"] = "compute %.2f, reads %.2f, token %.2f ms; %.1f of %.1f MB a token at %.0f MB/s" % (
            compute * ms, read * ms, r["timing"]["decode_ms_per_token"], streamed / 1e6, whole / 1e6,
            rate / 1e6)
        return [row]

    def throttle(self):
        rows = []
        for rate in (50e6, 200e6, 500e6):
            r = self.run(
                "--pin", "none", "--loader", "pread", "--emulate-read", int(rate), tokens=6, trace=True
            )
            _, events = self.recording()
            spans = [(a, b) for _, a, b, i, kind in events if kind == READ and i != ROW_READ]
            kept = sum(b for _, b in spans) / sum(a for a, _ in spans) * 1e9
            rows.append({
                "what": "throttle %.0f MB/s" % (rate / 1e6), "ratio": kept / rate, "goal": 1.0,
                "told": "%.2f MB/s over %d reads" % (kept / 1e6, len(spans)),
            })
        return rows

    def tracing(self):
        with_events, without, cpu_with, cpu_without = [], [], [], []
        for turn in range(max(2 * self.o.rounds, 10)):
            order = [(with_events, cpu_with, ()), (without, cpu_without, ("--no-trace",))]
            for times, cpus, flags in order if turn % 2 else reversed(order):
                r = self.run("--pin", "all", *flags)
                times.append(r["timing"]["total_ms"])
                cpus.append(r["cpu_s"])
        ratios = [w / o for w, o in zip(with_events, without)]
        cpu = statistics.median(cpu_with) / statistics.median(cpu_without)
        return [{
            "what": "tracing", "ratio": statistics.median(ratios), "goal": 1.01,
            "spread": [min(ratios), max(ratios)],
            "told": "%.1f against %.1f ms (least: %.1f, %.1f), CPU time %.3f" % (
                statistics.median(with_events), statistics.median(without), min(with_events),
                min(without), cpu),
        }]


def size_of(text):
    for suffix, factor in (("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("", 1)):
        if text.upper().endswith(suffix):
            return int(float(text[: len(text) - len(suffix)]) * factor)
    return 0


def device_of(path):
    """major:minor of the disk that holds the file: throttles are for whole disks."""
    number = os.stat(path).st_dev
    name = os.path.realpath("/sys/dev/block/%d:%d" % (os.major(number), os.minor(number)))
    if os.path.exists(os.path.join(name, "partition")):
        name = os.path.dirname(name)
    with open(os.path.join(name, "dev")) as f:
        return f.read().strip()


def parsed():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = p.add_argument
    add("--agent", required=True, metavar="FILE", help="a shardscope-agent")
    add("--model", required=True, metavar="FILE", help="a ggml Whisper model on the disk to measure")
    add("--audio", metavar="FILE", help="16 kHz mono WAV, up to 30 s; default: a sample")
    add("--agent-flags", default="", metavar="TEXT", help="more flags for all runs")
    add("--only", default="throughput,mmap,encode,hidden,throttle,tracing", metavar="LIST")
    add("--share", type=float, default=0.5, help="RAM for weights, of a token's (default: 0.5)")
    add("--loaders", default="uring,direct", metavar="LIST", help="default: uring,direct")
    add("--threads", type=int, default=2, metavar="N", help="default: 2")
    add("--tokens", type=int, default=40, metavar="N", help="decoded; default: 40")
    add("--rounds", type=int, default=5, metavar="N", help="default: 5")
    add("--device-limit", default="", metavar="RATE", help="bytes/s by blkio.throttle, e.g. 400MB")
    add("--fio-seconds", type=float, default=2, metavar="S", help="default: 2")
    add("--overhead", type=int, default=10, metavar="MIB", help="cgroup beside the arena; default: 10")
    add("--mmap-tokens", type=int, default=8, metavar="N", help="default: 8")
    add("--hidden-loader", default="uring", metavar="NAME", help="default: uring")
    add("--hidden-slots", default="3", metavar="N", help="default: 3")
    add("--hidden-rate", type=float, default=600e6, metavar="B/S",
        help="that the device can surely deliver; default: 600e6")
    add("--json", action="store_true", help="print the rows as JSON")
    options = p.parse_args()
    if not options.audio:
        clips = sorted(name for name in os.listdir(CLIPS) if name.endswith(".wav"))
        options.audio = os.path.join(CLIPS, clips[0])
    return options


def main():
    options = parsed()
    bench = Bench(options)
    limit = None
    rows = []
    try:
        if options.device_limit:
            rule = "%s %d" % (device_of(options.model), size_of(options.device_limit))
            limit = Group("blkio", {"blkio.throttle.read_bps_device": rule}).__enter__()
            bench.groups.append(limit)
        for name in options.only.split(","):
            if name not in ("throughput", "mmap", "encode", "hidden", "throttle", "tracing"):
                sys.exit("--only %s: there is no such measurement" % name)
            rows += getattr(bench, name)()
    finally:
        if limit:
            limit.__exit__()
        shutil.rmtree(bench.folder)
    if options.json:
        return print(json.dumps(rows, indent=2))
    print("%s, %d rounds" % (os.path.basename(options.model), options.rounds))
    for r in rows:
        spread = "%.3f..%.3f" % tuple(r["spread"]) if "spread" in r else ""
        print("%-22s %7.3f  goal %5.2f  %-14s %s" % (r["what"], r["ratio"], r["goal"], spread, r["told"]))


if __name__ == "__main__":
    main()
