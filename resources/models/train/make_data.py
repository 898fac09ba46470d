# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the training shards and the two test splits.

  make_data.py --header HEADER.bin --sounds DIR --transcripts core-sounds-en.txt --out DIR

HEADER.bin is any English-only ggml Whisper file (only its filters and vocabulary are read).
"""
import argparse
import os
import pickle
import re
import subprocess
import wave
from multiprocessing import Process

import numpy as np
from scipy.signal import firwin2, resample_poly

import grammar
from espeak import Espeak
from speechlib import Bpe, GgmlHeader, HOP, SAMPLE_RATE, log_mel, normalise, number_words

ACCENTS = ["en", "en-us", "en-us", "en-us", "en-gb-scotland", "en-gb-x-rp", "en-gb-x-gbclan", "en-gb-x-gbcwmd", "en-029", "en-us-nyc"]
TRAIN_VARIANTS = ("m1 m2 m3 m4 m5 m7 m8 f1 f2 f4 f5 Alex Alicia Annie Denis Diogo Gene Hugo Lee Marco Michael Mike Nguyen "
                  "adam anika antonio aunty belinda benjamin boris caleb david ed grandma iven john max michel miguel norbert "
                  "pablo pedro quincy robert shelby steph travis victor zac klatt2").split()
TEST_VARIANTS = "m6 f3 Andy linda edward paul rob Andrea".split()


def augment(x, rng, eq=True):
    """Gain, mild random FIR, noise; x float32. Returns int16-valued float32 in [-1, 1]."""
    if eq and rng.random() < 0.6:
        f = [0, 0.05, 0.15, 0.3, 0.6, 1.0]
        g = 10 ** (rng.uniform(-6, 6, 6) / 20)
        x = np.convolve(x, firwin2(31, f, g).astype(np.float32), "same")
    if rng.random() < 0.2:
        x = resample_poly(resample_poly(x, 1, 2), 2, 1)[:len(x)].astype(np.float32)
    peak = np.abs(x).max() + 1e-9
    x = x / peak * 10 ** (rng.uniform(-18, -1) / 20)
    if rng.random() < 0.7:
        snr = rng.uniform(15, 50)
        rms = np.sqrt(np.mean(x ** 2) + 1e-12)
        n = rng.standard_normal(len(x)).astype(np.float32)
        if rng.random() < 0.5:      # darker noise
            n = np.convolve(n, np.array([1, .9, .8, .6, .4, .2], np.float32), "same")
            n /= n.std()
        x = x + n * rms * 10 ** (-snr / 20)
    return (np.round(np.clip(x, -1, 1) * 32767) / 32768).astype(np.float32)


def with_silence(x, rng, lo=0.02, hi=0.4, min_len=1.3):
    lead = int(rng.uniform(lo, hi) * SAMPLE_RATE)
    tail = int(rng.uniform(lo, hi + 0.2) * SAMPLE_RATE)
    tail = max(tail, int(min_len * SAMPLE_RATE) - lead - len(x))
    return np.concatenate([np.zeros(lead, np.float32), x, np.zeros(tail, np.float32)]), lead


class Shard:
    def __init__(self, filters, bpe):
        self.filters, self.bpe = filters, bpe
        self.mels, self.texts, self.pads, self.phones, self.spans, self.kind = [], [], [], [], [], []

    def add(self, x, text, kind, phones=None, spans=None):
        mel, pad = log_mel(x, self.filters)
        self.mels.append(mel.astype(np.float16))
        self.pads.append(pad)
        self.texts.append(text)
        self.kind.append(kind)
        n = (len(mel) + 1) // 2
        self.phones.append(phones[:n] if phones is not None else np.full(n, 255, np.uint8))
        self.spans.append(spans)

    def save(self, path):
        offs = np.cumsum([0] + [len(m) for m in self.mels])
        np.save(path + ".mel.npy", np.concatenate(self.mels))
        with open(path + ".pkl", "wb") as f:
            pickle.dump(dict(offs=offs, texts=self.texts, pads=self.pads, phones=self.phones,
                             spans=self.spans, kind=self.kind), f, 4)
        print(path, len(self.texts), "clips", round(offs[-1] / 100 / 60, 1), "min", flush=True)


def synth(es, bpe, text, voice, rng, phone_ids):
    audio, words, phones = es.say(text, voice, rng.integers(135, 205), rng.integers(20, 81), rng.integers(30, 70))
    x = resample_poly(audio.astype(np.float32) / 32768, 320, 441).astype(np.float32)
    x, lead = with_silence(x, rng)
    off = lead * 1000 // SAMPLE_RATE
    n = (len(x) // HOP + 4) // 2 + 2
    lab = np.zeros(n, np.uint8)
    for i, (p, t) in enumerate(phones):
        a = (t + off) // 20
        b = (phones[i + 1][1] + off) // 20 if i + 1 < len(phones) else a
        lab[a:b] = phone_ids.get(p, 0)
    # word start times, by character position
    starts, pos = [], 1
    at = dict(words)
    end = (phones[-1][1] if phones else 0) + off
    for w in text.split():
        starts.append(at.get(pos))
        pos += len(w) + 1
    toks = bpe.encode_words(text)
    times, i = [], 0
    while i < len(starts):
        j = i + 1
        while j < len(starts) and starts[j] is None:
            j += 1
        a = (starts[i] or 0) + off
        b = starts[j] + off if j < len(starts) else end
        times += [(a, b)] * (j - i)
        i = j
    spans = []
    for ids, (a, b) in zip(toks, times):
        spans += [(max(0, a // 20 - 2), b // 20 + 4)] * len(ids)
    return x, lab, np.array(spans, np.int16)


def expand_number(m):
    return " " + " ".join(number_words(int(m.group(0)))) + " "


def load_transcripts(path):
    out = {}
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.startswith(";") or ":" not in line:
                continue
            name, text = line.split(":", 1)
            name = re.sub(r"\.wav$", "", name.strip())
            text = text.strip()
            if re.search(r"[\[(<]", re.sub(r"\[.\]$", "", text)) or name.startswith("silence/"):
                continue
            text = re.sub(r"\[.\]$", "", text)
            if re.search(r"\d\.\d|www|H\.323|\d{4}", text):
                continue
            text = text.replace("*", " star ").replace("#", " pound ").replace("&", " and ")
            text = text.replace("A.M.", "a m").replace("P.M.", "p m").replace("De-activated", "deactivated")
            text = text.replace("re-enter", "reenter").replace("mail box", "mailbox").replace("filename", "file name")
            text = re.sub(r"\d+", expand_number, text)
            text = normalise(text)
            if text:
                out[name] = text
    return out


def trim(x, thr=0.01):
    idx = np.nonzero(np.abs(x) > thr * np.abs(x).max())[0]
    a = max(0, idx[0] - 1600)
    b = min(len(x), idx[-1] + 2400)
    return x[a:b]


def load_human(sounds, transcripts):
    clips = []
    for name, text in sorted(load_transcripts(transcripts).items()):
        src = os.path.join(sounds, name + ".g722")
        if not os.path.exists(src):
            continue
        raw = subprocess.run(["ffmpeg", "-v", "error", "-f", "g722", "-i", src, "-ar", str(SAMPLE_RATE), "-ac", "1", "-f", "s16le", "-"],
                             stdout=subprocess.PIPE, check=True).stdout
        x = np.frombuffer(raw, "<i2").astype(np.float32) / 32768
        if len(x) < 0.2 * SAMPLE_RATE or np.abs(x).max() < 0.02:
            continue
        x = trim(x)
        if len(x) > 9 * SAMPLE_RATE:
            continue
        clips.append((name, text, x))
    return clips


def write_wav(path, x):
    with wave.open(path, "wb") as w:
        w.setnchannels(1)
        w.setsampwidth(2)
        w.setframerate(SAMPLE_RATE)
        w.writeframes(np.clip(np.round(x * 32768), -32768, 32767).astype("<i2").tobytes())


def flite(text, voice, rng, tmp):
    stretch = rng.uniform(0.8, 1.15)
    subprocess.run(["flite", "-voice", voice, "--setf", "duration_stretch=%.2f" % stretch, "-t", text, "-o", tmp],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with wave.open(tmp) as w:
        sr = w.getframerate()
        x = np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(np.float32) / 32768
    if sr != SAMPLE_RATE:
        x = resample_poly(x, SAMPLE_RATE // 1000, sr // 1000).astype(np.float32)
    return x


def speed(x, rng):
    n = int(rng.integers(87, 115))
    return resample_poly(x, 100, n).astype(np.float32)


def pick_text(rng, human_texts, words, banned):
    while True:
        r = rng.random()
        if r < 0.70:
            t = grammar.sentence(rng)
        elif r < 0.85:
            ws = human_texts[rng.integers(len(human_texts))].split()
            n = int(rng.integers(2, 9))
            a = int(rng.integers(0, max(1, len(ws) - n + 1)))
            t = " ".join(ws[a:a + n])
        else:
            t = " ".join(words[i] for i in rng.integers(0, len(words), int(rng.integers(2, 6))))
        if t not in banned and len(t) < 90:
            return t


def worker(k, args, header, human_train, human_texts, words, banned, phone_ids):
    rng = np.random.default_rng(100 + k)
    bpe = Bpe(header.tokens)
    es = Espeak()
    sh = Shard(header.filters, bpe)
    for i in range(args.clips // 2):
        text = pick_text(rng, human_texts, words, banned)
        voice = ACCENTS[rng.integers(len(ACCENTS))]
        if rng.random() < 0.97:
            voice += "+" + TRAIN_VARIANTS[rng.integers(len(TRAIN_VARIANTS))]
        x, lab, spans = synth(es, bpe, text, voice, rng, phone_ids)
        sh.add(augment(x, rng), text, 0, lab, spans)
    sh.save(os.path.join(args.out, "train_espeak%d" % k))

    sh = Shard(header.filters, bpe)
    tmp = os.path.join(args.out, "tmp%d.wav" % k)
    for i in range(args.flite // 2):
        text = pick_text(rng, human_texts, words, banned)
        x = flite(text, ["rms", "slt", "awb", "kal16"][rng.integers(4)], rng, tmp)
        x, _ = with_silence(speed(x, rng), rng)
        sh.add(augment(x, rng), text, 1)
    if args.flite:
        os.remove(tmp)
        sh.save(os.path.join(args.out, "train_flite%d" % k))

    sh = Shard(header.filters, bpe)
    shorts = [c for c in human_train if len(c[1].split()) <= 3 and len(c[2]) < 1.6 * SAMPLE_RATE]
    for r in range(args.human_repeat // 2):
        for name, text, x in human_train:
            y, _ = with_silence(speed(x, rng), rng, 0.0, 0.4)
            sh.add(augment(y, rng), text, 2)
    for i in range(args.human_concat // 2):
        n = int(rng.integers(2, 6))
        parts, texts, fac = [], [], int(rng.integers(87, 115))
        for j in rng.integers(0, len(shorts), n):
            parts.append(resample_poly(trim(shorts[j][2], 0.02), 100, fac).astype(np.float32))
            parts.append(np.zeros(int(rng.uniform(0.0, 0.15) * SAMPLE_RATE), np.float32))
            texts.append(shorts[j][1])
        text = " ".join(texts)
        if text in banned:
            continue
        y, _ = with_silence(np.concatenate(parts), rng, 0.0, 0.3)
        sh.add(augment(y, rng), text, 2)
    sh.save(os.path.join(args.out, "train_human%d" % k))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--header", required=True)
    ap.add_argument("--sounds", required=True)
    ap.add_argument("--transcripts", required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("--clips", type=int, default=36000)
    ap.add_argument("--flite", type=int, default=4000)
    ap.add_argument("--human-repeat", type=int, default=8)
    ap.add_argument("--human-concat", type=int, default=3000)
    ap.add_argument("--test-clips", type=int, default=300)
    ap.add_argument("--human-test", type=int, default=64)
    args = ap.parse_args()
    os.makedirs(args.out, exist_ok=True)
    header = GgmlHeader(args.header)
    bpe = Bpe(header.tokens)
    rng = np.random.default_rng(5)

    human = load_human(args.sounds, args.transcripts)
    texts = {}
    for c in human:
        texts.setdefault(c[1], []).append(c)
    counts = {}
    for t in texts:
        for w in set(t.split()):
            counts[w] = counts.get(w, 0) + 1
    gvocab = set(grammar.vocabulary())
    # candidates: whole phrases whose every word also occurs elsewhere
    cand = [t for t in sorted(texts) if len(t.split()) >= 2 and 0.9 < len(texts[t][0][2]) / SAMPLE_RATE < 7.5
            and all(counts[w] > 1 or w in gvocab for w in t.split())
            and sum(len(w) == 1 for w in t.split()) <= 0.3 * len(t.split())]
    test_texts = [cand[i] for i in rng.permutation(len(cand))[:args.human_test]]
    human_test = [texts[t][0] for t in test_texts]
    human_train = [c for c in human if c[1] not in set(test_texts)]
    print(len(human), "human prompts,", len(cand), "test candidates,", len(human_train), "for training,",
          round(sum(len(c[2]) for c in human_train) / SAMPLE_RATE / 60, 1), "min", flush=True)

    es = Espeak()
    phone_set = set()
    words = sorted(set(w for c in human for w in c[1].split()) | gvocab)
    for i in range(2500):
        phone_set.update(p for p, _ in es.say(grammar.sentence(rng), ACCENTS[i % len(ACCENTS)])[2])
    phone_ids = {"_": 0}
    for p in sorted(phone_set):
        phone_ids.setdefault(p, len(phone_ids) if not p.startswith("_") else 0)
    print(len(phone_ids), "phone labels", len(words), "words", flush=True)

    test = {}
    while len(test) < args.test_clips:
        t = grammar.sentence(rng)
        if len(t.split()) >= 2:
            test.setdefault(t, None)
    test = list(test)
    banned = set(test) | set(test_texts)

    rows = []
    os.makedirs(os.path.join(args.out, "test"), exist_ok=True)
    order = rng.permutation(len(test))
    for i, k in enumerate(order):
        voice = ACCENTS[rng.integers(len(ACCENTS))] + "+" + TEST_VARIANTS[i % len(TEST_VARIANTS)]
        x, _, _ = synth(es, bpe, test[k], voice, rng, phone_ids)
        x = augment(x, rng)
        if test[k] in texts:    # also the text of a recorded prompt
            continue
        fn = "syn-%03d.wav" % i
        write_wav(os.path.join(args.out, "test", fn), x)
        rows.append((fn, "synthetic-test", test[k], voice))
    for i, (name, text, x) in enumerate(human_test):
        y, _ = with_silence(x, rng, 0.05, 0.2)
        fn = "hum-%03d.wav" % i
        write_wav(os.path.join(args.out, "test", fn), np.round(y * 32768) / 32768)
        rows.append((fn, "human-test", text, name))
    with open(os.path.join(args.out, "test", "transcripts.tsv"), "w") as f:
        for r in rows:
            f.write("\t".join(r) + "\n")

    human_texts = [c[1] for c in human_train if len(c[1].split()) >= 2]
    used = sorted({i for w in words for i in bpe.encode(w)})
    with open(os.path.join(args.out, "meta.pkl"), "wb") as f:
        pickle.dump(dict(used=used, phone_ids=phone_ids, words=words, human_train=len(human_train)), f)
    print(len(used), "tokens used", flush=True)
    ps = [Process(target=worker, args=(k, args, header, human_train, human_texts, words, banned, phone_ids)) for k in range(2)]
    for p in ps:
        p.start()
    for p in ps:
        p.join()


if __name__ == "__main__":
    main()
