//! Runs the commands that pages show with their output. `scripts/bless` renews it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{metalens, stderr, stdout};

const FENCE: &str = "```console\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Returns the page with what each command prints now: as many lines as the page shows, and all of
/// them if the page does not end with `…`.
fn current(page: &str, folder: &Path) -> String {
    let mut parts = page.split(FENCE);
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (shown, after) = part.split_once("```").unwrap();
        let (command, shown) = shown.split_once('\n').unwrap();
        let arguments: Vec<&str> = command.split(' ').skip(2).collect();
        let output = metalens(folder, &arguments);
        assert!(output.status.success(), "{command}: {}", stderr(&output));
        let printed = stdout(&output);
        let is_cut = shown.ends_with("…\n");
        let lines = if is_cut {
            shown.lines().count() - 1
        } else {
            usize::MAX
        };
        writeln!(text, "{FENCE}{command}").unwrap();
        for line in printed.lines().take(lines) {
            writeln!(text, "{line}").unwrap();
        }
        write!(text, "{}```{after}", if is_cut { "…\n" } else { "" }).unwrap();
    }
    text
}

/// Pages with outputs, the folder of the scenarios that they read, and the number of commands.
const PAGES: [(&str, &str, usize); 7] = [
    ("README.md", "tutorial", 1),
    ("docs/tutorial.md", "tutorial", 8),
    ("docs/bench.md", "tutorial", 1),
    ("examples/candle/README.md", "recipes/candle", 1),
    ("examples/llama.cpp/README.md", "recipes/llama.cpp", 1),
    ("examples/mlx/README.md", "recipes/mlx", 1),
    ("examples/pytorch-mps/README.md", "recipes/pytorch-mps", 1),
];

#[test]
fn pages_show_what_is_printed() {
    for (name, scenarios, commands) in PAGES {
        let folder = metalens_testing::scratch();
        for scenario in fs::read_dir(root().join("fixtures").join(scenarios)).unwrap() {
            let scenario = scenario.unwrap().path();
            let bundle = scenario.with_extension("trace");
            let bundle = bundle.file_name().unwrap().to_str().unwrap();
            let arguments = ["synth", scenario.to_str().unwrap(), "-o", bundle];
            let written = metalens(folder.path(), &arguments);
            assert!(written.status.success(), "{}", stderr(&written));
        }

        let page = fs::read_to_string(root().join(name)).unwrap();
        assert_eq!(page.matches(FENCE).count(), commands, "{name}");
        let expected = current(&page, folder.path());
        if std::env::var_os("METALENS_BLESS").is_some() {
            fs::write(root().join(name), &expected).unwrap();
        }
        let page = fs::read_to_string(root().join(name)).unwrap();
        assert_eq!(page, expected, "{name}: scripts/bless renews it");
    }
}

/// The words beside the outputs of the tutorial, and README, say the numbers of the outputs.
#[test]
fn the_words_of_the_tutorial_have_the_printed_numbers() {
    let last = root().join("fixtures/tutorial/4.toml");
    let folder = crate::with_scenario(last.to_str().unwrap());
    let page = fs::read_to_string(root().join("docs/tutorial.md")).unwrap();
    let blocks = page.split(FENCE).skip(1);
    let mut printed: String = blocks
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    printed += &stdout(&metalens(folder.path(), &["analyze", "4"]));
    for (predicted, recorded) in [("672", "670.4"), ("462", "462.0"), ("342", "342.1")] {
        assert!(printed.contains(&format!("{predicted} µs")), "{predicted}");
        assert!(
            printed.contains(&format!("median {recorded} µs")),
            "{recorded}"
        );
        let (rounded, _) = recorded.split_once('.').unwrap();
        let row = format!("| {predicted} µs | {rounded} µs |");
        assert!(page.contains(&row), "docs/tutorial.md lacks {row}");
    }
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let readme = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(readme.contains("predicts 672, 462 and 342 µs a token"));
    assert!(readme.contains("take 670, 462 and 342 µs"));
}
