//! Draws a part of the window as lanes and strips over one time axis.

use metalens_analyzer::{Analysis, Cause};
use metalens_message::Ns;
use metalens_text::units::percent;

use crate::axes::Axis;
use crate::canvas::{Area, Canvas, MARGIN, Mesh, ratio};
use crate::coverage::{Grid, Sweep, height};
use crate::font::{self, SMALL};
use crate::lanes::{self, Lane, LaneOwner};
use crate::options::ChartError;
use crate::palette::{Color, Palette};
use crate::pixels::{px, whole_count};
use crate::scene::Anchor;
use crate::strip::{Band, Layer, Strip, bars, names_inside};

/// Room left of the lanes, for their names.
pub(crate) const NAMES: f32 = 96.0;
/// Room right of the lanes, for their shares.
pub(crate) const SHARES: f32 = 58.0;
/// Room above the lanes, for the title.
pub(crate) const TITLE: f32 = 20.0;
const BETWEEN: f32 = 4.0;
/// Color of the line between two intervals that touch: dark, since a light one would look like a gap.
const DIVIDER: Color = Color {
    red: 0,
    green: 0,
    blue: 0,
    alpha: 140,
};
/// Height of the causes' strip.
const CAUSES: f32 = 22.0;

/// A part of the window, as lanes and strips.
pub(crate) struct Panel {
    pub(crate) grid: Grid,
    lanes: Vec<Lane>,
    /// Idle time by cause. None if there is no idle time.
    causes: Option<Strip>,
    bands: Vec<Strip>,
}

