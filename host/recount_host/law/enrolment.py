"""Which devices are enrolled: folded from acts, and nothing else.

Two persons of different sides have compared the words of the device's key on two screens, before any record
of it is taken. A device is enrolled once; a revoked one never comes back under the same key.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recount_host.act import Act, Person
from recount_host.law.acts import check_act
from recount_host.law.errors import NotAllowed
from recount_host.law.persons import check_both_sides, check_one_side_each, check_sides_known
from recount_host.law.roster import check_may_act
from recount_host.order import Order
from recount_protocol.key_words import key_words
from recount_protocol.records import device_id

ENROLLED = "device_enrolled"
REVOKED = "device_revoked"


@dataclass(frozen=True, slots=True)
class Enrolment:
    """A device that both sides have enrolled, revoked or not."""

    device: str
    name: str
    public_key: bytes
    utc: str
    """When it was enrolled."""
    revoked: str = ""
    """Why it was revoked; empty where it was not."""


def enrolments(acts: Sequence[Act]) -> Mapping[str, Enrolment]:
    """Return every device that was ever enrolled, by its id, in the order of the acts."""
    found: dict[str, Enrolment] = {}
    for act in acts:
        body = act.body
        if act.kind == ENROLLED:
            found[body["device"]] = Enrolment(body["device"], body["name"], body["public_key"], act.utc)
        elif act.kind == REVOKED:
            found[body["device"]] = replace(found[body["device"]], revoked=body["reason"])
    return found


def enrolment_body(name: str, public_key: bytes) -> Mapping[str, Any]:
    """Return the body of the act that enrols this key under this name."""
    return {
        "device": device_id(public_key),
        "name": name,
        "public_key": public_key,
        "words": key_words(public_key),
    }


def admit_enrolment(
    acts: Sequence[Act], order: Order, kind: str, by: Sequence[Person], body: Mapping[str, Any]
) -> None:
    """Raise BadEntry or NotAllowed unless this enrolment or revocation may be written now."""
    check_act(kind, by, body)
    check_sides_known(by, order.side_keys)
    check_one_side_each(by, acts)
    check_may_act(by, acts)
    check_both_sides(by, "this")
    known = enrolments(acts)
    entry = known.get(body["device"])
    if kind == REVOKED:
        if entry is None:
            raise NotAllowed("this device is not enrolled")
        if entry.revoked:
            raise NotAllowed(f"{entry.name} is revoked already")
        return
    if entry is not None:
        again = (
            "it was revoked, and a revoked key never comes back: give it a new one" if entry.revoked else ""
        )
        raise NotAllowed(f"this key is enrolled as {entry.name} already" + (f"; {again}" if again else ""))
    if any(other.name == body["name"] and not other.revoked for other in known.values()):
        raise NotAllowed(
            f"another device is enrolled as {body['name']}: give this one another name in its DEVICE.toml, "
            f"or revoke the other one first (device revoke {body['name']})"
        )
