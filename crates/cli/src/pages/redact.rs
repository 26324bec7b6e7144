//! What a page that is posted should not say: folders, and other people's programs.
//!
//! A report names every process that used the GPU, and where its input lay.
//! Nobody who reads a pull request needs either.

use std::path::Path;

use metalens_analyzer::Report;

/// Findings whose places are processes and nothing else.
const ABOUT_PROCESSES: [&str; 2] = ["shared-gpu", "foreign-delays"];

/// The report without them, and with a note that says so. The target keeps its
/// name, and what puts the screen together is called by its role.
pub(crate) fn redacted(report: &Report) -> Report {
    let names = Names::of(report);
    let path = FileName::of(&report.source.path);
    let mut page = report.clone();
    processes(&mut page, &names);
    texts(&mut page, &names, &path);
    page.source.path = path.shown(&report.source.path);
    if let Some(work) = &mut page.work {
        let file = FileName::of(&work.file);
        work.file = file.shown(&work.file);
        for note in &mut work.notes {
            *note = names.hide(&file.hide(note), false);
        }
    }
    if page != *report {
        page.notes.push(
            "folders and the names of other processes are left out of this page; --show-names \
             keeps them"
                .to_owned(),
        );
    }
    page
}

/// Where a process is named in a field of its own.
fn processes(page: &mut Report, names: &Names) {
    for process in page.processes.iter_mut().filter(|one| !one.is_target) {
        process.name = names.alias(&process.name);
    }
    let others = page.machine.others.top.iter_mut();
    for name in others.filter_map(|other| other.name.as_mut()) {
        *name = names.alias(name);
    }
    for phase in page
        .phases
        .signposts
        .iter_mut()
        .filter(|one| !one.is_target)
    {
        phase.process = phase.process.as_deref().map(|name| names.alias(name));
        phase.subsystem = None;
    }
    if let Some(compositor) = &mut page.machine.display.compositor {
        *compositor = names.alias(compositor);
    }
}

/// Where one may be named in a sentence.
fn texts(page: &mut Report, names: &Names, path: &FileName) {
    for finding in &mut page.findings {
        let only_processes = ABOUT_PROCESSES.contains(&finding.id.as_str());
        finding.evidence = names.hide(&finding.evidence, false);
        for place in &mut finding.look_at {
            *place = names.hide(place, only_processes);
        }
    }
    let unavailable = page.unavailable.iter_mut().map(|one| &mut one.why);
    let checks = page.sanity.checks.iter_mut().map(|one| &mut one.says);
    let sentences = page.notes.iter_mut().chain(unavailable).chain(checks);
    for text in sentences {
        *text = names.hide(&path.hide(text), false);
    }
}

/// A path, and the last part of it.
struct FileName {
    path: String,
    name: Option<String>,
}

impl FileName {
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

    fn hide(&self, text: &str) -> String {
        match &self.name {
            Some(name) => text.replace(&self.path, name),
            None => text.to_owned(),
        }
    }
}

/// The names of others, and what stands for each.
struct Names {
    /// The longest first, so that none is found inside another.
    aliases: Vec<(String, String)>,
    /// Names that a kernel has as well: in a sentence they are the kernel's.
    kernels: Vec<String>,
}

impl Names {
    fn of(report: &Report) -> Self {
        let compositor = report.machine.display.compositor.as_deref();
        let is_target = |name: &str| {
            let mut targets = report.target.processes.iter();
            targets.any(|target| target.name == name)
        };
        let processes = report.processes.iter().filter(|one| !one.is_target);
        let processes = processes.map(|one| one.name.as_str());
        let others = report.machine.others.top.iter();
        let others = others.filter_map(|one| one.name.as_deref());
        let phases = report.phases.signposts.iter().filter(|one| !one.is_target);
        let phases = phases.filter_map(|one| one.process.as_deref());
        let mut aliases: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, alias: Option<&str>| {
            let is_known = aliases.iter().any(|(known, _)| known == name);
            if is_known || name.is_empty() || is_target(name) {
                return;
            }
            let roles = aliases.iter().filter(|(_, alias)| alias == COMPOSITOR);
            let number = aliases.len() - roles.count() + 1;
            let alias = alias.map_or_else(|| format!("other process {number}"), str::to_owned);
            aliases.push((name.to_owned(), alias));
        };
        if let Some(compositor) = compositor {
            add(compositor, Some(COMPOSITOR));
        }
        for name in processes.chain(others).chain(phases) {
            add(name, None);
        }
        aliases.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        let kernels = report.kernels.iter().map(|kernel| kernel.name.clone());
        Self {
            aliases,
            kernels: kernels.collect(),
        }
    }

    /// What stands for a name; the target's stands for itself.
    fn alias(&self, name: &str) -> String {
        let mut aliases = self.aliases.iter();
        let found = aliases.find(|(known, _)| known == name);
        found.map_or(name, |(_, alias)| alias).to_owned()
    }

