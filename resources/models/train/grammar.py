# SPDX-License-Identifier: GPL-3.0-or-later
"""Sentence grammar of the command domain. sentence(rng) returns a lower-case string."""
from speechlib import number_words

ROOMS = "kitchen|bedroom|living room|bathroom|hallway|garage|office|garden|basement|dining room".split("|")
LIGHTS = "light|lights|lamp|lamps".split("|")
DEVICES = ("light|lights|lamp|fan|heater|radio|television|speaker|camera|alarm|oven|washer|dryer|pump|"
           "thermostat|vacuum|kettle|coffee machine|dishwasher|air conditioner|printer|router|computer|phone").split("|")
OPENABLE = "door|front door|back door|window|blinds|curtains|gate|garage door".split("|")
COLOURS = "red|green|blue|white|yellow|purple|orange|warm white".split("|")
MUSIC = "jazz|rock music|classical music|some music|the radio|the news|my favorite song|a podcast|an audio book|relaxing sounds".split("|")
NAMES = "mom|dad|anna|john|sarah|david|michael|emma|peter|lisa|the office|the doctor".split("|")
DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday".split("|")
MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december".split("|")
ORD = ("first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|"
       "fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|twenty first|twenty second|twenty third|"
       "twenty fourth|twenty fifth|twenty sixth|twenty seventh|twenty eighth|twenty ninth|thirtieth|thirty first").split("|")
ITEMS = "milk|bread|eggs|butter|coffee|apples|cheese|rice|water|batteries|soap|paper".split("|")
TASKS = ("buy milk|call mom|feed the cat|walk the dog|water the plants|take the medicine|check the oven|"
         "lock the door|pay the bill|charge the phone|clean the kitchen|send the report").split("|")
PLACES = "home|work|the airport|the station|the hospital|the supermarket|the park|the school".split("|")
UNITS_ = "percent|degrees|volts|watts|megabytes|meters|seconds|minutes|hours".split("|")
SENSORS = "temperature|humidity|pressure|motion|light|water|smoke|door|battery|power".split("|")
STATES = "online|offline|ready|busy|connected|disconnected|full|empty|low|high|open|closed|locked|normal|critical".split("|")
THINGS = "battery|memory|disk|network|server|device|model|camera|system|update|download|backup|sensor|node|board|signal".split("|")
EVENTS = "started|stopped|complete|failed|finished|paused|in progress|available|not responding|loaded|enabled|disabled".split("|")
PHON = ("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec "
        "romeo sierra tango uniform victor whiskey xray yankee zulu").split()
KEYS = "star|pound|zero|one|two|three|four|five|six|seven|eight|nine".split("|")
TEL_THINGS = "message|messages|password|number|extension|conference|name|greeting|mailbox|call|user|volume|directory|recording|line|menu|folder|option".split("|")
TEL_VERBS = ("hear|delete|save|repeat|play|record|send|change|enter|cancel|leave|forward|lock|unlock|mute|unmute|"
             "increase|decrease|reset|exit|remove|accept|reject|press|dial").split("|")


def num(rng, hi=100):
    return " ".join(number_words(int(rng.integers(0, hi))))


def clock(rng):
    h = number_words(int(rng.integers(1, 13)))[0]
    k = rng.integers(0, 6)
    if k == 0:
        return h + " oclock"
    if k == 1:
        return h + " " + pick(rng, ["thirty", "fifteen", "forty five", "ten", "twenty", "oh five", "fifty"])
    if k == 2:
        return "half past " + h
    if k == 3:
        return "quarter to " + h
    if k == 4:
        return h + " in the " + pick(rng, ["morning", "evening", "afternoon"])
    m = int(rng.integers(1, 60))
    return h + " " + (("oh " if m < 10 else "") + " ".join(number_words(m)))


def pick(rng, xs):
    return xs[int(rng.integers(0, len(xs)))]


def digits(rng, lo=2, hi=7):
    return " ".join(number_words(int(rng.integers(0, 10)))[0] for _ in range(int(rng.integers(lo, hi + 1))))


def date(rng):
    k = rng.integers(0, 4)
    if k == 0:
        return pick(rng, DAYS)
    if k == 1:
        return pick(rng, MONTHS) + " " + pick(rng, ORD)
    if k == 2:
        return "the " + pick(rng, ORD) + " of " + pick(rng, MONTHS)
    return pick(rng, ["today", "tomorrow", "yesterday", "next week", "tonight", "next " + pick(rng, DAYS)])


