"""The evidence bundle as a target: whole verifications of bundles that were changed and signed anew."""

import io
from functools import cache
from hashlib import sha256
from random import Random

from firmware_tests.fuzz.mutating import havoc, packed_again
from firmware_tests.fuzz.odd_bundles import odd_bundles
from firmware_tests.fuzz.targets import Target, change_program, named, program_seeds
from host.tests.exports import tampering
from host.tests.exports.localities import no_progress
from recount_classifier.program import MAGIC
from recount_host import act
from recount_host.exports import gathered, layout, opened, tar, verify
from recount_host.exports.errors import NoBundle


@cache
def _small_files() -> tuple[tuple[str, bytes], ...]:
    """Return the files of a finished day without statement and pictures, which take their time."""
    files = tampering.sound_files()
    printed = list(layout.chain_items([files[layout.ACTS]], layout.ACTS_FORM))[:-1]
    files[layout.ACTS] = b"".join(layout.chain_item(item) for item, _ in printed)
    slow = ("statements/", "crops/", "programs/")
    return tuple((path, content) for path, content in files.items() if not path.startswith(slow))


@cache
def _bundle_seeds() -> tuple[bytes, ...]:
    files = dict(_small_files())
    program = program_seeds()[0]
    digest = sha256(program[len(MAGIC) + 32 :]).hexdigest()
    crop = tampering.sound_files()[tampering.path_of("crops/")]
    device = tampering.path_of("crops/").split("/")[1]
    more = {f"programs/{digest}.program": program, f"crops/{device}/000000099.png": crop[:600]}
    early = {f"early/{device}.chain": files[f"records/{device}.chain"][-2000:]}
    small = {path: content for path, content in files.items() if path != layout.ACTS}
    small[layout.ACTS] = files[layout.ACTS][:600]
    return (
        tampering.signed_anew(files),
        tampering.signed_anew({**files, **more, **early}),
        *odd_bundles(small, files[layout.ACTS]),
    )


def _change_bundle(data: bytes, random: Random, most: int) -> bytes:
    if random.random() < 0.25:
        return havoc(data, random, most)
    try:
        files = tampering.files_of(data)
        files = {path: content for path, content in files.items() if not path.startswith("manifest.")}
        path = random.choice(sorted(files))
        files[path] = _change_member(path, files[path], random, most)
        return tampering.signed_anew(files)[:most]
    except (NoBundle, IndexError):
        return havoc(data, random, most)


def _change_member(path: str, content: bytes, random: Random, most: int) -> bytes:
    if path.endswith(".chain"):
        form = layout.ACTS_FORM if path == layout.ACTS else layout.RECORDS_FORM
        try:
            items = list(layout.chain_items([content], form))
        except layout.ChainBroken:
            return havoc(content, random, most)
        if items and random.random() < 0.8:
            at = random.randrange(len(items))
            items[at] = (packed_again(items[at][0], random, 50_000), items[at][1])
            return b"".join(layout.chain_item(*item) for item in items)
    if path.endswith(".program"):
        return change_program(content, random, most)
    return havoc(content, random, most)


def _decode_bundle(data: bytes) -> bool:
    try:
        bundle = opened._open_tar(io.BytesIO(data).read)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        report = verify.verify_bundle(bundle, "", no_progress)
    except NoBundle as error:
        if len(str(error)) > 1000:
            raise AssertionError("no sentence is as long") from error
        return "manifest" in str(error)
    for problem in report.problems:
        assert len(problem.what) < 2000
    return True


BUNDLES = Target(
    "bundles",
    20_000,
    60_000,
    _bundle_seeds,
    _change_bundle,
    _decode_bundle,
    (
        *named(layout, "read_manifest _check_files place_of chain_items"),
        *named(tar, "read_tar _parse _content _exactly _check_end"),
        *named(act, "decode_act _person _word _map_without_repeats"),
        *named(gathered, "_read_acts _take_key _read_records _signed"),
    ),
    {
        'raise ActError(f"longer than {MAX_ACT_BYTES} bytes")': (
            "a chain's entries are bounded before they are decoded; this is for a ledger's rows"
        ),
    },
    guided_by=("recount_protocol", "recount_classifier.program", "recount_host"),
)
