//! Hides folders and other programs from pages that people post.
//!
//! A report names every process that used the GPU, and where its input lay. Nobody who reads
//! a pull request needs either. Values of sentences are hidden by what they are: a process
//! that is called like a kernel is hidden, and the kernel is not.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use metalens_analyzer::{Note, Report};
use metalens_failure::other_process;
use metalens_message::{Message, PlacedValue, Value};

/// Replacement of a quote that contains a hidden name.
const LEFT_OUT: &str = "(left out)";

/// Returns the report without folders and names of other processes, and with a note that says so.
/// The analyzed process keeps its name; the compositor is named by its role.
pub(crate) fn redacted(report: &Report) -> Report {
    let hidden = HiddenNames::of(report);
    let mut page = report.clone();
    processes(&mut page, &hidden.names);
    let mut is_any_left_out = false;
    for message in page.messages_mut() {
        is_any_left_out |= !hidden.hide(message);
    }
    page.source.path = hidden.source.shown(&report.source.path);
    if let Some(work) = &mut page.work {
        work.file = HiddenPath::of(&work.file).shown(&work.file);
    }
    if page != *report {
        page.notes.push(Note::quiet(
            "redacted",
            "folders and the names of other processes are left out of this page; --show-names \
             keeps them",
        ));
    }

    if is_any_left_out {
        page.notes.push(Note::quiet(
            "sentences-left-out",
            "whole sentences that contain such names are left out, because this report was edited: \
             nobody knows where in them a name stands",
        ));
    }
    page
}

/// Returns the report that a page shows: redacted, unless names are to be shown.
pub fn for_page(report: &Report, show_names: bool) -> Cow<'_, Report> {
    if show_names {
        Cow::Borrowed(report)
    } else {
        Cow::Owned(redacted(report))
    }
}

/// Aliases and paths that a page hides.
struct HiddenNames {
    names: Aliases,
    source: HiddenPath,
    work: Option<HiddenPath>,
}

impl HiddenNames {
    fn of(report: &Report) -> Self {
        let work = report.work.as_ref();
        Self {
            names: Aliases::of(report),
            source: HiddenPath::of(&report.source.path),
            work: work.map(|work| HiddenPath::of(&work.file)),
        }
    }

    /// Hides the values that a sentence should not show. Returns false if the whole sentence was
    /// replaced, because the positions of its values are unknown.
    fn hide(&self, message: &mut Message) -> bool {
        if message.rewrite(|value| self.other(value)) {
            return true;
        }
        let is_said = self.is_in(&message.text);
        if is_said {
            *message = Message::from(LEFT_OUT);
        }
        !is_said
    }

    /// Returns the replacement of a value; `None` if it is shown.
    fn other(&self, value: &PlacedValue) -> Option<String> {
        match value.value {
            Value::Process { is_analyzed: false } => Some(self.names.alias(&value.text)),
            Value::Path => Some(self.file(&value.text)),
            Value::Quote => self.is_in(&value.text).then(|| LEFT_OUT.to_owned()),
            _ => None,
        }
    }

    /// Returns a path without the folders above it. A file of the recording keeps its path inside
    /// the recording.
    fn file(&self, path: &str) -> String {
        let inside = self.source.inside(path);
        let inside = inside.or_else(|| self.work.as_ref()?.inside(path));
        let is_elsewhere = path.starts_with(['/', '~', '.']);
        inside.unwrap_or_else(|| {
            if is_elsewhere {
                HiddenPath::of(path).shown(path)
            } else {
                path.to_owned()
            }
        })
    }

    /// Returns whether a text contains a hidden name or folder.
    fn is_in(&self, text: &str) -> bool {
        let names = self.names.aliases.keys();
        let files = [Some(&self.source), self.work.as_ref()]
            .into_iter()
            .flatten();
        let folders = files
            .filter(|file| file.name.is_some())
            .map(|file| &file.path);
        let mut all = names.chain(folders);
        all.any(|other| text.contains(other.as_str()))
    }
}

