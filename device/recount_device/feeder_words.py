"""The feeder's numbers as words: what a message of the board says, for the station."""

from dataclasses import dataclass

from recount_protocol import feeder_messages

BACK = "back"
"""The exit through which a sheet comes back to the operator."""

PATH_SENSORS = ("entry", "camera", "exit_counted", "exit_set_aside", "exit_not_accepted")


@dataclass(frozen=True)
class Report:
    """What the board answers to `ask`."""

    state: str
    sheet: int
    stop_reason: str
    sensors: frozenset[str]
    last_sheet: int
    last_exit: str
    """Empty where no sheet has left the path since the board's start."""

    @property
    def path_is_clear(self) -> bool:
        """Whether no sensor of the path sees paper."""
        return not self.sensors.intersection(PATH_SENSORS)


def report_from(fields: dict[str, int]) -> Report:
    """Return the report in a message's fields."""
    sensors = fields["sensors"]
    last_exit = fields["last_exit"]
    return Report(
        feeder_messages.STATES[fields["state"]],
        fields["sheet"],
        feeder_messages.STOP_REASONS[fields["stop_reason"]],
        frozenset(name for bit, name in enumerate(feeder_messages.SENSORS) if sensors >> bit & 1),
        fields["last_sheet"],
        "" if last_exit == feeder_messages.NO_EXIT else exit_name(last_exit),
    )


def exit_name(number: int) -> str:
    """Return the exit of this number."""
    return feeder_messages.EXITS[number]


def exit_number(name: str) -> int:
    """Return the number of this exit."""
    return feeder_messages.EXITS.index(name)


def stop_name(number: int) -> str:
    """Return the reason to stop of this number."""
    return feeder_messages.STOP_REASONS[number]


def command_name(number: int) -> str:
    """Return the command that a `refused` message names; empty where there is none of that number."""
    return feeder_messages.KINDS.get(number, "")