def telephony(rng):
    p = pick
    k = rng.integers(0, 13)
    if k == 0:
        return "please enter your %s followed by the pound key" % p(rng, TEL_THINGS)
    if k == 1:
        return "press %s to %s %s %s" % (p(rng, KEYS), p(rng, TEL_VERBS), p(rng, ["the", "your", "this", "a"]), p(rng, TEL_THINGS))
    if k == 2:
        return "the %s %s" % (p(rng, TEL_THINGS), p(rng, ["is now locked", "has been removed", "is full", "is invalid", "is not available",
                                                           "has ended", "is unavailable", "has been saved", "will now begin", "is busy"]))
    if k == 3:
        return "you have %s new %s" % (num(rng, 30), p(rng, ["messages", "calls", "callers waiting"]))
    if k == 4:
        return "press %s for %s" % (p(rng, KEYS), p(rng, ["help", "more options", "advanced options", "the directory", "the next " + p(rng, TEL_THINGS), "the previous " + p(rng, TEL_THINGS)]))
    if k == 5:
        return "to %s the %s press %s" % (p(rng, TEL_VERBS), p(rng, TEL_THINGS), p(rng, KEYS))
    if k == 6:
        return p(rng, ["im sorry", "sorry", "thank you", "goodbye", "please hold", "welcome", "one moment please"]) + p(
            rng, ["", " please try again", " that number is not valid", " that is not a valid extension", " for calling", " that %s is invalid" % p(rng, TEL_THINGS)])
    if k == 7:
        return "%s or %s to %s or %s the %s" % (p(rng, KEYS), p(rng, KEYS), p(rng, TEL_VERBS), p(rng, TEL_VERBS), p(rng, TEL_THINGS))
    if k == 8:
        return "after the tone %s your %s and then press the pound key" % (p(rng, ["say", "record"]), p(rng, TEL_THINGS))
    if k == 9:
        return "you are %s %s" % (p(rng, ["currently", "now", "no longer"]), p(rng, ["muted", "unmuted", "the only person in this conference", "in the conference", "caller number " + num(rng, 20)]))
    if k == 10:
        return "your %s has been %s" % (p(rng, TEL_THINGS), p(rng, ["saved", "changed", "removed", "deleted", "activated", "forwarded", "completed"]))
    if k == 11:
        return "please %s the %s %s" % (p(rng, TEL_VERBS), p(rng, TEL_THINGS), p(rng, ["and try again", "later", "now", "you wish to call", "followed by pound"]))
    return "%s %s" % (p(rng, ["incoming call from", "message from", "from", "transfer to", "extension", "call forwarding on"]),
                      p(rng, ["extension " + digits(rng, 2, 4), "an unknown caller", "phone number " + digits(rng, 3, 5), "busy", "no answer"]))


