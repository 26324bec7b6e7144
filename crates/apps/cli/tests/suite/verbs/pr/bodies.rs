//! Tests the text of comments: well-formed, within the limit, and with markup escaped.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Value, json};

use super::{Bench, forge};
use crate::{metalens, stderr, stdout, transcript};

/// Returns the comment that would be posted, without a token, other programs or a server.
fn dry(folder: &Path, report: &str, arguments: &[&str]) -> String {
    let output = metalens(folder, &[&["pr", report, "--dry-run"], arguments].concat());
    assert!(output.status.success(), "{}", transcript(&output));
    stdout(&output)
}

#[test]
fn dry_run_prints_or_writes_the_comment() {
    let bench = Bench::new("renderer");
    let output = metalens(
        bench.folder.path(),
        &["pr", "out", "--dry-run", "--repo", "o/r"],
    );
    assert_snapshot!("dry-run", transcript(&output));
    let body = dry(bench.folder.path(), "out", &["--text"]);
    assert_snapshot!("text", body);
    let output = metalens(
        bench.folder.path(),
        &["pr", "out", "--dry-run", "-o", "body.md", "--text"],
    );
    assert!(output.stdout.is_empty());
    assert_eq!(fs::read_to_string(bench.path("body.md")).unwrap(), body);
    let again = metalens(
        bench.folder.path(),
        &["pr", "out", "--dry-run", "-o", "body.md"],
    );
    assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
}

#[test]
fn a_missed_gate_is_at_the_start_of_the_comment() {
    let bench = Bench::new("eager");
    fs::write(
        bench.path("metalens.toml"),
        "[gate.metrics]\n\"window.span_ns\" = { max = \"1ms\" }\n",
    )
    .unwrap();
    let compared = ["compare", "out", "out", "--gate=metalens.toml", "-o", "c"];
    assert_eq!(
        metalens(bench.folder.path(), &compared).status.code(),
        Some(5)
    );
    let body = dry(bench.folder.path(), "c", &["--text"]);
    let at = |text: &str| body.find(text).unwrap_or_else(|| panic!("{text}: {body}"));
    assert!(at("**Gate failed: ") < at("same") && at("**FAILED**") > at("#### Gate: FAILED"));
    assert!(body.starts_with("<!-- metalens:comparison-eager-bench -->\n### GPU comparison: "));
    assert!(!body.contains(bench.folder.path().to_str().unwrap()));
}

#[test]
fn names_of_others_are_left_out_by_default() {
    let bench = Bench::new("shared-machine");
    let plain = dry(bench.folder.path(), "out", &[]);
    let named = dry(bench.folder.path(), "out", &["--show-names"]);
    let report: Value =
        serde_json::from_slice(&fs::read(bench.path("out/report.json")).unwrap()).unwrap();
    let others = report["processes"].as_array().unwrap().iter();
    let others = others.filter(|process| process["is_analyzed"] == false);
    for other in others.map(|process| process["name"].as_str().unwrap()) {
        assert!(!plain.contains(other), "{other}");
    }
    assert_ne!(plain, named);

    // Charts that may name other processes are not posted.
    super::write_report(
        bench.folder.path(),
        &["shared-machine", "-o", "named", "--show-names"],
    );
    let output = metalens(bench.folder.path(), &["pr", "named", "--dry-run"]);
    assert!(
        stderr(&output).contains("charts/timeline.png not posted: it may name other processes"),
        "{}",
        stderr(&output)
    );
    assert!(!stdout(&output).contains("<img alt=\"Timeline"));
    let output = dry(bench.folder.path(), "named", &["--show-names"]);
    assert!(output.contains("<img alt=\"Timeline"));
}

