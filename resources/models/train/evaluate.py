# SPDX-License-Identifier: GPL-3.0-or-later
"""WER of a checkpoint (PyTorch, greedy) and of a ggml file (whisper-cli) on an eval folder.

  evaluate.py --header HEADER.bin --eval DIR [--ckpt CKPT] [--cli WHISPER_CLI --model MODEL.bin]
"""
import argparse
import os
import shutil
import subprocess
import tempfile

import torch

from model import Whisper
from speechlib import Bpe, GgmlHeader, normalise, wer
from train import evaluate, load_tests

CLI_OPTIONS = ["-nt", "-bs", "1", "-bo", "1", "-mc", "0", "-t", "2"]


def run_cli(cli, model, folder, tests, extra):
    """All clips in one whisper-cli call; the transcripts come back as .txt files."""
    with tempfile.TemporaryDirectory() as tmp:
        cmd = [cli, "-m", model] + CLI_OPTIONS + extra + ["-otxt"]
        for items in tests.values():
            for it in items:
                shutil.copy(os.path.join(folder, it[0]), tmp)
                cmd += ["-f", os.path.join(tmp, it[0])]
        subprocess.run(cmd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        res = {}
        for split, items in tests.items():
            res[split] = []
            for it in items:
                with open(os.path.join(tmp, it[0] + ".txt"), errors="replace") as f:
                    res[split].append((it[0], it[1], normalise(f.read())))
    return res


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--header", required=True)
    ap.add_argument("--eval", required=True)
    ap.add_argument("--ckpt")
    ap.add_argument("--cli")
    ap.add_argument("--model")
    ap.add_argument("--limit", type=int, default=0)
    ap.add_argument("--show", action="store_true")
    ap.add_argument("--cli-extra", default="", help="further whisper-cli options")
    ap.add_argument("--audio-ctx", type=int, default=0, help="frames after the stem; 0 = the model's own")
    args = ap.parse_args()
    torch.set_num_threads(2)
    header = GgmlHeader(args.header)
    bpe = Bpe(header.tokens)
    tests = load_tests(args.eval, header.filters, args.limit)
    done = {}
    if args.ckpt:
        ck = torch.load(args.ckpt, map_location="cpu")
        net = Whisper(ck["used"], n_phones=ck["n_phones"], **ck["dims"])
        net.load_state_dict(ck["model"])
        done["pytorch"] = evaluate(net, tests, bpe, 2 * (args.audio_ctx or ck["dims"]["audio_ctx"]), batch=4)
    if args.model:
        extra = ["-ac", str(args.audio_ctx)] if args.audio_ctx else []
        extra += args.cli_extra.split()
        done["whisper-cli"] = run_cli(args.cli, args.model, args.eval, tests, extra)
    for how, res in done.items():
        for split, pairs in res.items():
            print("%s %s: WER %.4f (%d errors in %d words, %d clips)" % (
                (how, split) + wer([(a, b) for _, a, b in pairs]) + (len(pairs),)))
            if args.show:
                for fn, a, b in pairs:
                    if a != b:
                        print("   %s  %s  |  %s" % (fn, a, b))
    if len(done) == 2:
        same = total = 0
        for split in done["pytorch"]:
            for p, c in zip(done["pytorch"][split], done["whisper-cli"][split]):
                total += 1
                same += p[2] == c[2]
                if args.show and p[2] != c[2]:
                    print("   differs %s  %s  |  %s" % (p[0], p[2], c[2]))
        print("identical transcripts: %d of %d" % (same, total))


if __name__ == "__main__":
    main()