/// Replaces process names that have a field of their own.
fn processes(page: &mut Report, names: &Aliases) {
    for process in page
        .processes
        .iter_mut()
        .filter(|process| !process.is_analyzed)
    {
        process.name = names.alias(&process.name);
    }
    let others = page.machine.others.iter_mut();
    let others = others.flat_map(|others| &mut others.top);
    for name in others.filter_map(|other| other.name.as_mut()) {
        *name = names.alias(name);
    }
    for phase in page
        .phases
        .signposts
        .iter_mut()
        .filter(|phase| !phase.is_analyzed)
    {
        phase.process = phase.process.as_deref().map(|name| names.alias(name));
        phase.subsystem = None;
    }
    if let Some(compositor) = &mut page.machine.display.compositor {
        *compositor = names.alias(compositor);
    }
}

/// A path, with its last part.
struct HiddenPath {
    path: String,
    name: Option<String>,
}

impl HiddenPath {
    fn of(path: &str) -> Self {
        let name = Path::new(path).file_name();
        let name = name.map(|name| name.to_string_lossy().into_owned());
        Self {
            path: path.to_owned(),
            name: name.filter(|name| name != path),
        }
    }

    fn shown(&self, path: &str) -> String {
        self.name.clone().unwrap_or_else(|| path.to_owned())
    }

    /// Returns a path in this folder, or of this file, from its last part on.
    fn inside(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix(&self.path)?;
        let is_part = rest.is_empty() || rest.starts_with('/') || self.path.ends_with('/');
        is_part.then(|| format!("{}{rest}", self.shown(&self.path)))
    }
}

/// Aliases of other processes, with their replacements.
struct Aliases {
    aliases: BTreeMap<String, String>,
}

impl Aliases {
    fn of(report: &Report) -> Self {
        let compositor = report.machine.display.compositor.as_deref();
        let targets = report.process.processes.iter();
        let targets: BTreeSet<&str> = targets.map(|target| target.name.as_str()).collect();
        let processes = report
            .processes
            .iter()
            .filter(|process| !process.is_analyzed);
        let processes = processes.map(|process| process.name.as_str());
        let others = report.machine.others.iter().flat_map(|others| &others.top);
        let others = others.filter_map(|process| process.name.as_deref());
        let signposts = report.phases.signposts.iter();
        let phases = signposts.filter(|phase| !phase.is_analyzed);

        let phases = phases.filter_map(|phase| phase.process.as_deref());
        let is_hidden = |name: &&str| !name.is_empty() && !targets.contains(name);
        let roles = compositor.filter(is_hidden);
        let roles = roles.map(|name| (name.to_owned(), COMPOSITOR.to_owned()));
        let mut aliases: BTreeMap<String, String> = roles.into_iter().collect();
        let roles = aliases.len();
        for name in processes.chain(others).chain(phases).filter(is_hidden) {
            let number = aliases.len() - roles + 1;
            let alias = aliases.entry(name.to_owned());
            alias.or_insert_with(|| other_process(number));
        }
        Self { aliases }
    }

    /// Returns the replacement of a name; the name of the analyzed process stays.
    fn alias(&self, name: &str) -> String {
        self.aliases
            .get(name)
            .map_or(name, String::as_str)
            .to_owned()
    }
}

const COMPOSITOR: &str = "the compositor";

#[cfg(test)]
mod tests {
    use metalens_message::{Message, Ns, kernel, message, path, process, quote};

    use super::*;
    use metalens_testing::{analysis_of, analyze_scenario};

    fn report_of(scenario: &str) -> Report {
        analysis_of(scenario).report
    }

    fn others(report: &Report) -> Vec<String> {
        let others = report
            .processes
            .iter()
            .filter(|process| !process.is_analyzed);
        others.map(|process| process.name.clone()).collect()
    }

    /// No name is left in any part of the report, whether a page shows that part or not.
    #[test]
    fn no_name_is_left_anywhere() {
        for scenario in ["shared-machine", "awkward", "renderer"] {
            let mut report = report_of(scenario);
            report.machine.display.compositor = Some("Compositor".to_owned());
            let drew = message!("{} drew", process("Compositor", false));
            report.notes.push(Note::quiet("drew", drew));
            let others = others(&report);
            assert!(!others.is_empty(), "{scenario}");
            let page = redacted(&report);
            let text = serde_json::to_string(&page).unwrap();
            for name in &others {
                assert!(!text.contains(name.as_str()), "{scenario}: {name}");
            }
            assert!(text.contains(&report.process.processes[0].name.replace('"', "\\\"")));
            assert!(
                page.notes
                    .iter()
                    .any(|note| note.text() == "the compositor drew")
            );
            assert_eq!(page.source.path, "export");
        }
    }

