"""The page of the trials, where each keeps what was found of it until it is run again."""

from datetime import date

from tools.trials.__main__ import Trial, choose
from tools.trials.record import HEAD, Run, put_into

ORDER = ["Keys", "Faults"]


def run_of(trial: str, database: str, n_lost: int) -> Run:
    return Run(trial, f"About {trial}.", {"lost": n_lost}, {"lost": 0}, database, 2.4, "abc", date(2026, 11, 23))


def test_a_run_takes_the_place_of_the_last_one_of_its_trial_and_kind_of_database_and_of_no_other() -> None:
    page = ""
    runs = (("Faults", "SQLite 3.40", 1), ("Keys", "PostgreSQL 15.1", 2), ("Keys", "SQLite 3.40", 3))
    for trial, database, n_lost in runs:
        page = put_into(page, run_of(trial, database, n_lost), ORDER)

    once_more = put_into(page, run_of("Keys", "SQLite 3.50", 0), ORDER)

    assert once_more.startswith(HEAD)
    assert [line for line in once_more.splitlines() if line.startswith(("#", "| lost", "About"))][1:] == [
        *("## Keys", "About Keys.", "### SQLite: holds", "| lost | 0 | 0 |"),
        *("### PostgreSQL: **does not hold**", "| lost | 2 | 0 |"),
        *("## Faults", "About Faults.", "### SQLite: **does not hold**", "| lost | 1 | 0 |"),
    ]
    assert "SQLite 3.50; commit abc, 2026-11-23; " in once_more


def test_what_is_no_trial_any_more_leaves_the_page() -> None:
    page = put_into("", run_of("Faults", "SQLite 3.40", 1), ORDER)

    assert "Faults" not in put_into(page, run_of("Keys", "SQLite 3.40", 1), ["Keys"])


def test_a_part_of_the_trials_is_chosen_by_words_of_their_names() -> None:
    all_trials = [Trial(name, "", dict, {}) for name in ("Crawl", "Two windows", "Judges: a storm")]

    assert [trial.name for trial in choose(all_trials, ["CRAWL", "storm"])] == ["Crawl", "Judges: a storm"]
    assert choose(all_trials, []) == all_trials
