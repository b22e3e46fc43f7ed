"""A whole locality at once: devices over TCP and over serial cables, one ledger."""

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from host.tests.links.cable import Cable
from host.tests.links.collecting_host import Host
from host.tests.links.stand_in import StandIn, run_over_tcp

OVER_TCP = 32
OVER_SERIAL = 32
RECORDS = 15
CROP = bytes(range(256)) * 40


def test_sixty_four_devices_over_tcp_and_serial_deliver_every_record_and_crop(tmp_path: Path) -> None:
    host = Host(tmp_path)
    cables = [Cable(tmp_path / f"ttyDEVICE{number}") for number in range(OVER_SERIAL)]
    try:
        for cable in cables:
            host.open_serial(cable.port)
        devices = [host.a_device(f"device-{seed}", seed) for seed in range(1, OVER_TCP + OVER_SERIAL + 1)]
        for device in devices:
            device.write_set_aside(1, device.public_key + CROP, run="run-1", batch=1)
            for number in range(RECORDS - 1):
                device.write_fault(f"{device.name} {number}")
        lines = [*cables, *[None] * OVER_TCP]
        sent = [threading.Event() for _ in devices]
        threads = [
            threading.Thread(target=deliver, args=(host, *each))
            for each in zip(devices, lines, sent, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(event.is_set() for event in sent)
        for device in devices:
            kept = host.ledger.records(device.device)
            assert [record.n for record in kept] == list(range(1, RECORDS + 1))
            assert kept[-1].body["word"] == f"{device.name} {RECORDS - 2}"
            assert host.ledger.crop(device.device, 1) == device.public_key + CROP
        assert not host.failed.is_set()
    finally:
        host.close()
        for cable in cables:
            with suppress(OSError):
                cable.pull()


def deliver(host: Host, device: StandIn, cable: Cable | None, sent: threading.Event) -> None:
    """Serve the device's connection until all it has is taken."""
    over: Callable[[], bool] = lambda: device.acknowledged_n == RECORDS and device.crops_taken == [1]  # noqa: E731
    connection = device.connect()
    delivered = (
        cable.serve(connection, over, longest_ms=40_000)
        if cable
        else run_over_tcp(connection, host.port, over, longest_ms=40_000)
    )
    if delivered:
        sent.set()
