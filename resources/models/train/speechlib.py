# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared pieces: ggml vocabulary/filter reader, BPE, log-mel front end, WER."""
import re
import struct

import numpy as np

SAMPLE_RATE = 16000
N_FFT = 400
HOP = 160
TOK_EOT = 50256
TOK_SOT = 50257
TOK_NOSPEECH = 50361
TOK_NOTIMESTAMPS = 50362


class GgmlHeader:
    """Hyper-parameters, mel filters and vocabulary of a ggml Whisper file."""

    NAMES = ("n_vocab", "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer",
             "n_text_ctx", "n_text_state", "n_text_head", "n_text_layer", "n_mels", "ftype")

    def __init__(self, path):
        with open(path, "rb") as f:
            magic, = struct.unpack("<I", f.read(4))
            if magic != 0x67676D6C:
                raise ValueError("not a ggml file: %s" % path)
            self.hparams = dict(zip(self.NAMES, struct.unpack("<11i", f.read(44))))
            n_mel, n_bins = struct.unpack("<2i", f.read(8))
            self.filters = np.frombuffer(f.read(4 * n_mel * n_bins), "<f4").reshape(n_mel, n_bins)
            n, = struct.unpack("<i", f.read(4))
            self.tokens = []
            for _ in range(n):
                ln, = struct.unpack("<i", f.read(4))
                self.tokens.append(f.read(ln))


class Bpe:
    """Byte-pair encoder; merge priority is the token id, as in GPT-2 vocabularies."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.rank = {}
        for i, t in enumerate(tokens):
            self.rank.setdefault(t, i)
        self.cache = {}

    def _word(self, data):
        if data in self.cache:
            return self.cache[data]
        parts = [data[i:i + 1] for i in range(len(data))]
        while len(parts) > 1:
            best, at = None, -1
            for i in range(len(parts) - 1):
                r = self.rank.get(parts[i] + parts[i + 1])
                if r is not None and (best is None or r < best):
                    best, at = r, i
            if best is None:
                break
            parts[at:at + 2] = [parts[at] + parts[at + 1]]
        ids = [self.rank[p] for p in parts]
        self.cache[data] = ids
        return ids

    def encode(self, text):
        """Ids of ' word word ...' (every word carries its leading space)."""
        out = []
        for w in text.split():
            out += self._word(b" " + w.encode())
        return out

    def encode_words(self, text):
        return [self._word(b" " + w.encode()) for w in text.split()]

    def decode(self, ids):
        return b"".join(self.tokens[i] for i in ids if i < len(self.tokens) and i < TOK_EOT).decode("utf-8", "replace")


_HANN = (0.5 * (1.0 - np.cos(2.0 * np.pi * np.arange(N_FFT) / N_FFT))).astype(np.float32)


def log_mel(samples, filters):
    """Normalised log-mel of float samples in [-1, 1].

    Returns (frames x n_mels float32, pad value). Frames beyond the returned ones
    all hold the pad value, out to any length.
    """
    n = len(samples)
    half = N_FFT // 2
    n_refl = min(half, max(0, n - 1))
    left = np.zeros(half, np.float32)
    if n_refl:
        left[half - n_refl:] = samples[1:1 + n_refl][::-1]
    frames = (n + half) // HOP + 1
    buf = np.zeros((frames - 1) * HOP + N_FFT, np.float32)
    buf[:half] = left
    end = min(len(buf), half + n)
    buf[half:end] = samples[:end - half]
    win = np.lib.stride_tricks.sliding_window_view(buf, N_FFT)[::HOP] * _HANN
    spec = np.abs(np.fft.rfft(win, axis=1)).astype(np.float32) ** 2
    mel = np.log10(np.maximum(spec @ filters.T, 1e-10))
    floor = mel.max() - 8.0
    mel = (np.maximum(mel, floor) + 4.0) / 4.0
    pad = (max(-10.0, floor) + 4.0) / 4.0
    return mel.astype(np.float32), float(pad)


_UNITS = ("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
          "fifteen sixteen seventeen eighteen nineteen").split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()


def number_words(n):
    if n < 20:
        return [_UNITS[n]]
    if n < 100:
        return [_TENS[n // 10]] + ([_UNITS[n % 10]] if n % 10 else [])
    if n < 1000:
        return [_UNITS[n // 100], "hundred"] + (number_words(n % 100) if n % 100 else [])
    return number_words(n // 1000) + ["thousand"] + (number_words(n % 1000) if n % 1000 else [])


def normalise(text):
    text = text.lower()
    text = re.sub(r"[^a-z0-9' ]+", " ", text).replace("'", "")
    return " ".join(text.split())


def edit_counts(ref, hyp):
    """Word-level edit distance."""
    r, h = ref.split(), hyp.split()
    row = list(range(len(h) + 1))
    for i, a in enumerate(r, 1):
        prev, row[0] = row[0], i
        for j, b in enumerate(h, 1):
            prev, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, prev + (a != b))
    return row[-1], len(r)


def wer(pairs):
    errs = words = 0
    for ref, hyp in pairs:
        e, n = edit_counts(ref, hyp)
        errs += e
        words += n
    return errs / max(1, words), errs, words
