"""`time` of a simulated board: the world's time, which stands still while the firmware works."""

from dialogue import TICKS_MASK, dialogue

_HALF = (TICKS_MASK + 1) // 2


def ticks_us():
    dialogue.begin()
    return dialogue.now_us & TICKS_MASK


def ticks_ms():
    dialogue.begin()
    return (dialogue.now_us // 1000) & TICKS_MASK


def ticks_diff(later, earlier):
    return ((later - earlier + _HALF) & TICKS_MASK) - _HALF


def ticks_add(ticks, delta):
    return (ticks + delta) & TICKS_MASK


def sleep_ms(duration):
    end_us = dialogue.now_us + duration * 1000
    while dialogue.now_us < end_us:  # an edge or a byte ends a wait early, as an interrupt would; sleep on
        dialogue.wait(end_us - dialogue.now_us)