/// The report has 5,000 kernels with names as long as those of C++.
#[test]
fn a_comment_fits_the_limit() {
    for (length, text) in [(20, true), (400, false), (5_000, false)] {
        let bench = Bench::new("eager");
        forge(&bench.path("out"), |report| {
            let kernel = report["kernels"][0].clone();
            let kernels = (0..5_000).map(|number| {
                let mut kernel = kernel.clone();
                kernel["name"] = format!("kernel_{number}_{}", "x|`<".repeat(length / 4)).into();
                kernel
            });
            report["kernels"] = kernels.collect();
            let finding = report["findings"][0].clone();
            report["findings"] = vec![finding; 300].into();
            report["notes"] = vec![note(&"n".repeat(3_000)); 300].into();
            report["process"]["name"] = "t".repeat(3_000).into();
            report["summary"]["busy"] = sentence(&"ж".repeat(100_000));
        });
        let text = if text { &["--text"][..] } else { &[] };
        let arguments = [&["--key", "k"], text].concat();
        let body = dry(bench.folder.path(), "out", &arguments);
        assert!(
            body.len() <= 60_000 && body.len() > 10_000,
            "{}",
            body.len()
        );
        let (_, rest) = body
            .split_once("Kernels in full (")
            .unwrap_or_else(|| ("", body.split_once("Left out").unwrap().1));
        assert!(
            rest.contains("of 5,000 shown") || rest.contains("Kernels in full"),
            "{rest}"
        );
        check_well_formed(&body);
    }
}

/// Checks that every element is closed, and every row of a table has as many cells as its heading.
fn check_well_formed(body: &str) {
    // Only elements of metalens begin a line; names of a recording never do.
    let lines = |start: &str| body.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!(lines("<details"), lines("</details>"));
    assert_eq!(body.matches("```").count() % 2, 0);
    let mut columns = None;
    for line in body.lines() {
        let is_row = line.starts_with('|');
        let found = line
            .replace("\\\\", "")
            .replace("\\|", "")
            .matches('|')
            .count();
        match columns {
            _ if !is_row => columns = None,
            None => columns = Some(found),
            Some(expected) => assert_eq!(found, expected, "{line}"),
        }
    }
    assert!(body.ends_with("</sub>\n"), "{body}");
}

const HOSTILE: [&str; 22] = [
    "**bold** _it_ ~~no~~ # head",
    "<img src=x onerror=alert(1)>",
    "<!-- metalens:report-eager -->",
    "--> <script>",
    "</details></table></sub>",
    "a | b | c\\| d",
    "`` ` ``` code",
    "line\nbreak\r\n\r\n# head\n- item",
    "@octocat @org/team mail@example.com",
    "#123 o/r#45 GH-12 CVE-2026-12345",
    "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00",
    "https://evil.example www.evil.example ftp://x.example",
    "[link](https://evil.example) ![i](https://evil.example/i.png)",
    "<https://evil.example>",
    "[^1] [ref] [x]: https://evil.example",
    "\u{202e}txet\u{202c} \u{200b}\u{200d}\u{feff}",
    "${{ secrets.GITHUB_TOKEN }} $x^2$ $$y$$",
    "::error::gone %0A ##[group]",
    ":tada: &lt;b&gt; &#64;octocat",
    "- [ ] task",
    "> [!CAUTION]\n> quote",
    "\u{1b}[31mred\u{7}",
];

#[test]
fn markup_in_names_is_escaped() {
    let bench = Bench::new("eager");
    metalens(
        bench.folder.path(),
        &["compare", "out", "out", "--gate", "-o", "c"],
    );
    for hostile in HOSTILE {
        forge(&bench.path("out"), |report| replace_names(report, hostile));
        for arguments in [&["--key", "k"][..], &["--key", "k", "--text"]] {
            let body = dry(bench.folder.path(), "out", arguments);
            check_harmless(&body, hostile);
        }
        forge(&bench.path("c"), |compared| {
            replace_names(compared, hostile);
            for side in ["base", "new"] {
                compared[side]["runs"][0]["path"] = hostile.into();
                compared[side]["runs"][0]["process"] = hostile.into();
            }
            compared["headline"] = sentence(hostile);
            compared["gate"]["source"] = sentence(hostile);
            compared["gate"]["rows"][0]["what"] = hostile.into();
            compared["gate"]["rows"][0]["verdict"] = "miss".into();
            compared["gate"]["missed"] = true.into();
        });
        let body = dry(bench.folder.path(), "c", &["--text", "--key", "k"]);
        check_harmless(&body, hostile);
    }
}

