"""An order profile is signed beside its file; what does not fit is refused before it gets into a ledger."""

from pathlib import Path

import pytest

from host.tests.rehearsal import order_text
from recount_host.cli import main
from recount_host.ledger.ledger import open_ledger
from recount_host.order import order_signers

CLERK = ("--by", "Cleo May, coordinator")


@pytest.fixture
def order(tmp_path: Path) -> Path:
    path = tmp_path / "order.toml"
    path.write_text(order_text(), encoding="utf-8")
    return path


def sign(order: Path, name: str = "Cleo May, clerk", key: str = "clerk.key") -> int:
    return main(["order", "sign", str(order), "--key", str(order.parent / key), "--name", name])


def set_order(order: Path) -> int:
    return main(["order", "set", str(order), "--data", str(order.with_name("data")), *CLERK])


def test_the_signatures_of_an_order_go_into_the_ledger_with_it(
    order: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sign(order) == sign(order, "June Day, judge", "judge.key") == 0
    assert order.with_name("clerk.key").stat().st_mode & 0o077 == 0
    assert set_order(order) == 0
    assert "signed by Cleo May, clerk, key " in capsys.readouterr().out
    with open_ledger(order.with_name("data")) as ledger:
        clerk, judge = order_signers(ledger.acts())
    assert clerk.startswith("Cleo May, clerk, key ")
    assert judge.startswith("June Day, judge, key ")


def test_an_order_that_nobody_signed_says_so(order: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert set_order(order) == 0
    assert "signed by nobody" in capsys.readouterr().out


def test_signatures_that_come_later_are_taken_in_by_setting_the_order_again(
    order: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set_order(order) == 0
    assert "no device counts live under an order that nobody signed" in capsys.readouterr().out
    assert sign(order) == 0
    for _ in range(2):
        assert set_order(order) == 0
        assert "no device counts live" not in capsys.readouterr().out
    assert sign(order, "June Day, judge", "judge.key") == 0
    assert set_order(order) == 0
    with open_ledger(order.with_name("data")) as ledger:
        acts = [act for act in ledger.acts() if act.kind == "order_set"]
        names = [signer.partition(", key")[0] for signer in order_signers(ledger.acts())]
    assert [len(act.body["signatures"]) for act in acts] == [0, 1, 1]
    assert names == ["Cleo May, clerk", "June Day, judge"]


def test_an_order_changed_after_it_was_signed_is_refused(
    order: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sign(order) == 0
    order.write_text(order_text(("101", "102")), encoding="utf-8")
    assert set_order(order) == 2
    assert "it was changed after it was signed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[[signature]]\nname = 1\n", "does not fit"),
        ('[[signature]]\nname = "x"\npublic_key = "zz"\nsignature = ""\n', "does not fit"),
        ("x" * 50_001, "larger than 50000 bytes"),
        (
            f'[[signature]]\nname = "x"\npublic_key = "{"0" * 64}"\nsignature = "{"0" * 128}"\n',
            "such a key signs anything",
        ),
        (
            f'[[signature]]\nname = "x"\npublic_key = "01{"0" * 62}\\n"\nsignature = "{"0" * 128}"\n',
            "does not fit",
        ),
        (
            f'[[signature]]\nname = "x\\n"\npublic_key = "{"a" * 64}"\nsignature = "{"0" * 128}"\n',
            "does not print",
        ),
    ],
)
def test_a_damaged_file_of_signatures_is_refused(
    order: Path, text: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    order.with_name("order.toml.signatures").write_text(text, encoding="utf-8")
    assert set_order(order) == 2
    assert why in capsys.readouterr().err


def test_one_signature_is_not_made_two_by_another_name(
    order: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sign(order, "Ann Lee, official, D") == 0
    beside = order.with_name("order.toml.signatures")
    made = beside.read_text(encoding="utf-8")
    renamed = made.replace("Ann Lee, official, D", "Bob Ray, official, R")
    beside.write_text(made + renamed, encoding="utf-8")
    assert set_order(order) == 2
    assert "one key is one signer" in capsys.readouterr().err
    beside.write_text(renamed, encoding="utf-8")
    assert set_order(order) == 2
    assert "under another name" in capsys.readouterr().err


def test_a_full_disk_takes_no_signature_that_was_there(
    order: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sign(order) == 0

    def fails(path: Path, *_: object, **__: object) -> int:
        path.touch()
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Path, "write_text", fails)
        assert sign(order, "June Day, judge", "judge.key") == 2
    assert "No space left" in capsys.readouterr().err
    assert set_order(order) == 0
    assert "signed by Cleo May, clerk" in capsys.readouterr().out


def test_what_cannot_sign_is_refused_in_one_line(order: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order.with_name("wrong.key").write_text("no key", encoding="utf-8")
    assert sign(order, key="wrong.key") == 2
    assert "holds no private key" in capsys.readouterr().err
    assert sign(order, name='a "quoted" name') == 2
    assert "printable letters" in capsys.readouterr().err
    assert sign(order) == 0
    assert sign(order) == 2
    assert "has signed" in capsys.readouterr().err
    assert sign(order, key="absent/x.key") == 2
    assert "cannot be read or made" in capsys.readouterr().err


def test_a_signature_for_another_order_is_none_for_this(
    order: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = order.with_name("other.toml")
    other.write_text(order_text(("999",)), encoding="utf-8")
    assert sign(other) == 0
    other.with_name("other.toml.signatures").rename(order.with_name("order.toml.signatures"))
    assert set_order(order) == 2
    assert "is not over this order" in capsys.readouterr().err
