# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains the model on the shards of make_data.py.

  train.py --header HEADER.bin --data DIR --out CKPT --minutes 55
"""
import argparse
import glob
import os
import pickle
import queue
import signal
import threading
import time
import wave

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from model import Whisper
from speechlib import Bpe, GgmlHeader, TOK_EOT, TOK_NOTIMESTAMPS, TOK_SOT, log_mel, wer

BUCKETS = [144, 176, 208, 240, 272, 320, 384, 480, 640, 1016]
CHARS = " abcdefghijklmnopqrstuvwxyz"


def mel_warps():
    """Small stretches of the mel axis (vocal tract length perturbation)."""
    warps = []
    for f in np.linspace(-0.06, 0.06, 9):
        w = np.zeros((80, 80), np.float32)
        for j in range(80):
            src = j * (1 + f) if j < 60 else j + 60 * f * (80 - j) / 20
            src = min(max(src, 0), 78.999)
            a = int(src)
            w[a, j] = 1 - (src - a)
            w[a + 1, j] = src - a
        warps.append(w)
    return warps


class Data:
    def __init__(self, folder, bpe, index, weights):
        self.mels, self.items = [], []
        self.folder, self.bpe, self.index, self.known = folder, bpe, index, set()
        self.weights = weights
        self.warps = mel_warps()
        self.rescan()

    def rescan(self):
        """Loads shards that are not loaded yet (they may still be in the making)."""
        fresh = [p for p in sorted(glob.glob(os.path.join(self.folder, "train_*.pkl"))) if p not in self.known]
        for path in fresh:
            self.known.add(path)
            index = self.index
            with open(path, "rb") as f:
                d = pickle.load(f)
            self.mels.append(np.load(path[:-4] + ".mel.npy", mmap_mode=None))
            s = len(self.mels) - 1
            for i, text in enumerate(d["texts"]):
                toks = [index[t] for t in self.bpe.encode(text)]
                chars = [CHARS.index(c) + 1 for c in text]
                n = int(d["offs"][i + 1] - d["offs"][i])
                if n < 2 * len(chars) + 20 or n > 1000:
                    continue
                self.items.append((s, int(d["offs"][i]), n, d["pads"][i], toks, chars, d["phones"][i], d["spans"][i], d["kind"][i]))
        self.len = np.array([it[2] for it in self.items])
        self.kind = np.array([it[8] for it in self.items])
        if fresh:
            print(len(self.items), "clips", [int((self.kind == k).sum()) for k in range(3)], "mean frames", self.len.mean(), flush=True)

    def epoch(self, rng, budget, max_batch, max_frames=None):
        idx = []
        for k, w in self.weights.items():
            own = np.nonzero(self.kind == k)[0]
            for _ in range(int(w)):
                idx.append(own)
            frac = w - int(w)
            if frac > 0:
                idx.append(rng.permutation(own)[:int(frac * len(own))])
        idx = rng.permutation(np.concatenate(idx))
        if max_frames:
            idx = idx[self.len[idx] < max_frames]
        # few distinct shapes, so that the matrix kernels are generated once
        batches = []
        bucket = np.searchsorted(BUCKETS, self.len[idx] + 12)
        for k, T in enumerate(BUCKETS):
            own = idx[bucket == k]
            size = min(max_batch, budget // T)
            for c in range(0, len(own), size):
                ids = own[c:c + size]
                if len(ids) < size:
                    if len(own) < size:
                        break
                    ids = np.concatenate([ids, rng.choice(own, size - len(ids))])
                batches.append(ids)
        return [batches[i] for i in rng.permutation(len(batches))]

    def batch(self, ids, rng, specials, aug=True, full=False):
        b = len(ids)
        T = BUCKETS[int(np.searchsorted(BUCKETS, self.len[ids].max() + 12))]
        if full:
            T = 3000
        mel = np.empty((b, T, 80), np.float32)
        L = (max(len(self.items[i][4]) for i in ids) + 2 + 7) // 8 * 8 - 1
        sot, notime, eot = specials
        tin = np.full((b, L + 1), eot, np.int64)
        tout = np.full((b, L + 1), -1, np.int64)
        spans = np.zeros((b, L + 1, 2), np.int16)
        phones = np.full((b, T // 2), 255, np.uint8)
        chars, clen, flen = [], [], []
        for k, i in enumerate(ids):
            s, off, n, pad, toks, ch, ph, sp, kind = self.items[i]
            m = mel[k]
            m[:n] = self.mels[s][off:off + n]
            m[n:] = pad
            if aug:
                for _ in range(int(rng.integers(0, 3))):
                    w = int(rng.integers(2, 9))
                    f = int(rng.integers(0, 80 - w))
                    m[:n, f:f + w] = pad
                for _ in range(int(rng.integers(0, 3))):
                    w = int(rng.integers(2, 12))
                    f = int(rng.integers(0, max(1, n - w)))
                    m[f:f + w] = pad
            tin[k, :2] = (sot, notime)
            tin[k, 2:1 + len(toks) + 1] = toks
            tout[k, 1:1 + len(toks)] = toks
            tout[k, 1 + len(toks)] = eot
            if sp is not None:
                spans[k, 1:1 + len(toks)] = sp
            phones[k, :len(ph)] = ph
            chars += ch
            clen.append(len(ch))
            flen.append(min(T // 2, (n + 1) // 2 + 4))
        mel = torch.from_numpy(mel)
        if aug and rng.random() < 0.6:
            mel = mel @ torch.from_numpy(self.warps[rng.integers(9)])
        mel = mel.transpose(1, 2).contiguous()
        return (mel, torch.from_numpy(tin), torch.from_numpy(tout), torch.from_numpy(spans.astype(np.int64)),
                torch.from_numpy(phones.astype(np.int64)), torch.tensor(chars), torch.tensor(clen), torch.tensor(flen))


def read_wav(path):
    with wave.open(path) as w:
        return np.frombuffer(w.readframes(w.getnframes()), "<i2").astype(np.float32) / 32768


def load_tests(folder, filters, limit):
    rows = {}
    with open(os.path.join(folder, "transcripts.tsv")) as f:
        for line in f:
            fn, split, text = line.rstrip("\n").split("\t")[:3]
            rows.setdefault(split, []).append((fn, text))
    out = {}
    for split, items in rows.items():
        out[split] = []
        for fn, text in items[-limit:] if limit else items:
            mel, pad = log_mel(read_wav(os.path.join(folder, fn)), filters)
            out[split].append((fn, text, mel, pad))
    return out


def evaluate(net, tests, bpe, ctx_frames, batch=8, amp=False):
    net.eval()
    res = {}
    for split, items in tests.items():
        pairs = []
        for i in range(0, len(items), batch):
            part = items[i:i + batch]
            mel = np.zeros((len(part), 80, ctx_frames), np.float32)
            for k, (_, _, m, pad) in enumerate(part):
                mel[k] = pad
                n = min(len(m), ctx_frames)
                mel[k, :, :n] = m[:n].T
            for it, ids in zip(part, net.greedy(torch.from_numpy(mel), amp=amp)):
                pairs.append((it[0], it[1], bpe.decode(ids).strip()))
        res[split] = pairs
    net.train()
    return res


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--header", required=True)
    ap.add_argument("--data", required=True)
    ap.add_argument("--out", required=True)
    ap.add_argument("--init", help="continue from this checkpoint")
    ap.add_argument("--minutes", type=float, default=55)
    ap.add_argument("--d", type=int, default=192)
    ap.add_argument("--heads", type=int, default=3)
    ap.add_argument("--layers", type=int, default=4)
    ap.add_argument("--audio-ctx", type=int, default=1500)
    ap.add_argument("--lr", type=float, default=1.5e-3)
    ap.add_argument("--warmup", type=int, default=400)
    ap.add_argument("--budget", type=int, default=9600, help="mel frames per batch")
    ap.add_argument("--max-batch", type=int, default=56)
    ap.add_argument("--pads", type=int, default=16)
    ap.add_argument("--threads", type=int, default=2)
    ap.add_argument("--weights", default="1,2,1.5", help="repeats of espeak, flite, human clips per epoch")
    ap.add_argument("--full", action="store_true", help="use the whole context instead of sampled padding")
    ap.add_argument("--eval-clips", type=int, default=16)
    ap.add_argument("--early", type=float, default=0.35, help="share of the time with guided cross-attention")
    ap.add_argument("--log-every", type=int, default=25)
    ap.add_argument("--max-steps", type=int, default=0)
    ap.add_argument("--eval-every", type=float, default=6.0, help="minutes")
    args = ap.parse_args()
    torch.set_num_threads(args.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    rng = np.random.default_rng(3)

    header = GgmlHeader(args.header)
    bpe = Bpe(header.tokens)
    with open(os.path.join(args.data, "meta.pkl"), "rb") as f:
        meta = pickle.load(f)
    used = meta["used"] + [TOK_EOT, TOK_SOT, TOK_NOTIMESTAMPS]
    net = Whisper(used, audio_ctx=args.audio_ctx, d=args.d, heads=args.heads, enc_layers=args.layers,
                  dec_layers=args.layers, n_phones=max(meta["phone_ids"].values()) + 1)
    if args.init:
        net.load_state_dict(torch.load(args.init)["model"])
    print("parameters", sum(p.numel() for p in net.parameters()), flush=True)
    data = Data(args.data, bpe, net.index, dict(enumerate(map(float, args.weights.split(",")))))
    specials = (net.index[TOK_SOT], net.index[TOK_NOTIMESTAMPS], net.index[TOK_EOT])
    tests = load_tests(os.path.join(args.data, "test"), header.filters, args.eval_clips)

    decay, plain = [], []
    for n, p in net.named_parameters():
        (decay if p.dim() >= 2 and "embedding" not in n else plain).append(p)
    opt = torch.optim.AdamW([dict(params=decay, weight_decay=0.02), dict(params=plain, weight_decay=0.0)],
                            lr=args.lr, betas=(0.9, 0.98), eps=1e-8)
    params = [p for p in net.parameters()]
    ema = [p.detach().clone() for p in params]
    start = time.time()
    limit = args.minutes * 60

    q = queue.Queue(6)

    def feeder():
        first = not args.init
        while True:
            # short clips first, then slices of an epoch, looking for new shards in between
            for ids in data.epoch(rng, args.budget, args.max_batch, 230 if first else None)[:150 if first else 400]:
                q.put(data.batch(ids, rng, specials, full=args.full))
            first = False
            data.rescan()
    threading.Thread(target=feeder, daemon=True).start()

    want_save = []
    signal.signal(signal.SIGUSR1, lambda *a: want_save.append(1))   # evaluate and save now
    step, seen, frames, t_log, last_eval = 0, 0, 0, time.time(), 0.0
    sums = {}
    while time.time() - start < limit and (not args.max_steps or step < args.max_steps):
        mel, tin, tout, spans, phones, chars, clen, flen = q.get()
        frac = (time.time() - start) / limit
        lr = args.lr * min(1.0, (step + 1) / args.warmup) * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * frac)))
        for g in opt.param_groups:
            g["lr"] = lr
        early = frac < args.early
        xa, xbias = net.encoder(mel, 0 if args.full else args.pads)
        logits, maps = net.decoder(tin, xa, xbias, want=(1, 2) if early else ())
        ce, nll = net.losses(logits, tout, 0.05)
        t = mel.shape[2] // 2
        feats = xa[:, :t]
        ctc = F.ctc_loss(net.aux_ctc(feats).log_softmax(-1).transpose(0, 1), chars, flen, clen, blank=0, zero_infinity=True)
        wctc = 0.3 if frac < 0.5 else 0.15
        loss = ce + wctc * ctc
        stats = dict(ce=nll, ctc=ctc)
        if frac < 0.7:
            if bool((phones != 255).any()):
                ph = F.cross_entropy(net.aux_phone(feats).flatten(0, 1), phones.flatten(), ignore_index=255)
                loss = loss + (0.5 if frac < 0.45 else 0.2) * ph
                stats["ph"] = ph
        if early:
            pos = torch.arange(xa.shape[1])
            ok = spans[..., 1] > 0
            if bool(ok.any()):
                inside = ((pos >= spans[..., 0:1]) & (pos < spans[..., 1:2])).float()
                ga = 0
                for p in maps:
                    mass = (p.mean(1) * inside).sum(-1)[ok]
                    ga = ga - torch.log(mass + 1e-3).mean()
                loss = loss + 0.15 * ga
                stats["ga"] = ga / len(maps)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        gn = nn.utils.clip_grad_norm_(params, 1.0)
        if torch.isfinite(gn):
            opt.step()
        d = min(0.999, (step + 1) / (step + 20))
        with torch.no_grad():
            torch._foreach_mul_(ema, d)
            torch._foreach_add_(ema, params, alpha=1 - d)
        step += 1
        seen += mel.shape[0]
        for k, v in stats.items():
            sums[k] = sums.get(k, 0) + float(v)
        if step % args.log_every == 0:
            now = time.time()
            print("step %d t %.0fs lr %.2e %s gn %.2f | %.1f clips/s" % (
                step, now - start, lr, " ".join("%s %.3f" % (k, v / args.log_every) for k, v in sums.items()), gn,
                seen / (now - t_log)), flush=True)
            sums, seen, t_log = {}, 0, now
        if want_save or time.time() - start - last_eval > args.eval_every * 60:
            want_save.clear()
            last_eval = time.time() - start
            live = [p.detach().clone() for p in params]
            with torch.no_grad():
                torch._foreach_copy_(params, ema) if hasattr(torch, "_foreach_copy_") else [p.copy_(e) for p, e in zip(params, ema)]
                r = evaluate(net, tests, bpe, 2 * args.audio_ctx, amp=True)
                torch.save(dict(model=net.state_dict(), dims=net.dims, used=net.used, n_phones=max(meta["phone_ids"].values()) + 1), args.out)
                [p.copy_(e) for p, e in zip(params, live)]
            for split, pairs in r.items():
                print("  EVAL %s WER %.3f (%d/%d)" % ((split,) + wer([(a, b) for _, a, b in pairs])), flush=True)
                for fn, a, b in pairs[:3]:
                    print("     ", a, "|", b, flush=True)
            t_log = time.time()
            seen = 0
    with torch.no_grad():
        [p.copy_(e) for p, e in zip(params, ema)]
    torch.save(dict(model=net.state_dict(), dims=net.dims, used=net.used, n_phones=max(meta["phone_ids"].values()) + 1), args.out)
    print("steps", step, "seconds", time.time() - start, flush=True)
    r = evaluate(net, tests, bpe, 2 * args.audio_ctx)
    for split, pairs in r.items():
        print("FINAL %s WER %.3f (%d/%d)" % ((split,) + wer([(a, b) for _, a, b in pairs])), flush=True)


if __name__ == "__main__":
    main()