/// Returns a sentence of a report, without values.
fn sentence(text: &str) -> Value {
    json!({ "text": text, "values": [] })
}

/// Returns a loud note of a report.
fn note(text: &str) -> Value {
    json!({ "id": "truncated", "severity": "loud", "text": text, "values": [] })
}

/// Replaces every text that comes from a recording.
fn replace_names(document: &mut Value, hostile: &str) {
    let text = || Value::from(hostile);
    if let Some(kernels) = document["kernels"].as_array_mut() {
        for kernel in kernels {
            kernel["name"] = text();
            kernel["channel"] = text();
        }
    }
    document["notes"] = json!([note(hostile), note(&format!("SYNTHETIC: {hostile}"))]);
    if document["summary"].is_object() {
        for said in ["busy", "idle", "cause", "advice"] {
            document["summary"][said] = sentence(hostile);
        }
        for finding in document["findings"].as_array_mut().unwrap() {
            for said in ["title", "advice", "counter_evidence"] {
                finding[said] = text();
            }
            finding["evidence"] = sentence(hostile);
            finding["look_at"] = json!([sentence(hostile)]);
        }
        document["process"]["name"] = text();
        document["source"]["path"] = text();
        document["run"]["template"] = text();
        document["run"]["start"] = text();
        document["run"]["device"]["gpu"] = text();
        document["not_recorded"] = json!([{ "what": hostile, "why": sentence(hostile) }]);
        document["gate"] = json!({
            "source": sentence(hostile), "missed": true, "inconclusive": false,
            "rows": [{
                "what": hostile, "channel": null, "of": "total", "rule": "max", "limit": 1.0,
                "value": 2.0, "unit": "ns", "by": 1.0, "severity": "error", "verdict": "miss",
                "why": sentence(hostile),
            }],
        });
    }
}

/// Checks that all elements are of metalens, and that no text is left that GitHub makes a link.
#[expect(clippy::panic, reason = "it is the failure report")]
fn check_harmless(body: &str, hostile: &str) {
    const OURS: [&str; 12] = [
        "<details",
        "</details",
        "<summary",
        "</summary",
        "<picture",
        "</picture",
        "<source",
        "<img",
        "<code",
        "</code",
        "<sub",
        "</sub",
    ];
    assert_eq!(body.matches("<!--").count(), 1, "{hostile}: {body}");
    check_well_formed(body);
    let mut codes = 0;
    let mut text = String::new();
    let github = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM;
    let parsed: Vec<Event<'_>> = Parser::new_ext(body, github).collect();
    for event in &parsed {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                let tags = html.match_indices('<').map(|(at, _)| &html[at..]);
                for tag in tags.filter(|tag| !tag.starts_with("<!-- metalens:k -->")) {
                    let is_ours = OURS.iter().any(|own| tag.starts_with(own))
                        || tag.starts_with("<b>")
                        || tag.starts_with("</b>");
                    assert!(is_ours, "{hostile}: {tag}");
                    assert!(!tag.starts_with("<img src=x"), "{hostile}: {tag}");
                }
                text.push_str(html);
            }
            Event::Start(Tag::Link { .. } | Tag::FootnoteDefinition(_)) => {
                panic!("{hostile}: {event:?}")
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                assert!(dest_url.starts_with("charts/"), "{hostile}");
            }
            Event::TaskListMarker(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_) => {
                panic!("{hostile}: {event:?}");
            }
            Event::Code(_) => codes += 1,
            Event::Text(one) => text.push_str(one),
            _ => text.push('\n'),
        }
    }
    assert!(codes + body.matches("<code>").count() > 0);
    let text = text.replace("&#8203;", "\u{200b}");
    for active in [
        "@octocat",
        "@org",
        "mail@e",
        "#123",
        "#45",
        "GH-12",
        "c0ffee00c0",
        "://evil",
        "www.evil",
        "\u{202e}",
        "\u{1b}",
        ":tada:",
    ] {
        assert!(!text.contains(active), "{hostile}: {active}\n{text}");
    }
    for line in body.lines() {
        assert!(
            !line.starts_with("::") && !line.starts_with("##["),
            "{line}"
        );
    }
}
