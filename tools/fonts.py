"""The two fonts of stories, cut to what pages show: `python tools/fonts.py FOLDER`, with fontTools and brotli there.

FOLDER holds literata-latin-opsz-{normal,italic}.woff2 as Fontsource publishes them (@fontsource-variable/literata, OFL
1.1, which reserves no name). Weights 400 to 700 stay. Upright letters keep the optical sizes from 14 pixels on, since
headings use them; italic ones stand in running text and have its size. No letter is lost, nor a feature that a page
turns on.
"""

import io
import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

FONTS = Path(__file__).resolve().parents[1] / "static" / "quire" / "fonts"
LIMITS = {
    "literata-latin-opsz-normal.woff2": {"wght": (400, 700), "opsz": (14, 72)},
    "literata-latin-opsz-italic.woff2": {"wght": (400, 700), "opsz": 20},
}
FEATURES = ["kern", "liga", "lnum", "pnum", "tnum", "mark", "mkmk", "ccmp", "locl", "rvrn"]


def cut(source: Path, limits: dict[str, object], target: Path) -> None:
    variable = instantiateVariableFont(TTFont(source), limits)
    variable.flavor = None
    written = io.BytesIO()  # the subsetter reads tables anew, without what the first step left in them
    variable.save(written)
    written.seek(0)
    font = TTFont(written)
    options = Options(layout_features=FEATURES, hinting=False, name_IDs=["*"], notdef_outline=True)
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=font.getBestCmap())
    subsetter.subset(font)
    font.flavor = "woff2"
    font.save(target)


for name, limits in LIMITS.items():
    cut(Path(sys.argv[1]) / name, limits, FONTS / name)
