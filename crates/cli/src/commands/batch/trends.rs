//! Pictures of groups over time.

use anyhow::Context;
use metalens_analyzer::units::capital;
use metalens_batch::{Index, slugs};
use metalens_charts::{
    ChartOptions, Theme, TrendLine, TrendPoint, TrendView, alt_trend, draw_trend, png, svg,
};
use metalens_comparison::many::{self, TraceFigure, TraceGroup};

use metalens_render::index::TrendPicture;

/// Where the pictures lie, seen from the index.
pub(super) const FOLDER: &str = "trends";
/// Groups beyond this many have no picture: the largest have.
const GROUPS: usize = 6;
/// Twice the pixels, as all pictures in pages.
const SCALE: u8 = 2;

/// A group over time.
pub(super) struct Drawn {
    pub(super) page: TrendPicture,
    /// The files and where they lie, seen from the index.
    pub(super) files: Vec<(String, Vec<u8>)>,
}

/// A picture for each of the largest groups that have a trend, or could have.
pub(super) fn draw(index: &Index) -> anyhow::Result<Vec<Drawn>> {
    let mut groups: Vec<&TraceGroup> = index
        .groups
        .iter()
        .filter(|one| is_shown(index, one))
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.reports.len()));
    groups.truncate(GROUPS);
    let drawn = groups.into_iter().map(|group| {
        let what = || format!("cannot draw {} over time", group.name);
        of_group(index, group).with_context(what)
    });
    drawn.collect()
}

fn is_shown(index: &Index, group: &TraceGroup) -> bool {
    index.trends.iter().any(|trend| trend.group == group.name)
}

/// Where the pictures of an index lie, as it says itself. It may be anybody's.
pub(super) fn paths_of(index: &serde_json::Value) -> Vec<String> {
    let trends = index.get("trends").and_then(serde_json::Value::as_array);
    let groups = trends.into_iter().flatten();
    let groups = groups.filter_map(|trend| trend.get("group")?.as_str());
    let mut paths: Vec<String> = groups.flat_map(paths).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The light picture of a group, and the dark one.
fn paths(group: &str) -> [String; 2] {
    let named = slugs(&[(group, group)], |_| None);
    let name = named.first().map_or("group", String::as_str);
    ["", "-dark"].map(|theme| format!("{FOLDER}/{name}{theme}.png"))
}

fn of_group(index: &Index, group: &TraceGroup) -> anyhow::Result<Drawn> {
    let view = view(index, group);
    let of = |theme: Theme, scale: u8| {
        let options = ChartOptions {
            theme,
            scale,
            ..ChartOptions::default()
        };
        draw_trend(&view, &options)
    };
    let alt = alt_trend(&view);
    let [light, dark] = paths(&group.name);
    Ok(Drawn {
        page: TrendPicture {
            path: light.clone(),
            svg: svg(&of(Theme::Light, 1)?, &alt),
            dark_svg: svg(&of(Theme::Dark, 1)?, &alt),
            alt,
        },
        files: vec![
            (light, png(&of(Theme::Light, SCALE)?)?),
            (dark, png(&of(Theme::Dark, SCALE)?)?),
        ],
    })
}

fn view(index: &Index, group: &TraceGroup) -> TrendView {
    let members = many::members(&index.rows, group);
    let is_far = |report: &str, figure: TraceFigure| {
        let mut far = index.outliers.iter();
        far.any(|one| one.report == report && one.figure == figure)
    };
    let points = many::dated(&members)
        .into_iter()
        .map(|(at_ms, row)| TrendPoint {
            at_ms,
            busy: row.busy_ratio,
            span_ns: row.span_ns,
            is_busy_far: is_far(&row.report, TraceFigure::Busy),
            is_span_far: is_far(&row.report, TraceFigure::Span),
        });
    let trends = || index.trends.iter().filter(|one| one.group == group.name);
    let line = |figure: TraceFigure| {
        let mut found = trends().filter(|one| one.figure == figure && one.is_trend);
        found.next().map(|one| TrendLine {
            first: one.first.get(),
            last: one.last.get(),
        })
    };
    let loud = match group.synthetic {
        true => vec!["SYNTHETIC: no GPU ran any of this".to_owned()],
        false => Vec::new(),
    };
    TrendView {
        name: group.name.clone(),
        // The picture says itself what it is of.
        lines: trends().map(|one| capital(&one.course().text)).collect(),
        loud,
        points: points.collect(),
        busy: line(TraceFigure::Busy),
        span: line(TraceFigure::Span),
    }
}
