# SPDX-License-Identifier: GPL-3.0-or-later
"""Minimal ctypes binding to libespeak-ng that returns audio plus word and phoneme times."""
import ctypes as C

import numpy as np


class _Id(C.Union):
    _fields_ = [("number", C.c_int), ("name", C.c_char_p), ("string", C.c_char * 8)]


class _Event(C.Structure):
    _fields_ = [("type", C.c_int), ("uid", C.c_uint), ("text_position", C.c_int), ("length", C.c_int),
                ("audio_position", C.c_int), ("sample", C.c_int), ("user_data", C.c_void_p), ("id", _Id)]


_CB = C.CFUNCTYPE(C.c_int, C.POINTER(C.c_short), C.c_int, C.POINTER(_Event))
EV_END, EV_WORD, EV_PHONEME = 0, 1, 7
P_RATE, P_VOLUME, P_PITCH, P_RANGE = 1, 2, 3, 4


class Espeak:
    def __init__(self, lib="libespeak-ng.so.1"):
        self.lib = C.CDLL(lib)
        # AUDIO_OUTPUT_SYNCHRONOUS, with phoneme events
        self.rate = self.lib.espeak_Initialize(2, 200, None, 1)
        if self.rate <= 0:
            raise RuntimeError("espeak_Initialize failed")
        self.cb = _CB(self._on_audio)
        self.lib.espeak_SetSynthCallback(self.cb)

    def _on_audio(self, wav, n, ev):
        if wav and n > 0:
            self.chunks.append(np.ctypeslib.as_array(wav, (n,)).copy())
        i = 0
        while ev[i].type != EV_END:
            e = ev[i]
            if e.type == EV_WORD:
                self.words.append((e.text_position, e.audio_position))
            elif e.type == EV_PHONEME:
                self.phones.append((e.id.string.decode("latin1"), e.audio_position))
            i += 1
        return 0

    def say(self, text, voice, rate=170, pitch=50, prange=50):
        self.chunks, self.words, self.phones = [], [], []
        if self.lib.espeak_SetVoiceByName(voice.encode()) != 0:
            raise ValueError("no voice " + voice)
        self.lib.espeak_SetParameter(P_RATE, int(rate), 0)
        self.lib.espeak_SetParameter(P_PITCH, int(pitch), 0)
        self.lib.espeak_SetParameter(P_RANGE, int(prange), 0)
        data = text.encode() + b"\0"
        self.lib.espeak_Synth(data, C.c_size_t(len(data)), 0, 1, 0, 1, None, None)
        audio = np.concatenate(self.chunks) if self.chunks else np.zeros(1, np.int16)
        return audio, list(self.words), list(self.phones)
