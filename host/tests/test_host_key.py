"""The host's key: made once, private, and refused when it is not what it should be."""

import stat
from pathlib import Path

import pytest

from recount_host.errors import OperatorError
from recount_host.host_key import KEY_FILE, host_words, open_host_key
from recount_protocol.key_files import write_key


def test_the_key_is_made_at_the_first_need_and_kept(tmp_path: Path) -> None:
    assert host_words(tmp_path) == ""
    first = open_host_key(tmp_path)
    assert open_host_key(tmp_path).public_key == first.public_key
    assert host_words(tmp_path) == first.words


def test_only_its_owner_can_read_the_key(tmp_path: Path) -> None:
    open_host_key(tmp_path)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    open_host_key(tmp_path)
    (tmp_path / KEY_FILE).chmod(0o640)
    with pytest.raises(OperatorError, match="chmod 600"):
        open_host_key(tmp_path)
    with pytest.raises(OperatorError, match="chmod 600"):
        host_words(tmp_path)


@pytest.mark.parametrize("content", [b"", b"no key"])
def test_a_file_without_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / KEY_FILE).write_bytes(content)
    (tmp_path / KEY_FILE).chmod(0o600)
    with pytest.raises(OperatorError, match="holds no key"):
        open_host_key(tmp_path)


def test_a_key_without_its_certificate_is_refused(tmp_path: Path) -> None:
    path = tmp_path / KEY_FILE
    path.write_bytes(write_key(open_host_key(tmp_path).private_key))
    with pytest.raises(OperatorError, match="lacks the certificate"):
        open_host_key(tmp_path)
