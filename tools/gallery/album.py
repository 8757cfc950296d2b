"""Pictures of pages, and the page of the docs that shows them."""

import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
GALLERY, PICTURES = ROOT / "docs" / "gallery", ROOT / "docs" / "pictures"
HEIGHTS = {320: 640, 768: 1024, 1024: 768, 1440: 900}
HEAD = """# Gallery

The pages in their states, taken by `make gallery` from a demo of its own. Shown at half their size. The stories were
written for the demonstration, and the raters in the report are simulated.
"""


@dataclass
class Album:
    """The pictures as they are taken: of each scene a caption and the files by width."""

    scenes: dict[str, tuple[str, list[Path]]] = field(default_factory=dict)

    def take(self, page: Page, name: str, caption: str, *, widths: tuple[int, ...] = (1440, 320)) -> None:
        """The page as its window shows it, at each of the widths."""
        files = []
        for width in widths:
            page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
            page.wait_for_timeout(150)  # scrolling and fonts settle
            files.append(GALLERY / f"{name}-{width}.png")
            save(page, files[-1])
        page.set_viewport_size({"width": 1440, "height": HEIGHTS[1440]})
        self.scenes[name] = (caption, files)

    def write(self) -> None:
        """docs/gallery.md around the pictures, and no picture that it does not show."""
        current_files = {file for _, files in self.scenes.values() for file in files}
        for old in set(GALLERY.glob("*.png")) - current_files:
            old.unlink()
        parts = [HEAD]
        for name, (caption, files) in self.scenes.items():
            pictures = " ".join(
                f'<img src="gallery/{f.name}" alt="{caption} {width_of(f)} pixels wide." width="{width_of(f) // 2}">'
                for f in files
            )
            parts.append(f"## {name.replace('-', ' ').capitalize()}\n\n{caption}\n\n{pictures}\n")
        (ROOT / "docs" / "gallery.md").write_text("\n".join(parts))


def save(page: Page, file: Path) -> None:
    """What the window shows, in a palette of 256 colours: a third of the bytes, and text stays sharp."""
    shot = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
    file.parent.mkdir(parents=True, exist_ok=True)
    shot.quantize(palette=palette_of(shot), dither=Image.Dither.NONE).save(file, optimize=True)


def palette_of(shot: Image.Image) -> Image.Image:
    """The 200 commonest colours as they are, and 56 that cover the range: else papers and thin red lines change."""
    counts: Any = shot.getcolors(shot.width * shot.height)
    common = [colour for _, colour in sorted(counts, reverse=True)[:200]]
    rest = shot.quantize(56, Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in common for part in colour] + rest)
    return palette


def width_of(file: Path) -> int:
    return int(file.stem.rsplit("-", 1)[1])