/// Collects the panels of all grids, in one pass over the analysis.
pub(crate) fn panels(
    analysis: &Analysis,
    palette: &Palette,
    grids: &[Grid],
    bands: &[Band<'_>],
) -> Vec<Panel> {
    let is_idle = analysis.report.gaps.total_ns > Ns(0);
    let causes = if is_idle {
        lanes::causes(analysis, grids)
    } else {
        Vec::new()
    };
    let mut causes = causes.into_iter();
    let lanes = lanes::lanes(analysis, grids);
    let panels = grids.iter().zip(lanes).map(|(&grid, lanes)| Panel {
        grid,
        lanes,
        causes: causes
            .next()
            .map(|sweeps| cause_strip(palette, grid, sweeps)),
        bands: bands
            .iter()
            .map(|band| Strip::on_grid(band, grid))
            .collect(),
    });

    let mut panels: Vec<Panel> = panels.collect();
    for enlarged in panels.iter_mut().skip(1) {
        // The overview shows it already.
        enlarged.bands.retain(|band| !band.is_constant());
    }
    panels
}

/// Returns the strip of idle time by cause, from what `lanes::causes` returns for a grid.
pub(crate) fn cause_strip(palette: &Palette, grid: Grid, sweeps: Vec<Sweep>) -> Strip {
    let layers = Cause::ALL.into_iter().zip(sweeps);
    let layers = layers.map(|(cause, sweep)| Layer {
        fill: palette.cause(cause),
        sweep,
    });
    Strip::plain("Idle", grid, layers.collect())
}

impl Panel {
    /// Returns the strips under the causes.
    pub(crate) fn bands(&self) -> &[Strip] {
        &self.bands
    }

    fn lane_height(&self, lane: &Lane) -> f32 {
        let own = self
            .lanes
            .iter()
            .filter(|lane| lane.owner == LaneOwner::Process);
        let own = own.count();
        // A lane that is empty, or as good as, needs little height among others to show it.
        let is_empty = lane.total_ns() < self.grid.span_ns() / 1_000 && own > 1;
        match (lane.owner, own) {
            (LaneOwner::Others, _) => 16.0,
            (LaneOwner::Process, _) if is_empty => 16.0,
            (LaneOwner::Process, ..3) => 40.0,
            (LaneOwner::Process, 3..5) => 28.0,
            (LaneOwner::Process, _) => 20.0,
        }
    }

    /// Draws the panel from `place` down. Returns the area of its lanes.
    pub(crate) fn draw(
        &self,
        canvas: &Canvas,
        place: Area,
        titles: &[String],
        whole: &str,
    ) -> Result<Area, ChartError> {
        let right = canvas.width - MARGIN;
        let room = right - place.left - font::width(whole, SMALL) - 8.0;
        let fits = |title: &&String| font::width(title, SMALL) <= room;
        let title = titles.iter().find(fits).or(titles.last());
        let title = title.map_or("", String::as_str);
        let title = font::shorten(title, SMALL, room);
        let baseline = place.top + 13.0;
        let palette = &canvas.palette;
        for (x, anchor, ink, text) in [
            (place.left, Anchor::Start, palette.text, title.as_str()),
            (right, Anchor::End, palette.faint, whole),
        ] {
            canvas.text((x, baseline), SMALL, anchor, ink, text);
        }

        let mut lane_place = Area {
            top: place.top + TITLE,
            ..place
        };

        let names = self.short_names();
        let mut names = names.iter().map(String::as_str);
        for lane in &self.lanes {
            lane_place.height = self.lane_height(lane);
            let name = names.next().unwrap_or_default();
            self.draw_lane(canvas, lane, name, lane_place);
            lane_place.top = lane_place.bottom() + BETWEEN;
        }

        let causes = self.causes.iter().map(|strip| (strip, CAUSES));
        let bands = self.bands.iter().map(|band| (band, band.height));
        for (strip, height) in causes.chain(bands) {
            lane_place.height = height.round();
            strip.draw(canvas, lane_place);
            let faint = canvas.palette.faint;
            let name = names.next().unwrap_or_default();
            label(canvas, lane_place, name, &strip.share(), faint);
            lane_place.top = lane_place.bottom() + BETWEEN;
        }

        let lanes = Area {
            top: place.top + TITLE,
            height: lane_place.top - place.top - TITLE,
            ..place
        };

        let (start_ns, end_ns) = (self.grid.start_ns, self.grid.end_ns);
        let axis = Axis::recording(start_ns, end_ns, ticks(place.width));
        canvas.plot(lanes, (axis, Axis::share(1.0)), Mesh::Time)?;
        Ok(lanes)
    }

    /// Returns the names of the lanes, of the causes and of the bands, so short that they fit, and
    /// so that no two different ones read alike.
    fn short_names(&self) -> Vec<String> {
        let lanes = self.lanes.iter().map(|lane| lane.name.as_str());
        let strips = self.causes.iter().chain(&self.bands);
        let names = lanes.chain(strips.map(|strip| strip.name.as_str()));
        font::shorten_all(&names.collect::<Vec<_>>(), SMALL, NAMES - 8.0)
    }

    fn draw_lane(&self, canvas: &Canvas, lane: &Lane, name: &str, place: Area) {
        let palette = &canvas.palette;
        let ink = match lane.owner {
            LaneOwner::Process => palette.text,
            LaneOwner::Others => palette.faint,
        };
        canvas.rectangle(place, palette.panel);
        let share = ratio(lane.total_ns(), self.grid.span_ns());
        label(canvas, place, name, &percent(share), ink);
        let fill = |color: usize| match lane.owner {
            LaneOwner::Process => palette.kernel(color),
            LaneOwner::Others => palette.others,
        };
        for (color, spans) in self.stacked(canvas, lane, place).into_iter().enumerate() {
            if spans.iter().any(|&(top, bottom)| bottom > top) {
                bars(canvas, place, spans, fill(color));
            }
        }

        for &cut in &lane.cuts {
            let line = Area {
                left: self.grid.x(cut, place).round(),
                width: 1.0,
                ..place
            };
            canvas.rectangle(line, DIVIDER);
        }

        let named = lane.named.iter().map(|state| {
            let ink = fill(state.color).ink_on_it();
            (state.start_ns, state.end_ns, state.name.as_str(), ink)
        });
        names_inside(canvas, self.grid, place, &named.collect::<Vec<_>>());
    }

    /// Returns the columns of each color, stacked. A column is as high as its busy share; inside of
    /// it, colors meet at whole pixels.
    fn stacked(&self, canvas: &Canvas, lane: &Lane, place: Area) -> Vec<Vec<(f32, f32)>> {
        let pixel = canvas.pixel;
        let widths: Vec<u64> = self.grid.widths_ns().collect();
        let busy = |at: usize| {
            lane.sweeps
                .iter()
                .filter_map(move |sweep| sweep.columns().get(at))
        };
        let high = |(at, &width): (usize, &u64)| {
            let share = ratio(busy(at).sum(), width.max(1));
            (
                busy(at).sum::<u64>(),
                height(share, place.height, pixel.max(1.0)),
            )
        };

        let highs: Vec<(u64, f32)> = widths.iter().enumerate().map(high).collect();
        let mut below: Vec<(u64, f32)> = vec![(0, 0.0); widths.len()];
        let layer = |sweep: &Sweep| {
            let columns = sweep.columns().iter().zip(&highs).zip(&mut below);
            let spans = columns.map(|((&ns, &(total, high)), (sum, from))| {
                let bottom = place.bottom() - *from;
                *sum += ns;
                *from = part_of(*sum, total, high, pixel).max(*from);
                (place.bottom() - *from, bottom)
            });
            spans.collect()
        };
        lane.sweeps.iter().map(layer).collect()
    }
}

/// Returns the height of a part of a column, in whole pixels unless it is all of the column.
fn part_of(part: u64, total: u64, high: f32, pixel: f32) -> f32 {
    if part == total {
        return high;
    }
    let exact = high * px(ratio(part, total));
    ((exact / pixel).round() * pixel).min(high)
}

/// Returns the number of ticks on an axis of this width.
pub(crate) fn ticks(width: f32) -> usize {
    whole_count((width / 70.0).max(2.0))
}

/// Writes a lane's short name and its share.
pub(crate) fn label(canvas: &Canvas, place: Area, name: &str, share: &str, ink: Color) {
    let baseline = (place.top + place.height / 2.0 + 4.0).round();
    let at = (canvas.width - MARGIN, baseline);
    for (at, anchor, text) in [
        ((MARGIN, baseline), Anchor::Start, name),
        (at, Anchor::End, share),
    ] {
        if !text.is_empty() {
            canvas.text(at, SMALL, anchor, ink, text);
        }
    }
}
