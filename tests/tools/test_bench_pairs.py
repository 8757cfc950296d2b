from tools.bench import pairs


def test_the_pairs_of_generated_stories_are_measured_and_symmetric() -> None:
    figures = pairs.run(400)

    assert figures["chosen the longer %"] == 50 < figures["chosen the longer, before the balance %"]
    assert 0 < figures["pairs built"] < figures["pairs on one prompt, all filters of stories passed"]
    assert figures["build_pairs, peak memory MB"] > 10
