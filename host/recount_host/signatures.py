"""Detached signatures: the file NAME.signatures beside a file says who signed its bytes with which key.

    [[signature]]
    name = "Cleo May, clerk of the court"
    public_key = "..."                # 64 hexadecimal digits
    signature = "..."                 # 128, Ed25519 over "recount KIND SHA-256 by NAME", the hash of the file

A signature proves that the holder of the key signed, under that name; whose key it is people prove by its
fingerprint, which is printed where the signature is used. One key signs one file once: who signed cannot be
made two persons by another name.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from recount_host.errors import OperatorError
from recount_host.given_files import read_given
from recount_host.private_files import read_private

MAX_SIGNATURES_BYTES = 50_000
FINGERPRINT_DIGITS = 16

_KEYS_OF_NOBODY = frozenset(
    point + sign
    for point, signs in (
        ("01" + "00" * 30, ("00", "80")),
        ("00" * 31, ("00", "80")),
        ("ec" + "ff" * 30, ("7f", "ff")),
        ("ed" + "ff" * 30, ("7f", "ff")),
        ("ee" + "ff" * 30, ("7f", "ff")),
        ("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc", ("05", "85")),
        ("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03", ("7a", "fa")),
    )
    for sign in signs
)
"""The points of small order on the curve: a signature "by" one of them, fits many texts."""

_Hex32 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
_Hex64 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{128}\Z")]
_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=120)]


class SignatureError(OperatorError):
    """A file of signatures is damaged, or a signature is not over these bytes."""


class Signature(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One person's signature."""

    name: _Name
    public_key: _Hex32
    signature: _Hex64

    @property
    def fingerprint(self) -> str:
        """Return the first digits of the SHA-256 of the public key, by which people know it."""
        return sha256(bytes.fromhex(self.public_key)).hexdigest()[:FINGERPRINT_DIGITS]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"signatures": "signature"}):
    signatures: Annotated[tuple[Signature, ...], msgspec.Meta(max_length=50)] = ()


def signatures_in(entries: Iterable[object]) -> tuple[Signature, ...]:
    """Return the signatures that an act holds: their form is checked, and that each has its own key.

    Raises SignatureError for an entry that is none: acts of a bundle come from outside.
    """
    try:
        found = tuple(msgspec.convert(entry, Signature) for entry in entries)
    except (msgspec.ValidationError, ValueError) as error:
        raise SignatureError(f"a signature in the ledger is none: {error}") from error
    _check_signers(found)
    return found


def _check_signers(signatures: Iterable[Signature]) -> None:
    """Raise SignatureError for a name that cannot be shown as it is, and where one key stands twice."""
    names: dict[str, str] = {}
    for signature in signatures:
        if not signature.name.isprintable():
            raise SignatureError(f"{signature.name!r} is no name: it holds what does not print")
        if signature.public_key in names:
            raise SignatureError(
                f"{names[signature.public_key]!r} and {signature.name!r} signed with one key, and one key is "
                "one signer: each person signs with a key of their own"
            )
        names[signature.public_key] = signature.name


@dataclass(frozen=True, slots=True)
class Signed:
    """What is signed: bytes of one kind, so that a signature for one thing is none for another."""

    kind: str
    data: bytes

    def message(self, name: str) -> bytes:
        """Return the bytes under the signature of whoever signs as `name`."""
        return f"recount {self.kind} {sha256(self.data).hexdigest()} by {name}".encode()


def signatures_path(path: Path) -> Path:
    """Return where the signatures of the file at `path` lie."""
    return path.with_name(f"{path.name}.signatures")


def read_signatures(path: Path, signed: Signed) -> tuple[Signature, ...]:
    """Return the signatures beside the file at `path`, each verified; none where there is no such file.

    Raises SignatureError when the file is damaged, one key stands twice in it, or one signature is not over
    these bytes.
    """
    beside = signatures_path(path)
    if not beside.exists():
        return ()
    data = read_given(beside, "the file of signatures", MAX_SIGNATURES_BYTES, SignatureError)
    try:
        found = msgspec.toml.decode(data, type=_File).signatures
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeError, RecursionError) as error:
        raise SignatureError(f"{beside} does not fit: {error}") from error
    _check_signers(found)
    for signature in found:
        check_signature(signature, signed)
    return found


def check_signature(signature: Signature, signed: Signed) -> None:
    """Raise SignatureError unless `signature` is over `signed`."""
    if signature.public_key in _KEYS_OF_NOBODY:
        raise SignatureError(f"the key of {signature.name!r} is nobody's: such a key signs anything")
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.public_key))
    try:
        key.verify(bytes.fromhex(signature.signature), signed.message(signature.name))
    except InvalidSignature:
        raise SignatureError(
            f"the signature of {signature.name!r} is not over this {signed.kind}: it was changed after it "
            "was signed, or signed for another or under another name; have it signed anew"
        ) from None


def add_signature(path: Path, signed: Signed, name: str, key: Ed25519PrivateKey) -> Signature:
    """Sign, write the signature beside the file at `path` after those there are, and return it."""
    if not name.isprintable() or any(letter in name for letter in '"\\') or not 1 <= len(name.strip()) <= 120:
        raise SignatureError('a name has 1 to 120 printable letters, without " and \\')
    earlier = read_signatures(path, signed)
    made = Signature(name, key.public_key().public_bytes_raw().hex(), key.sign(signed.message(name)).hex())
    if any(made.public_key == known.public_key for known in earlier):
        raise SignatureError(f"this key has signed {path} already")
    beside = signatures_path(path)
    unfinished = beside.with_name(f"{beside.name}.new")
    try:
        # Whole or as it was: a full disk must not take the signatures of others.
        unfinished.write_text(_written((*earlier, made)), encoding="utf-8")
        unfinished.replace(beside)
    except OSError as error:
        raise SignatureError(f"{beside} cannot be written: {error.strerror}") from error
    return made


def _written(signatures: Sequence[Signature]) -> str:
    return "".join(
        f'[[signature]]\nname = "{s.name}"\npublic_key = "{s.public_key}"\nsignature = "{s.signature}"\n'
        for s in signatures
    )


def open_signing_key(path: Path) -> Ed25519PrivateKey:
    """Return the private key in the file at `path`; where there is none it is made, for its owner alone.

    Raises NotPrivate where others than its owner can read it, and SignatureError where it is no such key.
    """
    try:
        if path.exists():
            return _read_key(path)
        key = Ed25519PrivateKey.generate()
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(pem)
    except OSError as error:
        raise SignatureError(f"the key {path} cannot be read or made: {error.strerror}") from error
    return key


def _read_key(path: Path) -> Ed25519PrivateKey:
    try:
        loaded = serialization.load_pem_private_key(read_private(path), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise SignatureError(f"{path} holds no private key: name the right file") from None
    if not isinstance(loaded, Ed25519PrivateKey):
        raise SignatureError(f"{path} holds a key of another kind than Ed25519: name the right file")
    return loaded