    /// The page is the same whatever the other process is called: its name is nowhere, and the
    /// kernel's name is where it was.
    #[test]
    fn a_process_that_is_called_like_a_kernel_is_hidden() {
        let mut scenario = metalens_simulator::Scenario::preset("shared-machine").unwrap();
        let usual = analyze_scenario(&scenario, &metalens_analyzer::Request::default())
            .unwrap()
            .report;
        let kernel_name = usual.kernels[0].name.clone();
        let other = &mut scenario.process[1].name;
        assert!(others(&usual).contains(other));
        other.clone_from(&kernel_name);
        let report = analyze_scenario(&scenario, &metalens_analyzer::Request::default())
            .unwrap()
            .report;
        assert!(others(&report).contains(&kernel_name));
        let named = report.findings.iter().flat_map(|finding| &finding.look_at);
        assert!(
            named
                .clone()
                .any(|place| place.text.starts_with(&kernel_name))
        );

        let page = redacted(&report);

        assert_eq!(page, redacted(&usual));
        assert_eq!(page.kernels[0].name, kernel_name);
        let mut report = report;
        let beside = message!(
            "{} beside {}",
            kernel(&kernel_name),
            process(&kernel_name, false)
        );
        report.notes.push(Note::quiet("beside", beside));
        let expected = format!("{kernel_name} beside other process 1");
        assert!(
            redacted(&report)
                .notes
                .iter()
                .any(|note| note.text() == expected)
        );
    }

    /// In an edited sentence nobody knows where names stand, so it is left out.
    #[test]
    fn edited_sentences_that_name_others_are_left_out() {
        let mut report = report_of("shared-machine");
        let other = others(&report).remove(0);
        let evidence = &mut report.findings[0].evidence;
        assert!(!evidence.values.is_empty());
        evidence.text = format!("{other} held the GPU: {}", evidence.text);
        let page = redacted(&report);
        assert_eq!(page.findings[0].evidence.text, LEFT_OUT);
        let text = serde_json::to_string(&page).unwrap();
        assert!(!text.contains(&other), "{text}");
        assert_eq!(page.notes.last().unwrap().id, "sentences-left-out");
        assert_eq!(page.summary, report.summary);
    }

    /// The report does not even get a note.
    #[test]
    fn a_report_without_names_to_hide_is_unchanged() {
        let mut report = report_of("fused");
        report.source.path = "fused".to_owned();
        report.processes.retain(|process| process.is_analyzed);
        report.machine.others.as_mut().unwrap().top.clear();
        assert_eq!(redacted(&report), report);
    }

    #[test]
    fn folders_are_hidden() {
        let check = |path: &str, expected: &str| {
            assert_eq!(HiddenPath::of(path).shown(path), expected, "{path}");
        };
        check("/home/somebody/secret/run.trace", "run.trace");
        check("run.trace", "run.trace");
        check("a/run.trace/", "run.trace");
        check("-", "-");
        check("..", "..");
    }

    #[test]
    fn folders_are_hidden_in_sentences() {
        let mut report = report_of("fused");
        report.source.path = "/home/somebody/run".to_owned();
        let check = |said: Message, expected: &str| {
            let mut report = report.clone();
            report.notes.push(Note::quiet("check", said));
            let page = redacted(&report);
            assert_eq!(page.notes[report.notes.len() - 1].text(), expected);
        };
        let toc = path("/home/somebody/run/toc.xml");
        check(message!("{} is old", toc), "run/toc.xml is old");
        let beside = path("/home/somebody/run2/x");
        check(message!("{}: {}", beside, Ns(5)), "x: 5 ns");
        let inside = path("corespace/run1/open.creq");
        check(
            message!("{} is odd", inside),
            "corespace/run1/open.creq is odd",
        );
        let why = quote("cannot open /home/somebody/run/toc.xml");
        check(message!("because: {}", why), "because: (left out)");
        check(
            message!("because: {}", quote("it is odd")),
            "because: it is odd",
        );
    }
}
