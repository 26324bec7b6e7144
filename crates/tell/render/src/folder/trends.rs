//! Draws the charts of groups of recordings over time.

use metalens_batch::{Index, slugs};
use metalens_charts::{
    ChartError, ChartOptions, Theme, TrendLine, TrendPoint, TrendView, alt_trend, draw_trend, png,
    svg,
};
use metalens_comparison::Number;
use metalens_comparison::many::{self, IndexFigure, SameWorkGroup};
use metalens_text::units::capital;

use super::pictures::SCALE;
use crate::error::{Error, Result};
use crate::index::TrendPicture;

/// Folder of the charts, relative to the index.
pub(super) const TRENDS: &str = "trends";
/// Maximum number of charts: the largest groups have one.
const GROUPS: usize = 6;

/// The chart of a group over time.
pub(super) struct TrendChart {
    pub(super) page: TrendPicture,
    /// The files, each with its path relative to the index.
    pub(super) files: Vec<(String, Vec<u8>)>,
}

/// Draws a chart for each of the largest groups that have enough runs for a trend.
pub(super) fn draw(index: &Index) -> Result<Vec<TrendChart>> {
    let mut groups: Vec<&SameWorkGroup> = index
        .groups
        .iter()
        .filter(|group| is_shown(index, group))
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.reports.len()));
    groups.truncate(GROUPS);

    let charts = groups.into_iter().map(|group| {
        draw_group(index, group).map_err(|cause| Error::Trend {
            group: group.name.clone(),
            cause,
        })
    });
    charts.collect()
}

fn is_shown(index: &Index, group: &SameWorkGroup) -> bool {
    index.trends.iter().any(|trend| trend.group == group.name)
}

/// Returns the paths of the charts of an index that is on disk, which may have any content.
pub(super) fn paths_in(index: &serde_json::Value) -> Vec<String> {
    let trends = index.get("trends").and_then(serde_json::Value::as_array);
    let groups = trends.into_iter().flatten();
    let groups = groups.filter_map(|trend| trend.get("group")?.as_str());
    let mut paths: Vec<String> = groups.flat_map(paths).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Returns the paths of the light and the dark chart of a group.
fn paths(group: &str) -> [String; 2] {
    let named = slugs(&[(group, group)], |_| None);
    let name = named.first().map_or("group", String::as_str);
    ["", "-dark"].map(|theme| format!("{TRENDS}/{name}{theme}.png"))
}

/// Draws the chart of a group in both themes.
fn draw_group(index: &Index, group: &SameWorkGroup) -> Result<TrendChart, ChartError> {
    let view = view(index, group);
    let draw = |theme: Theme, scale: u8| {
        let options = ChartOptions {
            theme,
            scale,
            ..ChartOptions::default()
        };
        draw_trend(&view, &options)
    };

    let alt = alt_trend(&view);
    let [light, dark] = paths(&group.name);
    Ok(TrendChart {
        page: TrendPicture {
            path: light.clone(),
            svg: svg(&draw(Theme::Light, 1)?, &alt),
            dark_svg: svg(&draw(Theme::Dark, 1)?, &alt),
            alt,
        },
        files: vec![
            (light, png(&draw(Theme::Light, SCALE)?)?),
            (dark, png(&draw(Theme::Dark, SCALE)?)?),
        ],
    })
}

/// Returns the points and lines of the chart of a group.
fn view(index: &Index, group: &SameWorkGroup) -> TrendView {
    let members = many::members(&index.rows, group);
    let is_outlier = |report: &str, figure: IndexFigure| {
        let mut outliers = index.outliers.iter();
        outliers.any(|outlier| outlier.report == report && outlier.figure == figure)
    };
    let points = many::dated(&members)
        .into_iter()
        .map(|(at_ms, row)| TrendPoint {
            at_ms,
            busy: row.of.figure(IndexFigure::Busy.id()).map(Number::get),
            span_ns: row
                .of
                .figure(IndexFigure::Span.id())
                .map_or(0, Number::to_whole),
            is_busy_far: is_outlier(&row.report, IndexFigure::Busy),
            is_span_far: is_outlier(&row.report, IndexFigure::Span),
        });

    let trends = || {
        let trends = index.trends.iter();
        trends.filter(|trend| trend.group == group.name)
    };
    let line = |figure: IndexFigure| {
        let mut drawn = trends().filter(|trend| trend.figure == figure && trend.is_trend);
        drawn.next().map(|trend| TrendLine {
            first: trend.first.get(),
            last: trend.last.get(),
        })
    };

    let loud = if group.synthetic {
        vec!["SYNTHETIC: no GPU ran any of this".to_owned()]
    } else {
        Vec::new()
    };
    TrendView {
        name: group.name.clone(),
        // Without the group's name, which the chart has as its title.
        lines: trends()
            .map(|trend| capital(&trend.course().text))
            .collect(),
        loud,
        points: points.collect(),
        busy: line(IndexFigure::Busy),
        span: line(IndexFigure::Span),
    }
}
