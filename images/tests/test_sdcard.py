"""The recipe of a device's SD card: its parts exist, agree with each other, and hold no secret.

What only a build shows (that the packages exist, that the programs start) stands in images/sdcard/README.md.
"""

import configparser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
SDCARD = TOP / "images" / "sdcard"
FILES = SDCARD / "files"
UNIT = TOP / "device" / "systemd" / "recount-device.service"
SCRIPTS = [SDCARD / "build", SDCARD / "customize"]


def lines(path: Path) -> list[list[str]]:
    """Return the words of every line that is no comment."""
    return [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")]


def mounts() -> dict[str, tuple[str, set[str]]]:
    """Return what is mounted where, and how."""
    return {where: (what, set(how.split(","))) for what, where, _, how, *_ in lines(FILES / "etc/fstab")}


def unit(path: Path) -> dict[str, dict[str, str]]:
    """Return a unit's sections; of a key that stands twice, the last."""
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text())
    return {name: dict(section) for name, section in parser.items()}


def test_every_file_that_the_scripts_take_from_here_exists() -> None:
    taken = {
        name
        for script in SCRIPTS
        for name in re.findall(
            r"(?:source/|(?<![\w/]))((?:images|device|requirements)/[\w./-]+)", script.read_text()
        )
    }
    assert {"requirements/raspberry-pi.txt", "device/systemd/recount-device.service"} <= taken
    assert [name for name in taken if not (TOP / name).exists()] == []


def test_every_package_has_an_archive_and_a_reason() -> None:
    packages = lines(SDCARD / "packages")
    assert {archive for _, archive, *_ in packages} == {"debian", "raspberry-pi"}
    assert [words for words in packages if len(words) < 4] == []
    names = [name for name, *_ in packages]
    assert len(set(names)) == len(names)


def test_nothing_on_the_card_listens_to_a_network() -> None:
    names = {name for name, *_ in lines(SDCARD / "packages")}
    heard = re.compile(r"ssh|network|dhcp|avahi|connman|wpa|bluez|timesync|ntp|chrony|resolved|modem")
    assert [name for name in names if heard.search(name)] == []
    config = (FILES / "boot/firmware/config.txt").read_text().splitlines()
    assert {"dtoverlay=disable-wifi", "dtoverlay=disable-bt"} <= set(config)


def test_the_root_is_read_only_and_only_the_record_outlives_a_start() -> None:
    where = mounts()
    assert {place: what for place, (what, how) in where.items() if "ro" not in how and what != "tmpfs"} == {
        "/var/lib/recount": "PARTUUID=52454355-03"
    }
    assert "ro" in (FILES / "boot/firmware/cmdline.txt").read_text().split()
    assert unit(UNIT)["Service"]["StateDirectory"] == "recount"
    assert where["/var/lib/recount"][1] >= {"nosuid", "nodev", "noexec", "errors=remount-ro"}


def test_there_is_no_swap_that_would_write_a_ballot_to_the_card() -> None:
    assert not any("swap" in "".join(words) for words in lines(FILES / "etc/fstab"))
    assert "systemd.swap=no" in (FILES / "boot/firmware/cmdline.txt").read_text().split()
    assert not any("swap" in name for name, *_ in lines(SDCARD / "packages"))


def test_the_partitions_are_those_that_the_kernel_and_fstab_name() -> None:
    recipe = (SDCARD / "genimage.cfg").read_text()
    signature = re.findall(r"disk-signature = 0x([0-9a-f]{8})", recipe)[0]
    partitions = re.findall(r"^\tpartition (\w+)", recipe, re.MULTILINE)
    assert partitions == ["boot", "root", "data"]
    places = {"boot": "/boot/firmware", "root": "/", "data": "/var/lib/recount"}
    for number, name in enumerate(partitions, 1):
        assert mounts()[places[name]][0] == f"PARTUUID={signature}-{number:02}"
    assert set(re.findall(r'mountpoint = "(.*)"', recipe)) == {places["boot"], places["data"]}
    (kernel,) = (FILES / "boot/firmware/cmdline.txt").read_text().splitlines()
    assert f"root=PARTUUID={signature}-02" in kernel.split()


def test_the_uart_to_the_feeder_board_has_no_console_on_it() -> None:
    kernel = (FILES / "boot/firmware/cmdline.txt").read_text()
    assert re.findall(r"console=(\w+)", kernel) == ["tty1"]
    assert "enable_uart=1" in (FILES / "boot/firmware/config.txt").read_text().splitlines()


def test_the_device_has_the_user_and_the_groups_that_its_unit_asks_for() -> None:
    users = lines(FILES / "usr/lib/sysusers.d/recount.conf")
    service = unit(UNIT)["Service"]
    assert [name for kind, name, *_ in users if kind == "u"] == [service["User"]]
    of = {group for kind, user, group, *_ in users if kind == "m" and user == service["User"]}
    assert of == set(service["SupplementaryGroups"].split())


def test_the_device_and_the_technicians_console_never_run_at_once() -> None:
    drop_ins = FILES / "etc/systemd/system"
    device = unit(drop_ins / "recount-device.service.d/in-service.conf")["Unit"]["ConditionPathExists"]
    console = unit(drop_ins / "getty@tty1.service.d/maintenance.conf")["Unit"]["ConditionPathExists"]
    assert device == "!" + console == "!/boot/firmware/MAINTENANCE"


def test_the_units_config_file_lies_on_the_partition_that_any_laptop_can_write() -> None:
    config = FILES / "etc/recount/DEVICE.toml"
    assert UNIT.read_text().count("/" + str(config.relative_to(FILES))) == 1
    assert str(config.readlink()) == "/boot/firmware/DEVICE.toml"


def test_no_secret_is_on_any_card() -> None:
    secret = re.compile(r"PRIVATE KEY|\$[1-9y]\$|passw(or)?d\s*=|psk=", re.IGNORECASE)
    for path in SDCARD.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert secret.search(path.read_text()) is None, path
            assert path.name not in {"shadow", "passwd", "device.key"}


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_the_scripts_pass_shellcheck() -> None:
    subprocess.run(["shellcheck", *SCRIPTS], check=True)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_knows_every_word_of_the_units(tmp_path: Path) -> None:
    units = tmp_path / "etc/systemd/system"
    shutil.copytree(FILES / "etc/systemd/system", units)
    shutil.copy(UNIT, units)
    shutil.copytree("/usr/lib/systemd/system", tmp_path / "usr/lib/systemd/system", symlinks=True)
    program = tmp_path / "opt/recount-scanner/bin/recount-device"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    names = ["recount-device.service", "getty@tty1.service"]
    said = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", f"--root={tmp_path}", *names],
        check=False,
        capture_output=True,
        text=True,
    )
    about_ours = [
        line for line in said.stderr.splitlines() if "recount" in line or "maintenance.conf" in line
    ]
    assert (said.returncode, about_ours) == (0, [])


def test_a_build_without_a_folder_is_refused_in_one_line() -> None:
    said = subprocess.run([SDCARD / "build"], check=False, capture_output=True, text=True)
    assert said.returncode == 2
    assert said.stderr.startswith("images/sdcard/build: name the folder that the image goes to")
    assert said.stderr.count("\n") == 1
