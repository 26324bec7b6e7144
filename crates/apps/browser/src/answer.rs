//! Answers a request of the page, by the same functions as `metalens analyze` and `compare`.

use std::path::Path;

use metalens_analyzer::{Analysis, Request};
use metalens_comparison::{CompareOptions, compare_runs};
use metalens_failure::{Failure, FailureKind, in_one_line};
use metalens_inputs::{AnyRun, Error, analysis, refuse_different, side, stored_report, with_work};
use metalens_message::written::nanoseconds;
use metalens_render::document::Document;
use metalens_render::{comparison, for_page, html, json, markdown, report};
use metalens_text::shown_message;
use metalens_trace::{Input, LoadOptions};
use serde::Serialize;

use crate::request::PageRequest;

const REPORT: [&str; 3] = ["report.json", "report.html", "report.md"];
const COMPARISON: [&str; 3] = ["comparison.json", "comparison.html", "comparison.md"];

/// A file that is part of the answer.
pub(crate) struct AnswerFile {
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

/// The reason why there is no report, and what to do about it.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Refusal {
    message: String,
    hint: Option<String>,
    /// True if the two sides were recorded differently: the page offers to compare them anyway.
    is_different: bool,
}

impl AnswerFile {
    /// Returns the answer to a request that was refused.
    pub(crate) fn refused(refusal: &Refusal) -> Vec<Self> {
        // Texts and flags can always be written as JSON.
        let text = serde_json::to_string(refusal).unwrap_or_default();
        vec![Self {
            name: "error.json",
            text,
        }]
    }
}

impl Refusal {
    /// Returns the refusal for an error. `place` is the start of its message.
    fn from_error(error: &impl Failure, place: &str) -> Self {
        let message = format!("{place}{}", in_one_line(error));
        Self {
            message: shown_message(&message).into_owned(),
            hint: error.hint().map(|hint| shown_message(&hint).into_owned()),
            is_different: error.kind() == FailureKind::NotComparable,
        }
    }

    /// Returns the refusal for an error that has no hint.
    fn plain(error: &dyn std::error::Error) -> Self {
        Self {
            message: shown_message(&in_one_line(error)).into_owned(),
            ..Self::default()
        }
    }
}

/// Returns the files that answer a request.
pub(crate) fn answer(request: &PageRequest) -> Result<Vec<AnswerFile>, Refusal> {
    let part = part(request)?;
    match request.inputs.as_slice() {
        [input] => {
            match load(request, &part, input).map_err(|error| Refusal::from_error(&error, ""))? {
                AnyRun::Analyzed(analysis) => report(request, &analysis),
                AnyRun::Stored(report) => {
                    let shown = for_page(&report, request.show_names);
                    let page = html::stored_report_page(&shown);
                    files(REPORT, &*report, page, &report::document(&shown))
                }
            }
        }
        [base, new] => comparison(request, &part, base, new),
        other => Err(Refusal {
            message: format!("{} inputs: open one, or two to compare", other.len()),
            ..Refusal::default()
        }),
    }
}

/// Returns the part of the recording to report on.
fn part(request: &PageRequest) -> Result<Request, Refusal> {
    let time = |name: &str, text: &Option<String>| {
        let parsed = text.as_deref().map(nanoseconds).transpose();
        parsed.map_err(|why| Refusal {
            message: format!("{name}: {}", shown_message(&why)),
            hint: Some("write a time of the recording, such as 1.5s".to_owned()),
            ..Refusal::default()
        })
    };
    let step = request.step.as_deref().map(str::parse).transpose();
    let step = step.map_err(|message| Refusal {
        message,
        ..Refusal::default()
    })?;
    Ok(Request {
        processes: request.process.iter().cloned().collect(),
        from_ns: time("From", &request.from)?,
        to_ns: time("To", &request.to)?,
        step,
        ..Request::default()
    })
}

/// Returns the report of an analysis and its page.
fn report(request: &PageRequest, analysis: &Analysis) -> Result<Vec<AnswerFile>, Refusal> {
    let shown = for_page(&analysis.report, request.show_names);
    let page = html::report_page(analysis, &shown);
    files(REPORT, &analysis.report, page, &report::document(&shown))
}

/// Compares two inputs, as `metalens compare BASE NEW` does.
fn comparison(
    request: &PageRequest,
    part: &Request,
    base: &Path,
    new: &Path,
) -> Result<Vec<AnswerFile>, Refusal> {
    let load = |input: &Path| {
        let place = format!("{}: ", input.display());
        load(request, part, input).map_err(|error| Refusal::from_error(&error, &place))
    };
    let (base, new) = (load(base)?, load(new)?);
    let runs = |run: &AnyRun| {
        side(std::slice::from_ref(run)).map_err(|error| Refusal::from_error(&error, ""))
    };
    let options = CompareOptions {
        allow_different: request.allow_different,
        ..CompareOptions::default()
    };
    let comparison = compare_runs(&runs(&base)?, &runs(&new)?, &options);
    let refused = refuse_different(std::slice::from_ref(&comparison), request.allow_different);
    refused.map_err(|error| Refusal::from_error(&error, ""))?;

    let page = html::comparison_page_of(&comparison, drawn(base, new), request.show_names);
    let document = comparison::document(&comparison, request.show_names);
    files(COMPARISON, &comparison, page, &document)
}

/// Returns both analyses, if there are both: a stored report has no intervals to draw.
fn drawn(base: AnyRun, new: AnyRun) -> Option<(Analysis, Analysis)> {
    match (base, new) {
        (AnyRun::Analyzed(base), AnyRun::Analyzed(new)) => Some((*base, *new)),
        _ => None,
    }
}

/// Reads a stored report, or analyzes any other input.
fn load(request: &PageRequest, part: &Request, input: &Path) -> Result<AnyRun, Error> {
    if let Some(stored) = stored_report(input)? {
        return Ok(stored);
    }

    let options = LoadOptions {
        run: request.run,
        allow_truncated: request.allow_truncated,
        progress: None,
    };
    let analysis_request = with_work(part, None, input)?;
    let analysis = analysis(input, &analysis_request, |selection| {
        report_stage(request, "read");
        let trace = Input::open(input)?.load(selection, options)?;
        report_stage(request, "analyze");
        Ok::<_, Error>(trace)
    })?;
    report_stage(request, "draw");
    Ok(AnyRun::Analyzed(Box::new(analysis)))
}

/// Writes the current step for the page to show. Errors are ignored, since the page works without it.
fn report_stage(request: &PageRequest, stage: &str) {
    let _ = std::fs::write(request.output.join("stage"), stage);
}

/// Returns a value as JSON, its page, and its document as Markdown.
fn files(
    names: [&'static str; 3],
    value: &impl Serialize,
    page: metalens_render::Result<String>,
    document: &Document,
) -> Result<Vec<AnswerFile>, Refusal> {
    let json = json::document(value).map_err(|error| Refusal::plain(&error))?;
    let page = page.map_err(|error| Refusal::plain(&error))?;
    let texts = [json, page, markdown::page(document, &[])];
    let files = names.into_iter().zip(texts);
    Ok(files
        .map(|(name, text)| AnswerFile { name, text })
        .collect())
}
