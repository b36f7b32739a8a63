"""A line chart on logarithmic axes as SVG, with nothing but text."""
import math
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 78, 230, 52, 54
COLOURS = ("#0b7285", "#c92a2a", "#e8590c", "#862e9c", "#2b8a3e", "#868e96")     # of the series in the order of their first chart
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #343a40 } .title { font-size: 16px; font-weight: 600 } .small { font-size: 12px }
.grid { stroke: #dee2e6; stroke-width: 1 } .back { fill: #ffffff }
@media (prefers-color-scheme: dark) { text { fill: #dee2e6 } .grid { stroke: #343a40 } .back { fill: #16191d } }
</style>"""


class Axis:
    """Values to pixels, and where its ticks are: 1, 2, 5 of each decade it needs."""

    def __init__(self, values, begin, end):
        self.low, self.high = math.log10(min(values)), math.log10(max(values))
        pad = 0.06 * ((self.high - self.low) or 1)
        self.low, self.high, self.begin, self.end = self.low - pad, self.high + pad, begin, end

    def at(self, value):
        return self.begin + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.begin)

    def ticks(self):
        steps = (1, 2, 5) if self.high - self.low < 3 else (1,)
        for decade in range(math.floor(self.low), math.ceil(self.high) + 1):
            for step in steps:
                value = step * 10.0 ** decade
                if self.low <= math.log10(value) <= self.high:
                    yield value


def number(value):
    """12,000 as 12k; 0.5 as it is."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _text(x, y, text, anchor="start", style=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(text)}</text>'


def _spread(labels, gap=16):
    """Labels (y, text, colour) moved apart, so that none hides another."""
    labels = sorted(labels)
    for i in range(1, len(labels)):
        if labels[i][0] - labels[i - 1][0] < gap:
            labels[i] = (labels[i - 1][0] + gap, *labels[i][1:])
    return labels


def _grid(x, y, x_name, y_unit):
    out = []
    for value in x.ticks():
        out += [f'<line class="grid" x1="{x.at(value):.1f}" x2="{x.at(value):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>',
                _text(x.at(value), HEIGHT - BOTTOM + 18, number(value), "middle", ' class="small"')]
    for value in y.ticks():
        out += [f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y.at(value):.1f}" y2="{y.at(value):.1f}"/>',
                _text(LEFT - 8, y.at(value) + 4, f"{value:,g} {y_unit}", "end", ' class="small"')]
    out.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_name, "middle", ' class="small"'))
    return out


def chart(title, x_name, y_unit, series, order):
    """`series` is {name: [(x, y)...]}, all above 0; `order` lists all names, each with its own colour. The text of a file."""
    series = {name: sorted(points) for name, points in series.items() if points}
    x = Axis([p[0] for points in series.values() for p in points], LEFT, WIDTH - RIGHT)
    y = Axis([p[1] for points in series.values() for p in points], HEIGHT - BOTTOM, TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">', STYLE,
           f'<rect class="back" width="{WIDTH}" height="{HEIGHT}"/>', _text(LEFT, 24, title, style=' class="title"')]
    out += _grid(x, y, x_name, y_unit)
    labels = []
    for name, points in series.items():
        colour = COLOURS[order.index(name) % len(COLOURS)]
        path = " ".join(f"{x.at(a):.1f},{y.at(b):.1f}" for a, b in points)
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2.5" points="{path}"/>')
        out += [f'<circle cx="{x.at(a):.1f}" cy="{y.at(b):.1f}" r="3.5" fill="{colour}"/>' for a, b in points]
        labels.append((y.at(points[-1][1]), name, colour))
    for at, name, colour in _spread(labels):
        out.append(_text(WIDTH - RIGHT + 12, at + 4, name, style=f' style="fill:{colour}"'))
    return "\n".join([*out, "</svg>", ""])
