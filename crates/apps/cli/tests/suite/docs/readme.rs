//! Checks that README and the pages in docs show what the program really prints: examples and
//! pictures are made from synthetic recordings. `scripts/bless` renews them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{command, metalens, stdout};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Returns a page of the repository.
fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// Returns the first block of this language on a page, without its fence.
fn block(page: &str, language: &str) -> String {
    let fence = format!("```{language}\n");
    let from = page.find(&fence).unwrap() + fence.len();
    let rest = &page[from..];
    rest[..rest.find("```").unwrap()].to_owned()
}

#[test]
fn the_settings_and_work_files_on_the_pages_are_valid() {
    let docs = page("docs/reading-a-report.md");
    let folder = crate::with_scenario("eager");
    fs::write(folder.path().join("metalens.toml"), block(&docs, "toml")).unwrap();
    fs::write(folder.path().join("work.json"), block(&docs, "json")).unwrap();
    let arguments = [
        "analyze",
        "eager",
        "--work",
        "work.json",
        "--json",
        "--gate",
    ];
    let output = metalens(folder.path(), &arguments);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let limits = report["gate"]["rows"].as_array().unwrap();
    let limits: Vec<&serde_json::Value> = limits.iter().map(|row| &row["limit"]).collect();
    assert_eq!(limits, [0.6, 50_000.0]);
    assert_eq!(report["work"]["rows"][0]["label"], "matmul");
}

/// README shows the beginning of the screen about the first recording of the tutorial.
#[test]
fn the_picture_of_the_screen_is_current() {
    let scenario = root().join("fixtures/tutorial/1.toml");
    let folder = crate::with_scenario(scenario.to_str().unwrap());
    let mut command = command(folder.path(), &["analyze", "1"]);
    let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
    let screen = stdout(&output);
    assert!(screen.contains('\u{1b}'), "the screen has no colors");
    let end = screen.find("Timeline").unwrap();
    let (shown, _) = screen[..end].rsplit_once("\n\n").unwrap();
    let picture = anstyle_svg::Term::new().render_svg(shown);
    let file = root().join("docs/screen.svg");
    if std::env::var_os("METALENS_BLESS").is_some() {
        fs::write(&file, &picture).unwrap();
    }
    let shown = fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(
        shown, picture,
        "docs/screen.svg is not current: scripts/bless renews it"
    );
}

#[test]
fn the_charts_on_the_pages_are_current() {
    let folder = crate::with_scenario("renderer");
    let export = folder.path().join("renderer");
    let (renderer, small) = (export.to_str().unwrap(), "fixtures/small-export");
    for (input, charts) in [(renderer, "timeline"), (small, "idle")] {
        let out = folder.path().join(charts);
        let arguments = ["analyze", "-q", input, "-o", out.to_str().unwrap()];
        let drawn = metalens(&root(), &arguments);
        assert!(drawn.status.success(), "{}", crate::stderr(&drawn));
        for name in [charts.to_owned(), format!("{charts}-dark")] {
            let drawn = fs::read(out.join(format!("charts/{name}.png"))).unwrap();
            let shown = format!("docs/{name}.png");
            if std::env::var_os("METALENS_BLESS").is_some() {
                fs::write(root().join(&shown), &drawn).unwrap();
            }
            let picture = fs::read(root().join(&shown)).unwrap_or_default();

            // Not assert_eq, which would print all bytes of both.
            assert!(
                picture == drawn,
                "{shown} is not current: scripts/bless renews it"
            );
            let link = format!("\"{name}.png\"");
            assert!(
                page("docs/outputs.md").contains(&link),
                "no page shows {shown}"
            );
        }
    }
}

#[test]
fn every_link_leads_to_a_file() {
    if std::env::var_os("METALENS_BLESS").is_some() {
        // The pictures are being written.
        return;
    }

    let docs = fs::read_dir(root().join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    let front = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "examples/README.md",
        "examples/candle/README.md",
        "examples/llama.cpp/README.md",
        "examples/mlx/README.md",
        "examples/pytorch-mps/README.md",
        "scripts/action/README.md",
    ];
    let mut files = 0;
    for path in front.map(|name| root().join(name)).into_iter().chain(docs) {
        let text = fs::read_to_string(&path).unwrap();
        let links = text
            .split("](")
            .skip(1)
            .map(|rest| rest.split([')', '#']).next());
        let sources = ["src=\"", "srcset=\""].into_iter();
        let sources = sources.flat_map(|key| text.split(key).skip(1));
        let sources = sources.map(|rest| rest.split('"').next());
        for link in links.chain(sources).flatten() {
            if link.contains("://") || link.is_empty() {
                continue;
            }
            files += 1;
            let file = path.parent().unwrap().join(link);
            assert!(file.exists(), "{}: {link}", path.display());
        }
    }
    assert!(files >= 35, "{files}");
}
