//! Defines the tools that answer from the report of one recording: `analyze`, `findings`, `kernels`
//! and `gaps`, and `report`, which writes a report folder.

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
Structured content: the same figures, exact, with the keys of metalens.report/2. Times are \
nanoseconds. Null or absent means not recorded, never zero. A note that begins with SYNTHETIC or \
SIMULATED means that no GPU ran it: such figures prove nothing about a machine. For more: section, full, or the tools findings, kernels and gaps.";

pub(super) const REPORT: &str = "\
Writes a folder with the whole report of a recording for the user: report.html with a zoomable \
timeline, report.md, report.json and charts. Use it when the user wants to look or to keep a report; \
for figures, use analyze.";

pub(super) const FINDINGS: &str = "\
Lists what is wrong in a recording, the most important first: each finding with its evidence, places \
to look at, the first action, advice, and counter_evidence, the observation that would disprove it. \
gain.saves_ns is what the action saves, with gain.certainty; savings overlap and do not add up. Check \
counter_evidence before you change code.";

pub(super) const KERNELS: &str = "\
Lists the GPU work of a recording by kernel and channel, the most GPU time first, with instances, \
total, median and percentiles in nanoseconds. A kernel is the name of a GPU interval: a shader, a \
label or a debug group; named_by says which. Work without labels has few names: then ask the user to \
label encoders before you conclude which kernel is slow.";

pub(super) const GAPS: &str = "\
Explains the idle time of the GPU in a recording: the number and lengths of gaps, the idle time by \
cause (completion, host, encoding, driver-wait, driver, start-latency, submission, queued, contention, unknown), the longest gaps with \
their neighbors, and the latencies. The causes add up to the idle time to the nanosecond.";

/// Arguments of `analyze`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalyzeArguments {
    /// Recording below a root: a .trace bundle, its zip, an export folder, or a table.
    input: String,
    #[serde(default)]
    part: Part,
    /// Sections to print instead of the first screen, such as latency, phases, machine, processes,
    /// counters, not-recorded; a wrong name lists all.
    #[serde(default)]
    section: Vec<String>,
    /// Print every section.
    #[serde(default)]
    full: bool,
    /// At most this many rows of each table, and findings.
    top: Option<usize>,
}

/// Arguments of `report`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReportArguments {
    /// Recording below a root.
    input: String,
    /// Folder to write below a root. It must not exist.
    output: String,
    #[serde(default)]
    part: Part,
}

/// Arguments of `findings`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindingsArguments {
    /// Recording below a root.
    input: String,
    #[serde(default)]
    part: Part,
    /// Only the finding with this id, such as serialized.
    id: Option<String>,
    /// At most this many findings [default: 3].
    top: Option<usize>,
}

/// Arguments of `kernels`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct KernelsArguments {
    /// Recording below a root.
    input: String,
    #[serde(default)]
    part: Part,
    /// Only kernels whose names contain this.
    name: Option<String>,
    /// At most this many kernels [default: 10].
    top: Option<usize>,
}

/// Arguments of `gaps`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GapsArguments {
    /// Recording below a root.
    input: String,
    #[serde(default)]
    part: Part,
    /// At most this many of the longest gaps [default: 5].
    top: Option<usize>,
}

