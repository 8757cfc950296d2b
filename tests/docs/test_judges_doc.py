"""docs/judges.md has a row for every prompt, provider, embedding, intervention and item of a metric."""

import re
from pathlib import Path

from judges import interventions, metrics, prompts, providers
from judges.laboratory import embeddings, recipes

ROOT = Path(__file__).parents[2]
DOC = (ROOT / "docs" / "judges.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its head."""
    part = DOC.split(f"\n{heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_prompt_is_documented_in_its_version_and_no_other() -> None:
    table = rows("## Prompts")

    assert {(row[0].strip("`"), row[1]) for row in table} == {(p.name, p.version) for p in prompts.load_built_in()}
    by_name = {row[0].strip("`"): row for row in table}
    for prompt in prompts.load_built_in():
        assert (by_name[prompt.name][4] == "all") == prompt.is_verbatim
        assert (by_name[prompt.name][5] != "–") == bool(prompt.missing)


def test_every_provider_is_documented_and_no_other() -> None:
    table = rows("## Providers")

    assert [adapter.strip("`") for adapter, _ in table] == list(providers.all_providers())
    assert all(meaning for _, meaning in table)


def test_every_embedding_is_documented_and_no_other() -> None:
    kinds = [row[0].strip("`").partition(":")[0] for row in rows("## Embeddings")]

    assert sorted(kinds) == list(embeddings.all_kinds())


def test_every_item_of_every_metric_is_documented_in_its_version_and_no_other() -> None:
    table = [tuple(cell.strip("`") for cell in row[:3]) for row in rows("## Metrics")]

    expected = [
        (metric.slug, metric.version, item.key) for metric in metrics.all_metrics().values() for item in metric.items
    ]
    assert table == expected
    assert all(row[3] for row in rows("## Metrics"))


def test_every_intervention_is_documented_and_no_other() -> None:
    table = rows("## Interventions on the stories")

    slugs = [slug.strip("`") for names, _change in table for slug in names.split(", ")]
    assert sorted(slugs) == list(interventions.all_interventions())
    assert all(change for _, change in table)


def test_every_recipe_is_documented_in_its_version_and_no_other() -> None:
    table = [tuple(cell.strip("`") for cell in row) for row in rows("## Texts that models write")]

    assert [row[:2] for row in table] == [(recipe.slug, recipe.version) for recipe in recipes.all_recipes().values()]
    assert all(row[3] for row in table)


def test_the_readme_links_the_page() -> None:
    assert re.search(r"\]\(docs/judges\.md\)", (ROOT / "README.md").read_text())
