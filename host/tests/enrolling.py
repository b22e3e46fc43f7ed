"""Both sides enrol a device in a ledger, as after they compared its words."""

from recount_host.act import Person
from recount_host.law.enrolment import ENROLLED, REVOKED, enrolment_body
from recount_host.ledger import Ledger
from recount_protocol.records import device_id

BOTH = (Person("Ann Lee", "official", "D"), Person("Bob Ray", "official", "R"))


def enrol(ledger: Ledger, name: str, public_key: bytes) -> None:
    """Enrol the device with this key under this name; once is enough."""
    if device_id(public_key) not in {known.device for known in ledger.devices()}:
        ledger.append_act(ENROLLED, BOTH, enrolment_body(name, public_key))


def revoke(ledger: Ledger, name: str, public_key: bytes, reason: str = "lost") -> None:
    """Revoke it."""
    body = {"device": device_id(public_key), "name": name, "reason": reason}
    ledger.append_act(REVOKED, BOTH, body)
