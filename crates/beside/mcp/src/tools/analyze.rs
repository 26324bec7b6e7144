//! Defines the tool `analyze`, which answers from the report of one recording.

use std::ffi::OsString;

use metalens_analyzer::Report;
use metalens_render::document::Document;
use metalens_render::{for_page, report};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ToolCall;
use super::call::name;
use super::part::Part;
use crate::answer::{ToolAnswer, fields, keep, plain_json, rows, text_of};
use crate::problem::ToolProblem;

pub(super) const ANALYZE: &str = "\
Reports how busy the GPU was, with what, and why it was idle. Start here for any question about a \
recording. Text: the first screen with the verdict, idle time by cause, findings and kernels. \
Structured content: the same figures, exact, with the keys of metalens.report/1. Times are \
nanoseconds. Null or absent means not recorded, never zero. A note that begins with SYNTHETIC or \
SIMULATED means that no GPU ran it: such figures prove nothing about a machine. For more, ask with a \
section. findings: what is wrong, with evidence, the first action, and counter_evidence, which would \
disprove it: check it before you change code; gain.saves_ns is what the action saves, and savings do \
not add up. kernels: GPU work by kernel and channel; a kernel is a shader, a label or a debug group, \
so work without labels has few names. \
gaps: the idle time by cause, which adds up exactly, the longest gaps with their neighbors, latencies.";

/// Arguments of `analyze`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalyzeArguments {
    /// Recording below a root: a .trace bundle, its zip, an export folder, or a table.
    input: String,
    #[serde(default)]
    part: Part,
    /// summary, findings, kernels, gaps, all, or another section of the report, such as latency,
    /// phases, machine, processes, counters, not-recorded; a wrong name lists them [default:
    /// summary].
    section: Option<String>,
    /// Only the finding with this id, such as serialized, or the kernels whose names contain this; for
    /// the sections findings and kernels.
    name: Option<String>,
    /// At most this many rows of each table, and findings [default: 3 findings, 10 kernels, 5 gaps].
    top: Option<usize>,
}

/// Answers a call of `analyze`.
pub(super) async fn analyze(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: AnalyzeArguments = call.parse()?;
    let section = arguments.section.as_deref().unwrap_or(SUMMARY);
    let (name, top) = (arguments.name.as_deref(), arguments.top);
    if name.is_some() && !["findings", "kernels"].contains(&section) {
        return Err(
            ToolProblem::new("name is for the sections findings and kernels")
                .hint("give one of these sections, or leave out name"),
        );
    }

    let report = read(call, &arguments.input, arguments.part).await?;
    match section {
        "findings" => findings(report, name, top),
        "kernels" => kernels(report, name, top),
        "gaps" => gaps(&report, top),
        section => figures_and_text(&report, section, top),
    }
}

/// Section that is the first screen.
const SUMMARY: &str = "summary";

/// Answers with the figures that most questions are about, and the text of a section.
fn figures_and_text(
    report: &Report,
    section: &str,
    top: Option<usize>,
) -> Result<ToolAnswer, ToolProblem> {
    let mut document = if section == SUMMARY {
        report::brief(report)
    } else {
        let mut document = report::document(report);
        keep(&mut document, section)?;
        document
    };
    document.drop_commands();
    if let Some(top) = top {
        document.limit(top);
    }
    let mut text = text_of(&document);
    if section == SUMMARY {
        text.push_str(&more(report));
    }

    let whole = plain_json(report)?;
    let mut content = figures(&whole);
    let top = top.unwrap_or(5);
    content.insert(
        "kernels".to_owned(),
        rows(whole.get("kernels"), &KERNEL, top),
    );
    let titles = ["id", "severity", "title", "action", "gain"];
    content.insert(
        "findings".to_owned(),
        rows(whole.get("findings"), &titles, top),
    );
    content.insert("not_recorded".to_owned(), not_recorded(&whole));
    Ok(ToolAnswer {
        text,
        structured: content,
        list: "not_recorded",
        picture: None,
    })
}

/// Answers with the findings, or one of them.
fn findings(
    mut report: Report,
    id: Option<&str>,
    top: Option<usize>,
) -> Result<ToolAnswer, ToolProblem> {
    let total = report.findings.len();
    if let Some(id) = id {
        let ids = report.findings.iter().map(|finding| finding.id.clone());
        let ids: Vec<String> = ids.collect();
        report.findings.retain(|finding| finding.id == id);
        if report.findings.is_empty() {
            let has = if ids.is_empty() {
                "it has none".to_owned()
            } else {
                format!("it has {}", ids.join(", "))
            };
            return Err(
                ToolProblem::new(format!("the report has no finding {id:?}"))
                    .hint(format!("{has}; docs/findings.md explains every rule")),
            );
        }
    }
    report.findings.truncate(top.unwrap_or(3));

    let mut document = report::document(&report);
    keep(&mut document, "findings")?;
    let whole = plain_json(&report)?;
    let mut content = fields(&whole, &["verdict", "process", "notes"]);
    content.insert("findings".to_owned(), whole.get("findings").cloned().into());
    content.insert("total".to_owned(), json!(total));
    Ok(ToolAnswer {
        text: text_of(&document),
        structured: content,
        list: "findings",
        picture: None,
    })
}

/// Fields of a kernel in an answer.
const KERNEL: [&str; 9] = [
    "name",
    "channel",
    "time_pct",
    "total_ns",
    "instances",
    "med_ns",
    "min_ns",
    "max_ns",
    "p95_ns",
];

