"""Each preset is an endpoint that could be saved as it is, and says what comes first."""

import pytest

from judges.endpoints.presets import Preset, all_presets
from judges.models import Endpoint

every_preset = pytest.mark.parametrize("preset", all_presets().values(), ids=lambda preset: preset.slug)


def test_the_presets_that_come_with_quire() -> None:
    assert list(all_presets()) == [
        *("openai", "openai-responses", "anthropic", "gemini", "gemini-native"),
        *("vllm", "ollama", "this-machine"),
    ]


@every_preset
def test_a_preset_is_an_endpoint_as_it_stands(preset: Preset) -> None:
    Endpoint(**preset.fields).clean_fields()


@every_preset
def test_what_leaves_the_house_needs_a_key_and_what_stays_a_server(preset: Preset) -> None:
    assert preset.is_outside == bool(preset.key_variable) == bool(preset.key_page)
    assert preset.is_outside != bool(preset.command)
    assert preset.base_url.startswith("https://" if preset.is_outside else "http://127.0.0.1:")


@every_preset
def test_the_first_step_names_what_is_needed(preset: Preset) -> None:
    if preset.is_outside:
        assert preset.key_page in preset.first_step
        assert preset.key_variable in preset.first_step
    else:
        assert preset.command in preset.first_step
        assert "QUIRE_ALLOWED_PRIVATE_ENDPOINTS" in preset.first_step
