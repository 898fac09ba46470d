# SPDX-License-Identifier: GPL-3.0-or-later
"""Splits the test folder of make_data.py into a shared and a held-out evaluation set.

  pick_eval.py --test DIR --out DIR --held-out DIR

Each set gets 60 synthetic and 32 human clips and a transcripts.tsv (file, split, text; no header).
"""
import argparse
import os
import shutil

SYNTHETIC, HUMAN = 60, 32


def write(rows, src, dst):
    os.makedirs(dst, exist_ok=True)
    with open(os.path.join(dst, "transcripts.tsv"), "w") as f:
        for fn, split, text in rows:
            shutil.copy(os.path.join(src, fn), dst)
            f.write("%s\t%s\t%s\n" % (fn, split, text))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--test", required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("--held-out", required=True)
    args = ap.parse_args()
    with open(os.path.join(args.test, "transcripts.tsv")) as f:
        rows = [line.rstrip("\n").split("\t")[:3] for line in f]
    syn = [r for r in rows if r[1] == "synthetic-test"]
    hum = [r for r in rows if r[1] == "human-test"]
    write(syn[:SYNTHETIC] + hum[:HUMAN], args.test, args.out)
    write(syn[SYNTHETIC:2 * SYNTHETIC] + hum[HUMAN:2 * HUMAN], args.test, args.held_out)


if __name__ == "__main__":
    main()
