import pytest

from tests.independent.comparison import recomputed
from tests.reports.package_run import recompute


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["properties", "published"])
def test_n(name, tmp_path, pack):
    r = recomputed(pack(name), tmp_path)
    print(name, r["n_computed"], r["differences"][:3])
    a = recompute(pack(name), tmp_path)
    print(a["figures"]["judges_on_standard"], a["differences"][:3])
