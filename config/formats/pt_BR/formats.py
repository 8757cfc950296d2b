"""21 de novembro de 2026, 19:05 UTC."""

DATE_FORMAT = SHORT_DATE_FORMAT = r"j \d\e F \d\e Y"
TIME_FORMAT = "H:i e"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = r"j \d\e F \d\e Y, H:i e"
BROWSER = "pt-BR"
