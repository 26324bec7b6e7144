//! Checks the page with the first lines that `analyze` prints for each scenario. `scripts/bless` renews
//! the lines; people write what is true of each scenario.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{metalens, stderr, stdout, transcript};

const PAGE: &str = "crates/apps/cli/tests/suite/docs/first-lines.md";
/// Lines that a reader sees first.
const LINES: usize = 5;
const HEADINGS: [&str; 2] = ["built-in scenario", "finding"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Returns the first lines about a scenario: those of the report, or of the error. The line that says
/// that nothing of it is real is left out.
fn first_lines(scenario: &str, beside: &[(PathBuf, String)]) -> String {
    let folder = metalens_testing::scratch();
    let written = metalens(folder.path(), &["synth", scenario, "-o", "x"]);
    assert!(written.status.success(), "{}", transcript(&written));
    for (file, name) in beside {
        fs::copy(file, folder.path().join("x").join(name)).unwrap();
    }

    let output = metalens(folder.path(), &["analyze", "x"]);
    let (page, said) = (stdout(&output), stderr(&output));
    let text = if page.is_empty() { said } else { page };
    let lines = text.lines().take_while(|line| !line.is_empty());
    let lines = lines.filter(|line| !line.starts_with("SYNTHETIC"));
    lines.take(LINES).collect::<Vec<_>>().join("<br>")
}

/// Returns the first lines of each scenario, by table.
fn scenarios() -> [BTreeMap<String, String>; 2] {
    let presets = metalens_simulator::presets().iter();
    let presets = presets.map(|preset| preset.name);
    // A million intervals are for measurements of speed.
    let presets = presets.filter(|name| *name != "million");
    let built_in = presets.map(|name| (name.to_owned(), first_lines(name, &[])));

    let fixtures = fs::read_dir(root().join("fixtures/findings")).unwrap();
    let fixtures = fixtures.map(|entry| entry.unwrap().path());
    let fixtures = fixtures.map(|folder| {
        let id = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let (mut scenario, mut beside) = (folder.join("scenario.toml"), Vec::new());
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            match name.strip_prefix("fires.") {
                Some("toml") => scenario = path,
                Some("work.json") => beside.push((path, "work.json".to_owned())),
                Some(table) => {
                    let table = table.to_owned();
                    beside.push((path, table));
                }
                None => {}
            }
        }
        (id, first_lines(scenario.to_str().unwrap(), &beside))
    });
    [built_in.collect(), fixtures.collect()]
}

/// Returns the rows of the table under a heading: the truth and the first lines, by scenario.
fn rows(page: &str, heading: &str) -> BTreeMap<String, (String, String)> {
    let start = format!("| {heading} | ");
    let lines = page.lines().skip_while(|line| !line.starts_with(&start));
    let rows = lines.skip(2).take_while(|line| line.starts_with("| "));
    let cells = rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [id, truth, lines] = cells.as_slice() else {
            return <(String, (String, String))>::default();
        };
        (
            id.trim_matches('`').to_owned(),
            ((*truth).to_owned(), (*lines).to_owned()),
        )
    });
    cells.collect()
}

/// Returns the text of a page without the meaning of its signs.
fn escaped(lines: &str) -> String {
    let lines = lines.replace("<br>", "\n");
    let lines = lines
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('|', "\\|");
    lines.replace('\n', "<br>")
}

#[test]
fn the_first_lines_on_the_page_are_those_of_the_program() {
    let file = root().join(PAGE);
    let mut page = fs::read_to_string(&file).unwrap();
    let is_blessed = std::env::var_os("METALENS_BLESS").is_some();
    for (heading, found) in HEADINGS.into_iter().zip(scenarios()) {
        let shown = rows(&page, heading);
        assert_eq!(
            shown.keys().collect::<Vec<_>>(),
            found.keys().collect::<Vec<_>>(),
            "{PAGE} has a row for each {heading}, with what is true of it"
        );
        for (id, lines) in &found {
            let (truth, old) = &shown[id];
            assert!(truth.len() > 10, "{id}: say what is true of it");
            let lines = escaped(lines);
            if is_blessed {
                let row = |lines: &str| format!("| `{id}` | {truth} | {lines} |");
                page = page.replace(&row(old), &row(&lines));
            } else {
                assert_eq!(*old, lines, "{id}: scripts/bless renews {PAGE}");
            }
        }
    }
    if is_blessed {
        fs::write(file, page).unwrap();
    }

    let mut all = String::new();
    writeln!(all, "{}", fs::read_to_string(root().join(PAGE)).unwrap()).unwrap();
    assert!(!all.contains("| … |"), "{PAGE} has a row without lines");
}
