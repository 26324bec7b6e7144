//! README shows what the program really says: its worked example and its
//! pictures are made from synthetic recordings, and compared here.
//! `scripts/bless` renews the pictures.

use std::fs;
use std::path::{Path, PathBuf};

use super::{command, metalens, stdout};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_worked_example() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let output = stdout(&metalens(&root(), &["analyze", "fixtures/small-export"]));
    assert!(
        readme.contains(&output),
        "README's example should be:\n{output}"
    );
}

/// The first block of this language in README, without its fence.
fn block(language: &str) -> String {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let fence = format!("```{language}\n");
    let from = readme.find(&fence).unwrap() + fence.len();
    let rest = &readme[from..];
    rest[..rest.find("```").unwrap()].to_owned()
}

/// The settings and the file of known work that README shows are understood.
#[test]
fn the_files_of_the_front_page() {
    let folder = super::with_scenario("eager");
    fs::write(folder.path().join("metalens.toml"), block("toml")).unwrap();
    fs::write(folder.path().join("work.json"), block("json")).unwrap();
    let arguments = ["analyze", "eager", "--work", "work.json", "--json"];
    let output = metalens(folder.path(), &arguments);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["thresholds"][0]["limit"], 50_000.0);
    assert_eq!(report["thresholds"][1]["limit"], 0.6);
    assert_eq!(report["work"]["rows"][0]["label"], "matmul");
}

#[test]
fn the_picture() {
    let mut command = command(&root(), &["analyze", "fixtures/small-export"]);
    let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
    let screen = stdout(&output);
    assert!(screen.contains('\u{1b}'), "the screen has no colours");
    let picture = anstyle_svg::Term::new().render_svg(up_to_the_ledger(&screen));
    let file = root().join("docs/screen.svg");
    if std::env::var_os("METALENS_BLESS").is_some() {
        fs::write(&file, &picture).unwrap();
    }
    let shown = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        shown, picture,
        "docs/screen.svg is not what is printed: scripts/bless renews it"
    );
}

/// The charts that README shows, drawn from what it says they are drawn from.
#[test]
fn the_charts() {
    let folder = super::with_scenario("renderer");
    let export = folder.path().join("renderer");
    let (renderer, small) = (export.to_str().unwrap(), "fixtures/small-export");
    let charts = [
        ("timeline", renderer, "timeline", "light"),
        ("timeline-dark", renderer, "timeline", "dark"),
        ("idle", small, "idle", "light"),
        ("idle-dark", small, "idle", "dark"),
    ];
    for (name, input, chart, theme) in charts {
        let file = folder.path().join(format!("{name}.png"));
        let to = file.to_str().unwrap();
        let what = ["--chart", chart, "--theme", theme, "--scale", "2"];
        let drawn = metalens(
            &root(),
            &[&["chart", "-q", input, "-o", to], &what[..]].concat(),
        );
        assert!(drawn.status.success(), "{}", super::stderr(&drawn));
        let drawn = fs::read(&file).unwrap();
        let shown = format!("docs/{name}.png");
        if std::env::var_os("METALENS_BLESS").is_some() {
            fs::write(root().join(&shown), &drawn).unwrap();
        }
        let picture = fs::read(root().join(&shown)).unwrap_or_default();
        // Not assert_eq: nobody wants to read both.
        assert!(
            picture == drawn,
            "{shown} is not what is drawn: scripts/bless renews it"
        );
        let readme = fs::read_to_string(root().join("README.md")).unwrap();
        assert!(readme.contains(&shown), "README does not show {shown}");
    }
}

/// Every file that README links to is there.
#[test]
fn links_of_the_front_page() {
    if std::env::var_os("METALENS_BLESS").is_some() {
        // The pictures are being made.
        return;
    }
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let links = readme
        .split("](")
        .skip(1)
        .map(|rest| rest.split(')').next());
    let sources = ["src=\"", "srcset=\""].into_iter();
    let sources = sources.flat_map(|key| readme.split(key).skip(1));
    let sources = sources.map(|rest| rest.split('"').next());
    let mut files = 0;
    for link in links.chain(sources).flatten() {
        if link.starts_with('#') || link.contains("://") || link.is_empty() {
            continue;
        }
        files += 1;
        assert!(root().join(link).exists(), "{link}");
    }
    assert!(files >= 6, "{files}");
}

/// What is printed, cut where the gaps begin: the rest would make the picture a tower.
fn up_to_the_ledger(screen: &str) -> &str {
    let gaps = screen.find("Gaps in the target's work").unwrap();
    let line = screen[..gaps].rfind('\n').unwrap();
    screen[..line].trim_end()
}

/// A stored export, so that reader and writer cannot drift together.
#[test]
fn the_stored_export_gives_its_stored_truth() {
    let folder = root().join("fixtures/small-export");
    let truth = fs::read(folder.join("truth.json")).unwrap();
    let truth: serde_json::Value = serde_json::from_slice(&truth).unwrap();
    let report = metalens(&root(), &["analyze", "fixtures/small-export", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    for part in ["window", "counts", "busy", "gaps"] {
        for (key, value) in truth["runs"][0][part].as_object().unwrap() {
            assert_eq!(&report[part][key], value, "{part}.{key}");
        }
    }
}
