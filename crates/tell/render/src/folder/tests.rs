//! Tests folders in which a file cannot be written.

use std::collections::BTreeSet;
use std::fs;

use metalens_charts::{Chart, ChartError, ChartOptions};

use super::*;

fn analysis() -> Analysis {
    metalens_testing::analysis_of("shared-machine")
}

fn manifest_of(folder: &Path) -> Manifest {
    serde_json::from_slice(&fs::read(folder.join(MANIFEST)).unwrap()).unwrap()
}

/// Returns the files of a folder and of the folders in it, without the manifest.
fn found_in(folder: &Path) -> BTreeSet<String> {
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    };
    let charts = names(&folder.join(FOLDER_OF_CHARTS));
    let charts = charts.into_iter().map(|name| format!("charts/{name}"));
    let plain = names(folder).into_iter().filter(|name| *name != "charts");
    plain
        .filter(|name| name != MANIFEST)
        .chain(charts)
        .collect()
}

fn listed_in(manifest: &Manifest) -> BTreeSet<String> {
    manifest
        .files
        .iter()
        .map(|file| file.path.clone())
        .collect()
}

fn no_gaps(
    chart: Chart,
    analysis: &Analysis,
    options: &ChartOptions,
) -> Result<pictures::DrawnPng, ChartError> {
    match chart {
        Chart::Gaps => Err(ChartError::Layout("no room".to_owned())),
        _ => pictures::drawn(chart, analysis, options),
    }
}

/// A missing picture prevents nothing else, and no older picture replaces it; files that a user
/// changed or added stay.
#[test]
fn a_chart_that_cannot_be_drawn_is_listed_as_missing() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let mut analysis = analysis();
    let report = analysis.report.clone();
    let choices = |force| Choices {
        force,
        show_names: false,
        charts: true,
    };
    assert_eq!(write(&mut analysis, folder, choices(false)).unwrap(), []);
    assert_eq!(analysis.report, report, "it is lent, not redacted for good");
    let whole = manifest_of(folder);
    assert_eq!(listed_in(&whole), found_in(folder));
    // The manifest is not in its own list.
    assert_eq!(whole.files.len() + 1, files(folder).len());

    fs::write(folder.join("charts/gaps-dark.png"), "changed by hand").unwrap();
    fs::write(folder.join("charts/mine.png"), "mine").unwrap();
    let told = write_drawn_by(&no_gaps, &mut analysis, folder, choices(true)).unwrap();
    let why = "the chart cannot be laid out: no room";
    let told = told.into_iter().map(|note| note.message.text);
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            format!("charts/gaps.png is missing: {why}"),
            format!("charts/gaps-dark.png is missing: {why}"),
        ]
    );
    let manifest = manifest_of(folder);
    let problems: Vec<(&str, &str)> = manifest
        .problems
        .iter()
        .map(|problem| (problem.path.as_str(), problem.why.as_str()))
        .collect();
    assert_eq!(
        problems,
        [("charts/gaps.png", why), ("charts/gaps-dark.png", why)]
    );
    let gone: BTreeSet<String> = listed_in(&whole)
        .difference(&listed_in(&manifest))
        .cloned()
        .collect();
    assert_eq!(
        gone,
        ["charts/gaps-dark.png", "charts/gaps.png"]
            .map(str::to_owned)
            .into()
    );
    let found = found_in(folder);
    assert!(!found.contains("charts/gaps.png"));
    assert!(found.contains("charts/gaps-dark.png") && found.contains("charts/mine.png"));
    let page = fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(page.contains("](charts/idle.png)") && !page.contains("charts/gaps"));
}

/// The folder is removed, because it did not exist before.
#[test]
fn an_unfinished_folder_is_removed() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("a/out");
    let mut analysis = analysis();
    // Appears after the check, before the writing.
    let in_the_way = |chart: Chart, analysis: &Analysis, options: &ChartOptions| {
        fs::create_dir_all(folder.join("charts/kernels.png")).unwrap();
        pictures::drawn(chart, analysis, options)
    };
    let choices = Choices {
        force: false,
        show_names: false,
        charts: true,
    };
    let failed = write_drawn_by(&in_the_way, &mut analysis, &folder, choices).unwrap_err();
    assert!(format!("{failed:#}").contains("kernels.png"), "{failed:#}");
    assert_eq!(
        found_in(&folder),
        ["charts/kernels.png".to_owned()].into(),
        "only what others made"
    );
    assert!(!folder.join(MANIFEST).exists());
}