/// Answers with the kernels, or those whose names contain a text.
fn kernels(
    mut report: Report,
    name: Option<&str>,
    top: Option<usize>,
) -> Result<ToolAnswer, ToolProblem> {
    if let Some(name) = name {
        report.kernels.retain(|kernel| kernel.name.contains(name));
    }
    let total = report.kernels.len();
    report.kernels.truncate(top.unwrap_or(10));
    let whole = plain_json(&report)?;
    let mut content = fields(&whole, &["process", "window", "channels", "notes"]);
    let mut kernels = whole.get("kernels").cloned();
    let listed = kernels.iter_mut().filter_map(Value::as_array_mut).flatten();
    for kernel in listed.filter_map(Value::as_object_mut) {
        // They serve comparisons, and would leave room for fewer kernels.
        kernel.remove("sixteenths_ns");
        kernel.remove("med_thirds_ns");
    }
    content.insert("kernels".to_owned(), kernels.into());
    content.insert("total".to_owned(), json!(total));
    let text = if report.kernels.is_empty() {
        "no kernel\n".to_owned()
    } else {
        let mut document = report::document(&report);
        keep(&mut document, "kernels")?;
        let rest = total - report.kernels.len();
        text_of(&document)
            + &if rest > 0 {
                format!("\n{rest} more: ask with a larger top, or with name\n")
            } else {
                String::new()
            }
    };
    Ok(ToolAnswer {
        text,
        structured: content,
        list: "kernels",
        picture: None,
    })
}

/// Answers with the idle time by cause, the gaps and the latencies.
fn gaps(report: &Report, top: Option<usize>) -> Result<ToolAnswer, ToolProblem> {
    let top = top.unwrap_or(5);
    let mut document = report::document(report);
    let wanted = ["idle", "gaps", "longest-gaps", "latency"];
    // `keep` would fail, since a recording without gaps lacks some of these sections.
    document
        .sections
        .retain(|section| wanted.contains(&section.id));
    document.limit(top);

    let whole = plain_json(report)?;
    let mut content = fields(&whole, &["process", "window", "idle", "gaps", "notes"]);
    if let Some(Value::Object(gaps)) = content.get_mut("gaps") {
        let top_gaps = gaps.remove("top");
        let listed = top_gaps.as_ref().and_then(Value::as_array);
        let longest = listed.into_iter().flatten().take(top).cloned();
        content.insert("longest".to_owned(), longest.collect());
    }

    if let Some(Value::Object(latency)) = whole.get("latency") {
        let mut short = fields(
            latency,
            &["submission", "driver_wait", "driver", "start", "completion"],
        );
        if let Some(Value::Object(queue)) = latency.get("queue") {
            let queue = fields(queue, &["mean_depth", "max_depth"]);
            short.insert("queue".to_owned(), Value::Object(queue));
        }
        content.insert("latency".to_owned(), Value::Object(short));
    }
    Ok(ToolAnswer {
        text: text_of(&document),
        structured: content,
        list: "longest",
        picture: None,
    })
}

/// Analyzes a recording. The report has no names of other processes unless the server shows them.
async fn read(call: &ToolCall<'_>, input: &str, part: Part) -> Result<Report, ToolProblem> {
    let input = call.input(input)?;
    let what = format!("analyzing {}", name(&input));
    let mut arguments: Vec<OsString> = vec!["analyze".into(), input, "--json".into()];
    arguments.push("--quiet".into());
    part.add_to(&mut arguments);
    let finished = call.metalens(what, arguments, &[]).await?;
    let report = metalens_inputs::parse_report(&String::from_utf8_lossy(&finished.stdout))?;
    Ok(for_page(&report, call.show_names).into_owned())
}

/// Reads the whole report of a recording for a resource.
pub(crate) async fn whole(call: &ToolCall<'_>, input: &str) -> Result<Report, ToolProblem> {
    read(call, input, Part::default()).await
}

/// Returns the figures of a report that most questions are about.
fn figures(whole: &Map<String, Value>) -> Map<String, Value> {
    let keys = [
        "schema", "summary", "verdict", "process", "window", "counts", "busy", "idle", "notes",
    ];
    let mut content = fields(whole, &keys);
    if let Some(Value::Object(run)) = whole.get("run") {
        let run = fields(
            run,
            &["number", "synthetic", "template", "duration_ns", "device"],
        );
        content.insert("run".to_owned(), Value::Object(run));
    }

    if let Some(Value::Object(gaps)) = whole.get("gaps") {
        let gaps = fields(
            gaps,
            &[
                "count",
                "total_ns",
                "mean_ns",
                "median_ns",
                "p95_ns",
                "p99_ns",
                "max_ns",
            ],
        );
        content.insert("gaps".to_owned(), Value::Object(gaps));
    }
    content
}

/// Returns the names of the values that were not recorded. The section `not-recorded` has the reasons.
fn not_recorded(whole: &Map<String, Value>) -> Value {
    let list = whole.get("not_recorded").and_then(Value::as_array);
    let entries = list.into_iter().flatten();
    let names = entries.filter_map(|entry| entry.get("what"));
    names.cloned().collect()
}

/// Returns a line that names the sections for what the first screen leaves out.
fn more(report: &Report) -> String {
    let shown: Document = report::brief(report);
    let shown = shown.section_names();
    let names = report::document(report).section_names();
    let others: Vec<String> = names.into_iter().filter(|id| !shown.contains(id)).collect();
    format!(
        "\nFor more: section with one of {}; findings for evidence and advice; kernels; gaps; all.\n",
        others.join(", ")
    )
}
