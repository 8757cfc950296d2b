import pytest

from tools.bench import neighbours


def test_neighbours_are_measured_beside_a_bare_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbours, "N_VECTORS", 3_000)
    monkeypatch.setattr(neighbours, "N_TEXTS", 20)

    figures = neighbours.run()

    assert (figures["queries"], figures["vectors"], figures["numbers a vector"]) == (1_000, 3_000, 384)
    assert all(value > 0 for value in figures.values())
    assert figures["25 nearest / bare product"] > 0
