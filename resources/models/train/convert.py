# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes a trained checkpoint as a ggml Whisper file (matrices f16, vectors and positions f32).

  convert.py --header HEADER.bin --ckpt CKPT --out MODEL.bin
"""
import argparse
import struct

import numpy as np
import torch

from speechlib import GgmlHeader


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--header", required=True)
    ap.add_argument("--ckpt", required=True)
    ap.add_argument("--out", required=True)
    args = ap.parse_args()
    header = GgmlHeader(args.header)
    ck = torch.load(args.ckpt, map_location="cpu")
    dims, sd = ck["dims"], ck["model"]
    d = dims["d"]

    tensors = {}
    for name, t in sd.items():
        if name.startswith("aux_"):
            continue
        a = t.float().numpy()
        if name == "decoder.token_embedding.weight":
            full = np.zeros((dims["n_vocab"], d), np.float32)
            full[ck["used"]] = a
            a = full
        elif name in ("encoder.conv1.bias", "encoder.conv2.bias"):
            a = a.reshape(-1, 1)
        tensors[name] = a

    with open(args.out, "wb") as f:
        f.write(struct.pack("<I", 0x67676D6C))
        f.write(struct.pack("<11i", dims["n_vocab"], dims["audio_ctx"], d, dims["heads"], dims["enc_layers"],
                            dims["text_ctx"], d, dims["heads"], dims["dec_layers"], dims["n_mels"], 1))
        f.write(struct.pack("<2i", *header.filters.shape))
        f.write(header.filters.astype("<f4").tobytes())
        f.write(struct.pack("<i", len(header.tokens)))
        for t in header.tokens:
            f.write(struct.pack("<i", len(t)) + t)
        for name, a in tensors.items():
            half = a.ndim >= 2 and not name.endswith("positional_embedding") and not name.endswith("bias")
            key = name.encode()
            f.write(struct.pack("<3i", a.ndim, len(key), 1 if half else 0))
            f.write(struct.pack("<%di" % a.ndim, *reversed(a.shape)))
            f.write(key)
            f.write(a.astype("<f2" if half else "<f4").tobytes())
    print(args.out, len(tensors), "tensors")


if __name__ == "__main__":
    main()
