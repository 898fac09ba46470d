# SPDX-License-Identifier: GPL-3.0-or-later
"""Whisper architecture with a reduced training vocabulary.

Only the embedding rows of tokens that occur in the data are trained. Every other row of
the full table is zero, so its logit is exactly 0; the softmax accounts for all of those
rows through one constant term log(number of zero rows).
"""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from speechlib import TOK_EOT, TOK_NOTIMESTAMPS, TOK_SOT

AMP = torch.bfloat16


def lin(x, w, b=None, amp=True):
    if amp:
        return F.linear(x.to(AMP), w.to(AMP), None if b is None else b.to(AMP))
    return F.linear(x, w, b)


class Attention(nn.Module):
    """Query/value/output projections carry a bias, the key projection does not."""

    def __init__(self, d, heads):
        super().__init__()
        self.h = heads
        self.query = nn.Linear(d, d)
        self.key = nn.Linear(d, d, bias=False)
        self.value = nn.Linear(d, d)
        self.out = nn.Linear(d, d)

    def split(self, x):
        b, t, d = x.shape
        return x.view(b, t, self.h, d // self.h).transpose(1, 2)

    def keys_values(self, xa, amp):
        d = xa.shape[-1]
        w = torch.cat([self.key.weight, self.value.weight])
        b = torch.cat([torch.zeros(d), self.value.bias])
        k, v = lin(xa, w, b, amp).split(d, -1)
        return self.split(k), self.split(v)

    def forward(self, x, xa=None, bias=None, amp=True, want=False):
        """Self attention, or cross attention over xa (features, or ready keys and values)."""
        d = x.shape[-1]
        if xa is None:
            w = torch.cat([self.query.weight, self.key.weight, self.value.weight])
            b = torch.cat([self.query.bias, torch.zeros(d), self.value.bias])
            q, k, v = (self.split(z) for z in lin(x, w, b, amp).split(d, -1))
        else:
            q = lin(x, self.query.weight, self.query.bias, amp)
            q = self.split(q)
            k, v = xa if isinstance(xa, tuple) else self.keys_values(xa, amp)
        s = (q * (d // self.h) ** -0.5) @ k.transpose(-1, -2)
        s = s.float()
        if bias is not None:
            s = s + bias
        p = s.softmax(-1)
        o = (p.to(v.dtype) @ v).transpose(1, 2).reshape(x.shape)
        o = lin(o, self.out.weight, self.out.bias, amp).float()
        return (o, p) if want else (o, None)


class Block(nn.Module):
    def __init__(self, d, heads, cross):
        super().__init__()
        self.attn_ln = nn.LayerNorm(d)
        self.attn = Attention(d, heads)
        if cross:
            self.cross_attn_ln = nn.LayerNorm(d)
            self.cross_attn = Attention(d, heads)
        self.cross = cross
        self.mlp_ln = nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x, xa=None, bias=None, xbias=None, amp=True, want=False):
        x = x + self.attn(self.attn_ln(x), None, bias, amp)[0]
        p = None
        if self.cross:
            o, p = self.cross_attn(self.cross_attn_ln(x), xa, xbias, amp, want)
            x = x + o
        h = F.gelu(lin(self.mlp_ln(x), self.mlp[0].weight, self.mlp[0].bias, amp))
        return x + lin(h, self.mlp[2].weight, self.mlp[2].bias, amp).float(), p


def sinusoids(length, channels):
    inc = math.log(10000) / (channels // 2 - 1)
    inv = np.exp(-inc * np.arange(channels // 2))
    t = np.arange(length)[:, None] * inv[None, :]
    return torch.tensor(np.concatenate([np.sin(t), np.cos(t)], 1), dtype=torch.float32)


class Encoder(nn.Module):
    def __init__(self, n_mels, ctx, d, heads, layers):
        super().__init__()
        self.conv1 = nn.Conv1d(n_mels, d, 3, padding=1)
        self.conv2 = nn.Conv1d(d, d, 3, stride=2, padding=1)
        self.register_buffer("positional_embedding", sinusoids(ctx, d))
        self.blocks = nn.ModuleList([Block(d, heads, False) for _ in range(layers)])
        self.ln_post = nn.LayerNorm(d)

    def stem(self, mel, amp):
        if amp:
            # the same convolutions as matrix products over three shifted copies
            x = F.pad(mel.to(AMP).transpose(1, 2), (0, 0, 1, 1))
            x = torch.cat([x[:, :-2], x[:, 1:-1], x[:, 2:]], -1)
            x = F.gelu(lin(x, self.conv1.weight.transpose(1, 2).flatten(1), self.conv1.bias))
            x = F.pad(x, (0, 0, 1, 0))
            half = mel.shape[2] // 2
            x = torch.cat([x[:, 0::2][:, :half], x[:, 1::2], x[:, 2::2]], -1)
            return F.gelu(lin(x, self.conv2.weight.transpose(1, 2).flatten(1), self.conv2.bias)).float()
        else:
            x = F.gelu(self.conv2(F.gelu(self.conv1(mel))))
        return x.transpose(1, 2).float()

    def forward(self, mel, n_pad=0, amp=True):
        """mel: B x n_mels x T (T even). With n_pad > 0 the constant padding out to the full
        context is represented by n_pad sampled positions, each weighted in the attention by
        the number of positions it stands for. Returns (features, attention bias)."""
        x = self.stem(mel, amp)
        t, ctx = x.shape[1], self.positional_embedding.shape[0]
        bias = None
        if n_pad and t < ctx - n_pad:
            # the last stem frame sees the zero edge of the window; the one before it is the constant
            const = x[:, -2:-1]
            x = torch.cat([x[:, :-1], const], 1) + self.positional_embedding[:t]
            at = torch.randperm(ctx - t)[:n_pad].sort()[0] + t
            x = torch.cat([x, const + self.positional_embedding[at]], 1)
            bias = torch.zeros(t + n_pad)
            bias[t:] = math.log((ctx - t) / n_pad)
        else:
            x = x + self.positional_embedding[:t]
        for b in self.blocks:
            x, _ = b(x, bias=bias, amp=amp)
        return self.ln_post(x), bias


class Decoder(nn.Module):
    def __init__(self, n_used, ctx, d, heads, layers):
        super().__init__()
        self.token_embedding = nn.Embedding(n_used, d)
        self.positional_embedding = nn.Parameter(torch.randn(ctx, d) * 0.02)
        self.blocks = nn.ModuleList([Block(d, heads, True) for _ in range(layers)])
        self.ln = nn.LayerNorm(d)

    def forward(self, tok, xa, xbias=None, amp=True, want=()):
        n = tok.shape[1]
        x = self.token_embedding(tok) + self.positional_embedding[:n]
        bias = torch.full((n, n), float("-inf")).triu(1)
        maps = []
        for i, b in enumerate(self.blocks):
            x, p = b(x, xa[i] if isinstance(xa, list) else xa, bias, xbias, amp, i in want)
            if p is not None:
                maps.append(p)
        x = self.ln(x)
        return x @ self.token_embedding.weight.t(), maps


class Whisper(nn.Module):
    def __init__(self, used, n_vocab=51864, n_mels=80, audio_ctx=1500, text_ctx=448, d=192, heads=3,
                 enc_layers=4, dec_layers=4, n_phones=0, n_chars=28):
        super().__init__()
        self.dims = dict(n_vocab=n_vocab, n_mels=n_mels, audio_ctx=audio_ctx, text_ctx=text_ctx, d=d, heads=heads,
                         enc_layers=enc_layers, dec_layers=dec_layers)
        self.used = list(used)
        self.index = {t: i for i, t in enumerate(self.used)}
        self.zero_mass = math.log(n_vocab - len(self.used))
        self.encoder = Encoder(n_mels, audio_ctx, d, heads, enc_layers)
        self.decoder = Decoder(len(self.used), text_ctx, d, heads, dec_layers)
        # auxiliary heads, dropped on conversion
        self.aux_ctc = nn.Linear(d, n_chars)
        self.aux_phone = nn.Linear(d, max(1, n_phones))
        self.reset(d, enc_layers, dec_layers)

    def reset(self, d, le, ld):
        for name, m in self.named_modules():
            if isinstance(m, nn.Linear):
                std = m.weight.shape[1] ** -0.5
                if name.endswith("attn.out") or name.endswith("mlp.2"):
                    std /= math.sqrt(2 * (ld if "decoder" in name else le))
                nn.init.normal_(m.weight, 0, std)
                if m.bias is not None:
                    nn.init.zeros_(m.bias)
        e = self.decoder.token_embedding.weight.data
        nn.init.normal_(e, 0, 0.05)
        # start the trained rows above the zero rows: a shared direction met by the final bias
        u = torch.randn(d)
        u /= u.norm()
        e += 0.6 * u
        self.decoder.ln.bias.data += 20.0 * u

    def losses(self, logits, target, smoothing):
        """Cross entropy with the zero rows counted; target -1 is ignored."""
        z = torch.cat([logits, torch.full_like(logits[..., :1], self.zero_mass)], -1)
        lp = z.log_softmax(-1)
        keep = target >= 0
        t = target.clamp(min=0)
        nll = -lp.gather(-1, t[..., None])[..., 0]
        smooth = -lp[..., :-1].mean(-1)
        loss = (1 - smoothing) * nll + smoothing * smooth
        return loss[keep].mean(), nll[keep].mean()

    @torch.no_grad()
    def greedy(self, mel, max_len=60, amp=False):
        """mel: B x n_mels x 2*audio_ctx. Returns lists of real token ids."""
        xa, bias = self.encoder(mel, amp=amp)
        xa = [blk.cross_attn.keys_values(xa, amp) for blk in self.decoder.blocks]
        b = mel.shape[0]
        tok = torch.tensor([[self.index[TOK_SOT], self.index[TOK_NOTIMESTAMPS]]] * b)
        done = torch.zeros(b, dtype=torch.bool)
        out = [[] for _ in range(b)]
        for step in range(max_len):
            logits = self.decoder(tok, xa, bias, amp)[0][:, -1].clone()
            logits[:, self.index[TOK_SOT]] = -1e9
            logits[:, self.index[TOK_NOTIMESTAMPS]] = -1e9
            if step == 0:
                logits[:, self.index[TOK_EOT]] = -1e9
            best = logits.argmax(-1)
            for i in range(b):
                if not done[i]:
                    if self.used[best[i]] == TOK_EOT:
                        done[i] = True
                    else:
                        out[i].append(self.used[best[i]])
            if bool(done.all()):
                break
            tok = torch.cat([tok, best[:, None]], 1)
        return out
