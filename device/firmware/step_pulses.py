"""The PIO program that makes step pulses, so that no pulse ever waits for Python."""

import rp2

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rp2.asm_pio import *

CYCLES_PER_STEP = 8


# High 4 cycles: set 1 + 3. Low 4 cycles: set 1 + 1, jmp(x_dec) 1, and one more, which is jmp("step") within a
# word and out() between two words: so the steps are even across words as well.
@rp2.asm_pio(set_init=rp2.PIO.OUT_LOW, autopull=True, pull_thresh=32)
def step_pulses() -> None:
    """Make n + 1 steps of 8 cycles for each word n; without a word the motor stands."""
    wrap_target()
    out(x, 32)
    label("step")
    set(pins, 1)[3]
    set(pins, 0)[1]
    jmp(x_dec, "more")
    wrap()
    label("more")
    jmp("step")
