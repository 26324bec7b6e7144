//! Where the idle time went, as one bar that is all of it.

use metalens_analyzer::units::{counted, percent, time};
use metalens_analyzer::{Cause, Report};

use crate::canvas::{Canvas, MARGIN, Place, SMALL, ratio};
use crate::chart::{Error, Options};
use crate::font;
use crate::palette::cause_label;
use crate::scene::{Anchor, Scene};

const ROW: f32 = 20.0;
/// The columns right of the names: their right ends, from the right.
const SHARE: f32 = 80.0;

/// Draws it.
#[expect(clippy::cast_precision_loss, reason = "a height in pixels")]
pub(crate) fn draw(report: &Report, options: &Options) -> Result<Scene, Error> {
    let title = format!("Where the idle time of {} went", report.target.name);
    let canvas = Canvas::new(options, &title);
    let ledger = &report.ledger;
    let parts = ledger.parts.in_words();
    let headline = match ledger.total_ns {
        0 => "The GPU was never idle in this window".to_owned(),
        total => format!(
            "{}: {} in {}",
            title,
            time(total),
            counted(report.gaps.count, "gap")
        ),
    };
    let top = canvas.header(report, &headline, &[&report.summary.busy]) + 6.0;
    let rows = parts.len() as f32 * ROW;
    let spare = options.height.map_or(0.0, |height| {
        height as f32 - top - 44.0 - 10.0 - rows - MARGIN
    });
    let place = Place {
        left: MARGIN,
        top: top.round(),
        width: canvas.width - 2.0 * MARGIN,
        height: (44.0 + spare.clamp(0.0, 80.0)).round(),
    };
    bar(&canvas, place, &parts, ledger.total_ns);
    let mut line = place.bottom() + 10.0;
    for &(cause, ns, words) in &parts {
        row(&canvas, line, (cause, ns, words), ledger.total_ns);
        line += ROW;
    }
    canvas.finish(line + MARGIN - 6.0, options)
}

/// The parts side by side, the largest first; their names inside where they fit.
#[expect(clippy::cast_possible_truncation, reason = "a place on a canvas")]
fn bar(canvas: &Canvas, place: Place, parts: &[(Cause, u64, &'static str)], total_ns: u64) {
    canvas.rectangle(place, canvas.palette.panel);
    let edge = |ns: u64| {
        let at = place.left + place.width * ratio(ns, total_ns) as f32;
        (at / canvas.pixel).round() * canvas.pixel
    };
    let mut before = 0;
    for &(cause, ns, _) in parts {
        let fill = canvas.palette.cause(cause);
        let left = edge(before);
        before += ns;
        let part = Place {
            left,
            width: edge(before) - left,
            ..place
        };
        canvas.rectangle(part, fill);
        let share = percent(ratio(ns, total_ns));
        let long = format!("{} {share}", cause_label(cause));
        let fits = |text: &&String| font::width(text, SMALL) + 10.0 <= part.width;
        if let Some(label) = [&long, &share].into_iter().find(fits) {
            let at = (
                part.left + part.width / 2.0,
                place.top + place.height / 2.0 + 4.0,
            );
            canvas.text(at, SMALL, Anchor::Middle, fill.ink_on_it(), label);
        }
    }
}

/// A part in words.
fn row(canvas: &Canvas, top: f32, (cause, ns, words): (Cause, u64, &'static str), total_ns: u64) {
    let palette = &canvas.palette;
    let square = Place {
        left: MARGIN,
        top: top + 4.0,
        width: 10.0,
        height: 10.0,
    };
    canvas.rectangle(square, palette.cause(cause));
    let baseline = top + 13.0;
    let right = canvas.width - MARGIN;
    let end =
        |x: f32, text: &str| canvas.text((x, baseline), SMALL, Anchor::End, palette.text, text);
    end(right, &time(ns));
    end(right - SHARE, &percent(ratio(ns, total_ns)));
    let name = cause_label(cause);
    let left = square.right() + 6.0;
    canvas.text((left, baseline), SMALL, Anchor::Start, palette.text, name);
    let left = left + 160.0;
    let room = right - SHARE - 55.0 - left;
    let words = font::shorten(words, SMALL, room);
    canvas.text(
        (left, baseline),
        SMALL,
        Anchor::Start,
        palette.faint,
        &words,
    );
}