/// Answers a call of `analyze`.
pub(super) async fn analyze(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: AnalyzeArguments = call.parse()?;
    let report = read(call, &arguments.input, arguments.part, Vec::new()).await?;

    let is_brief = !arguments.full && arguments.section.is_empty();
    let mut document = if is_brief {
        let mut brief = report::brief(&report);
        // This section names options of the command line, which an agent does not have.
        brief.sections.retain(|section| section.id != "more");
        brief
    } else {
        report::document(&report)
    };
    if !arguments.section.is_empty() {
        keep(&mut document, &arguments.section)?;
    }
    if let Some(top) = arguments.top {
        document.limit(top);
    }
    let mut text = text_of(&document);
    if is_brief {
        text.push_str(&more(&report));
    }

    let whole = plain_json(&report)?;
    let mut content = figures(&whole);
    let top = arguments.top.unwrap_or(5);
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

/// Answers a call of `report`.
pub(super) async fn report(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: ReportArguments = call.parse()?;
    let output = call.roots.output(&arguments.output)?;
    let mut options = vec!["-o".into(), output.into_os_string()];
    if call.show_names {
        options.push("--show-names".into());
    }
    let report = read(call, &arguments.input, arguments.part, options).await?;
    let verdict = report.verdict.why;
    let folder = arguments.output;
    Ok(ToolAnswer {
        text: format!("{verdict}.\nwrote {folder}: report.html is the page for people\n"),
        structured: Map::from_iter([("folder".to_owned(), json!(folder))]),
        ..ToolAnswer::default()
    })
}

/// Answers a call of `findings`.
pub(super) async fn findings(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: FindingsArguments = call.parse()?;
    let mut report = read(call, &arguments.input, arguments.part, Vec::new()).await?;
    let total = report.findings.len();
    if let Some(id) = &arguments.id {
        let ids = report.findings.iter().map(|finding| finding.id.clone());
        let ids: Vec<String> = ids.collect();
        report.findings.retain(|finding| finding.id == *id);
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
    report.findings.truncate(arguments.top.unwrap_or(3));

    let mut document = report::document(&report);
    keep(&mut document, &["findings".to_owned()])?;
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

/// Answers a call of `kernels`.
pub(super) async fn kernels(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: KernelsArguments = call.parse()?;
    let mut report = read(call, &arguments.input, arguments.part, Vec::new()).await?;
    if let Some(name) = &arguments.name {
        report.kernels.retain(|kernel| kernel.name.contains(name));
    }
    let total = report.kernels.len();
    let top = arguments.top.unwrap_or(10);
    report.kernels.truncate(top);

    let whole = plain_json(&report)?;
    let mut content = fields(&whole, &["process", "window", "channels", "notes"]);
    content.insert("kernels".to_owned(), whole.get("kernels").cloned().into());
    content.insert("total".to_owned(), json!(total));
    let text = if report.kernels.is_empty() {
        "no kernel\n".to_owned()
    } else {
        let mut document = report::document(&report);
        keep(&mut document, &["kernels".to_owned()])?;
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

/// Answers a call of `gaps`.
pub(super) async fn gaps(call: &ToolCall<'_>) -> Result<ToolAnswer, ToolProblem> {
    let arguments: GapsArguments = call.parse()?;
    let report = read(call, &arguments.input, arguments.part, Vec::new()).await?;
    let top = arguments.top.unwrap_or(5);

    let mut document = report::document(&report);
    let wanted = ["idle", "gaps", "longest-gaps", "latency"];
    // `keep` would fail, since a recording without gaps lacks some of these sections.
    document
        .sections
        .retain(|section| wanted.contains(&section.id));
    document.limit(top);

    let whole = plain_json(&report)?;
    let mut content = fields(&whole, &["process", "window", "idle", "gaps", "notes"]);
    if let Some(Value::Object(gaps)) = content.get_mut("gaps") {
        let longest = gaps.remove("top");
        let longest = longest.as_ref().and_then(Value::as_array);
        let longest = longest.into_iter().flatten().take(top).cloned();
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
pub(crate) async fn read(
    call: &ToolCall<'_>,
    input: &str,
    part: Part,
    options: Vec<OsString>,
) -> Result<Report, ToolProblem> {
    let input = call.input(input)?;
    let what = format!("analyzing {}", name(&input));
    let mut arguments: Vec<OsString> = vec!["analyze".into(), input, "--json".into()];
    arguments.push("--quiet".into());
    arguments.extend(options);
    part.add_to(&mut arguments);
    let finished = call.metalens(what, arguments, &[]).await?;
    let report = Report::from_json(&String::from_utf8_lossy(&finished.stdout))?;
    Ok(for_page(&report, call.show_names).into_owned())
}

/// Reads the whole report of a recording for a resource.
pub(crate) async fn whole(call: &ToolCall<'_>, input: &str) -> Result<Report, ToolProblem> {
    read(call, input, Part::default(), Vec::new()).await
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

/// Returns a line that names the sections and tools for what the first screen leaves out.
fn more(report: &Report) -> String {
    let shown: Document = report::brief(report);
    let shown = shown.section_names();
    let all = report::document(report).section_names();
    let others: Vec<String> = all.into_iter().filter(|id| !shown.contains(id)).collect();
    format!(
        "\nFor more: section with any of {}; full; findings for evidence and advice; kernels; gaps.\n",
        others.join(", ")
    )
}
