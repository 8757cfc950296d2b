"""Words that stand for what somebody may not see, so that they are found wherever they are met."""


def secret(kind: str, n: object = "") -> str:
    return f"cnry{kind}{n}"
