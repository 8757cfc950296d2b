"""What the API says of each thing: its fields are listed here, never derived, so that none is told by mistake."""

from rest_framework import serializers

from reports.export.long_table_columns import COLUMNS

FIELDS = (
    *("study", "protocol_version", "protocol_sha256", "rater", "rater_kind", "group", "story", "story_position"),
    *("instrument", "instrument_version", "item", "value", "value_label", "outcome", "rationale"),
    *("first_answered_at", "last_edited_at", "n_edits", "active_seconds", "read_before", "status", "step", "seat"),
)
RATIONALE_FIELDS = (
    *("rater", "rater_kind", "group", "story", "step", "item", "value_label", "outcome", "rationale", "status"),
)


class StudyFields(serializers.Serializer[object]):
    slug = serializers.SlugField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=["draft", "live", "paused", "closed"])
    is_sealed = serializers.BooleanField(help_text="Whether nothing may be told by source yet.")
    url = serializers.URLField()


class GroupFields(serializers.Serializer[object]):
    group = serializers.CharField()
    n_seats = serializers.IntegerField()
    n_submitted = serializers.IntegerField()
    n_open = serializers.IntegerField()


class ProgressFields(serializers.Serializer[object]):
    study = serializers.SlugField()
    state = serializers.CharField()
    n_raters = serializers.IntegerField(help_text="People who came.")
    n_withdrawn = serializers.IntegerField()
    groups = GroupFields(many=True)


class PlaceFields(serializers.Serializer[object]):
    place = serializers.CharField(help_text="A field of the study, or “step”, its key, and title or text.")
    before = serializers.CharField()
    after = serializers.CharField()


class AmendmentFields(serializers.Serializer[object]):
    number = serializers.IntegerField()
    version = serializers.IntegerField(allow_null=True, help_text="Null where the protocol’s words stay.")
    at = serializers.DateTimeField()
    reason = serializers.CharField()
    holds_for = serializers.ChoiceField(choices=["newcomers", "everybody"])
    changes = PlaceFields(many=True)


_KINDS = {"integer": serializers.IntegerField, "number": serializers.FloatField, "datetime": serializers.DateTimeField}
_FIELD_BY_NAME = {
    column.name: serializers.JSONField(help_text=column.meaning, allow_null=True)
    if column.name == "value"
    else _KINDS.get(column.type, serializers.CharField)(help_text=column.meaning, allow_null=True)
    for column in COLUMNS
}
ResponseFields = type("ResponseFields", (serializers.Serializer,), {name: _FIELD_BY_NAME[name] for name in FIELDS})
RationaleFields = type(
    "RationaleFields", (serializers.Serializer,), {name: _FIELD_BY_NAME[name] for name in RATIONALE_FIELDS}
)


class ReportFields(serializers.Serializer[object]):
    fingerprint = serializers.CharField(help_text="SHA-256 of what the report was computed from.")
    made_at = serializers.DateTimeField()
    result = serializers.JSONField(help_text="The document that docs/reports.md describes.")


class PackageFields(serializers.Serializer[object]):
    sha256 = serializers.CharField()
    n_bytes = serializers.IntegerField()
    with_sources = serializers.BooleanField()
    is_public = serializers.BooleanField()
    made_at = serializers.DateTimeField()
    url = serializers.URLField()