def sentence(rng):
    p = pick
    k = int(rng.integers(0, 40))
    if k in (0, 1):
        return "%s %s the %s %s" % (p(rng, ["turn", "switch"]), p(rng, ["on", "off"]), p(rng, ROOMS), p(rng, DEVICES))
    if k == 2:
        return "%s the %s %s" % (p(rng, ["turn", "switch"]), p(rng, DEVICES), p(rng, ["on", "off", "up", "down"]))
    if k == 3:
        return "%s the %s" % (p(rng, ["open", "close", "lock", "unlock", "check"]), p(rng, OPENABLE))
    if k == 4:
        return "%s the %s in the %s" % (p(rng, ["start", "stop", "pause", "turn off", "turn on", "restart"]), p(rng, DEVICES), p(rng, ROOMS))
    if k == 5:
        return "set the %s to %s %s" % (p(rng, DEVICES + ["volume", "brightness", "temperature"]), num(rng, 101), p(rng, ["percent", "degrees"]))
    if k == 6:
        return "%s the %s %s" % (p(rng, ["dim", "brighten"]), p(rng, ROOMS), p(rng, LIGHTS))
    if k == 7:
        return "make the %s %s %s" % (p(rng, ROOMS), p(rng, LIGHTS), p(rng, COLOURS))
    if k == 8:
        return "play %s%s" % (p(rng, MUSIC), p(rng, ["", " in the " + p(rng, ROOMS), " please", " on the speaker"]))
    if k == 9:
        return p(rng, ["next song", "previous song", "volume up", "volume down", "stop the music", "pause the music",
                       "skip this song", "play it again", "mute the television", "turn it up", "turn it down", "repeat that please"])
    if k == 10:
        return "set a timer for %s %s" % (num(rng, 60), p(rng, ["seconds", "minutes", "hours"]))
    if k == 11:
        return "%s %s" % (p(rng, ["set an alarm for", "wake me up at", "change the alarm to", "cancel the alarm at"]), clock(rng))
    if k == 12:
        return "remind me to %s %s" % (p(rng, TASKS), p(rng, ["tomorrow", "tonight", "at " + clock(rng), "on " + p(rng, DAYS)]))
    if k == 13:
        return "what %s" % p(rng, ["time is it", "is the weather today", "is the temperature outside", "day is it", "is on my calendar",
                                   "is the weather in the morning", "is on the shopping list", "is the battery level"])
    if k == 14:
        return "is the %s %s" % (p(rng, OPENABLE + DEVICES), p(rng, ["open", "closed", "locked", "on", "off", "running"]))
    if k == 15:
        return "%s it %s %s" % (p(rng, ["will", "is"]), p(rng, ["rain", "snow", "be sunny", "be cold"]), p(rng, ["today", "tomorrow", "tonight", "on " + p(rng, DAYS)]))
    if k == 16:
        return "%s %s" % (p(rng, ["call", "send a message to", "read the message from", "answer the call from"]), p(rng, NAMES))
    if k == 17:
        return "add %s %sto the shopping list" % (p(rng, ITEMS), p(rng, ["", "and " + p(rng, ITEMS) + " "]))
    if k == 18:
        return "schedule a meeting %s at %s" % (p(rng, ["today", "tomorrow", "on " + p(rng, DAYS)]), clock(rng))
    if k == 19:
        return "%s %s" % (p(rng, ["today is", "the meeting is on", "my birthday is", "what happened on", "the report is for"]), date(rng))
    if k == 20:
        return "it is %s" % clock(rng)
    if k in (21, 22):
        return digits(rng)
    if k == 23:
        return num(rng, 1000)
    if k == 24:
        return "%s point %s %s" % (num(rng, 100), digits(rng, 1, 2), p(rng, UNITS_))
    if k == 25:
        return "%s is at %s %s" % (p(rng, SENSORS), num(rng, 101), p(rng, UNITS_))
    if k == 26:
        return "the %s is %s" % (p(rng, THINGS), p(rng, STATES))
    if k == 27:
        return "%s %s" % (p(rng, THINGS), p(rng, EVENTS))
    if k == 28:
        return "%s %s is %s" % (p(rng, ["node", "sensor", "board", "device", "camera"]), num(rng, 20), p(rng, STATES))
    if k == 29:
        return "%s sensor in the %s is %s" % (p(rng, SENSORS), p(rng, ROOMS), p(rng, STATES))
    if k == 30:
        return "error code %s" % digits(rng, 2, 4)
    if k == 31:
        return "%s to %s" % (p(rng, ["navigate", "how far is it", "show the way", "drive"]), p(rng, PLACES))
    if k == 32:
        return "good %s" % p(rng, ["morning", "night", "evening", "afternoon"]) + p(rng, ["", " " + p(rng, NAMES[:10])])
    if k == 33:
        return " ".join(p(rng, PHON) for _ in range(int(rng.integers(2, 5))))
    if k == 34:
        return "%s %s %s" % (num(rng, 100), p(rng, ["plus", "minus", "times"]), num(rng, 100)) if rng.random() < 0.5 else "what is %s %s %s" % (num(rng, 20), p(rng, ["plus", "minus", "times"]), num(rng, 20))
    if k == 35:
        return "show me the %s %s" % (p(rng, ROOMS + OPENABLE[:3]), p(rng, ["camera", "temperature", "status"]))
    return telephony(rng)


def vocabulary():
    import numpy as np
    rng = np.random.default_rng(7)
    words = {}
    for _ in range(40000):
        for w in sentence(rng).split():
            words[w] = words.get(w, 0) + 1
    return words


if __name__ == "__main__":
    import numpy as np
    v = vocabulary()
    print(len(v), "distinct words")
    r = np.random.default_rng(1)
    for _ in range(20):
        print(sentence(r))