    /// A text with every name replaced where it stands as a word.
    fn hide(&self, text: &str, only_processes: bool) -> String {
        let mut hidden = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let before = hidden.chars().next_back();
            let is_name = |(name, _): &&(String, String)| {
                let is_meant = only_processes || !self.kernels.contains(name);
                is_meant && stands_alone(name, before, rest)
            };
            match self.aliases.iter().find(is_name) {
                Some((name, alias)) => {
                    hidden.push_str(alias);
                    rest = rest.get(name.len()..).unwrap_or("");
                }
                None => {
                    hidden.push(letter);
                    rest = rest.get(letter.len_utf8()..).unwrap_or("");
                }
            }
        }
        hidden
    }
}

const COMPOSITOR: &str = "the compositor";

/// Whether a text begins with a name that is no part of a longer word.
fn stands_alone(name: &str, before: Option<char>, text: &str) -> bool {
    let joins = |one: Option<char>, other: Option<char>| {
        one.is_some_and(is_of_word) && other.is_some_and(is_of_word)
    };
    text.strip_prefix(name).is_some_and(|after| {
        !joins(before, name.chars().next())
            && !joins(name.chars().next_back(), after.chars().next())
    })
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(others: &[&str], kernels: &[&str]) -> Names {
        let mut aliases: Vec<(String, String)> = others
            .iter()
            .enumerate()
            .map(|(at, &name)| (name.to_owned(), format!("other process {}", at + 1)))
            .collect();
        aliases.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        Names {
            aliases,
            kernels: kernels.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    #[test]
    fn names_are_hidden_where_they_are_words() {
        let check = |text: &str, only_processes: bool, expected: &str| {
            let names = names(&["Chrome", "Chrome Helper (GPU)", "log", "Zoë"], &["log"]);
            assert_eq!(names.hide(text, only_processes), expected, "{text}");
        };
        check("Chrome: 3 ms", false, "other process 1: 3 ms");
        check(
            "by Chrome Helper (GPU), Chrome",
            false,
            "by other process 2, other process 1",
        );
        check(
            "Chromecast, GoogleChrome, my_Chrome",
            false,
            "Chromecast, GoogleChrome, my_Chrome",
        );
        check("log: 10 intervals", false, "log: 10 intervals");
        check("log: 3 ms in gaps", true, "other process 3: 3 ms in gaps");
        check("Zoë is on it", false, "other process 4 is on it");
        check("", false, "");
    }

    fn report_of(scenario: &str) -> Report {
        let folder = tempfile::tempdir().unwrap();
        let export = folder.path().join("export");
        let scenario = metalens_simulator::Scenario::preset(scenario).unwrap();
        metalens_simulator::write_export(&scenario, &export, false).unwrap();
        let input = metalens_trace::Input::open(&export).unwrap();
        let options = metalens_trace::LoadOptions::default();
        let trace = input.load(&metalens_analyzer::selection(), options);
        let request = metalens_analyzer::Request::default();
        let analysis = metalens_analyzer::analyze(trace.unwrap(), &request);
        analysis.unwrap().report
    }

    /// Whatever part of a report a page may come to show: no name is left in any.
    #[test]
    fn no_name_is_left_anywhere() {
        for scenario in ["shared-machine", "awkward", "renderer"] {
            let mut report = report_of(scenario);
            report.machine.display.compositor = Some("Compositor".to_owned());
            report.notes.push("Compositor drew".to_owned());
            let others = report.processes.iter().filter(|one| !one.is_target);
            let others: Vec<String> = others.map(|one| one.name.clone()).collect();
            assert!(!others.is_empty(), "{scenario}");
            let page = redacted(&report);
            let text = serde_json::to_string(&page).unwrap();
            for name in &others {
                assert!(!text.contains(name.as_str()), "{scenario}: {name}");
            }
            assert!(text.contains(&report.target.processes[0].name.replace('"', "\\\"")));
            assert!(page.notes.contains(&"the compositor drew".to_owned()));
            assert_eq!(page.source.path, "export");
        }
    }

    /// What names nobody and no folder is shown as it is, without a note.
    #[test]
    fn nothing_to_hide() {
        let mut report = report_of("fused");
        report.source.path = "fused".to_owned();
        report.processes.retain(|one| one.is_target);
        report.machine.others.top.clear();
        assert_eq!(redacted(&report), report);
    }

    #[test]
    fn folders_are_hidden() {
        let check = |path: &str, expected: &str| {
            assert_eq!(FileName::of(path).shown(path), expected, "{path}");
        };
        check("/home/somebody/secret/run.trace", "run.trace");
        check("run.trace", "run.trace");
        check("a/run.trace/", "run.trace");
        check("-", "-");
        check("..", "..");
        let path = FileName::of("/home/somebody/run");
        assert_eq!(
            path.hide("/home/somebody/run/toc.xml: is old"),
            "run/toc.xml: is old"
        );
    }
}
