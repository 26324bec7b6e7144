//! Holds every crate to what `ARCHITECTURE.md` says: inside it, imports form no circle.
//!
//! Files and folders that lie side by side are compared, each folder as one with all that is in it: its
//! own file and the files in it declare each other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// Code of the modules of a crate by their paths, without comments and tests.
type Modules = BTreeMap<Vec<String>, String>;

#[test]
fn imports_form_no_circle() {
    let mut found = Vec::new();
    let mut count = 0;
    for folder in crates() {
        let mut modules = Modules::new();
        read(&folder.join("src"), &[], &mut modules);
        count += modules.len();

        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let circles = circles(&modules).into_iter();
        found.extend(circles.map(|circle| format!("{name}: {circle}")));
    }
    assert!(count > 500, "only {count} modules were found");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Returns the folder of each crate.
pub(crate) fn crates() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = |of: &Path| {
        let all = std::fs::read_dir(of).unwrap();
        all.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let crates = folders(&root);
    let crates = crates.iter().flat_map(|group| folders(group));
    crates
        .filter(|folder| folder.join("Cargo.toml").is_file())
        .collect()
}

/// Reads the modules below a folder. Tests and helpers of tests may import what they like.
fn read(folder: &Path, at: &[String], modules: &mut Modules) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut module = at.to_vec();
        if !["mod", "lib", "main"].contains(&stem.as_str()) {
            module.push(stem.clone());
        }

        if ["tests", "testing", "pixel_tests"].contains(&stem.as_str()) {
            continue;
        } else if path.is_dir() {
            read(&path, &module, modules);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            modules.insert(module, code(&std::fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Returns the code of a file without comments and items for tests.
fn code(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let bare = line.trim_start();
        if bare.starts_with("#[cfg(test)]") || bare.starts_with("#[cfg(all(test") {
            // The item ends at its own indentation.
            let indent = &line[..line.len() - bare.len()];
            let is_end = |line: &str| {
                let rest = line.strip_prefix(indent).unwrap_or(" ");
                rest.starts_with('}')
                    || (line.ends_with([';', '}']) && !rest.starts_with([' ', '#']))
            };
            lines.by_ref().find(|line| is_end(line));
        } else if !bare.starts_with("//") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// A path in the code, and the name that it has there.
struct Import {
    path: Vec<String>,
    name: String,
}

/// Returns the paths of a code: those that begin with `crate`, `super` or `self`, and those of
/// `use`, which may also begin with a module.
fn paths(code: &str) -> Vec<Import> {
    let mut all = Vec::new();
    for (at, _) in code.match_indices(is_letter) {
        let (before, rest) = code.split_at(at);
        if before.ends_with(is_letter) || before.ends_with("::") {
            continue;
        }
        if ["crate::", "super::", "self::"]
            .iter()
            .any(|start| rest.starts_with(start))
        {
            tree(rest, &[], &mut all);
        } else if let Some(used) = rest.strip_prefix("use ") {
            tree(used, &[], &mut all);
        }
    }
    all
}

/// Adds the paths of a tree such as `a::{b, c::d as e}`. Returns the rest of the text.
fn tree<'a>(text: &'a str, before: &[String], all: &mut Vec<Import>) -> &'a str {
    let rest = text.trim_start();
    if let Some(mut group) = rest.strip_prefix('{') {
        loop {
            group = tree(group, before, all).trim_start();
            match group.strip_prefix(',') {
                Some(next) if !next.trim_start().starts_with('}') => group = next,
                Some(last) => return last.trim_start().trim_start_matches('}'),
                None => return group.trim_start_matches('}'),
            }
        }
    }

    let word = rest.split(|letter| !is_letter(letter)).next().unwrap();
    let mut path = before.to_vec();
    path.push(word.to_owned());
    let rest = &rest[word.len()..];
    if let Some(inner) = rest.strip_prefix("::").filter(|_| !word.is_empty()) {
        return tree(inner, &path, all);
    }
    let Some(alias) = rest.strip_prefix(" as ") else {
        let name = word.to_owned();
        all.push(Import { path, name });
        return rest.trim_start_matches('*');
    };
    let rest = alias.trim_start_matches(is_letter);
    let name = alias[..alias.len() - rest.len()].to_owned();
    all.push(Import { path, name });
    rest
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The modules of a crate, and the names that each imports.
struct Imports<'a> {
    modules: &'a Modules,
    paths: BTreeMap<&'a [String], Vec<Import>>,
}

impl<'a> Imports<'a> {
    fn new(modules: &'a Modules) -> Self {
        let paths = modules
            .iter()
            .map(|(module, code)| (module.as_slice(), paths(code)));
        Self {
            modules,
            paths: paths.collect(),
        }
    }

    /// Returns the module that has what a path names; follows what other modules export again.
    fn owner(&self, from: &[String], path: &[String], depth: usize) -> Option<&'a [String]> {
        let (first, rest) = path.split_first()?;
        let (mut at, rest) = match first.as_str() {
            "crate" => (Vec::new(), rest),
            "self" => (from.to_vec(), rest),
            "super" => (from.split_last()?.1.to_vec(), rest),
            _ => (from.to_vec(), path),
        };
        let mut words = rest.iter();
        let mut next = words.next();
        while let Some(word) = next {
            let mut inner = at.clone();
            if word == "super" {
                inner.pop();
            } else {
                inner.push(word.clone());
            }
            if word != "super" && !self.modules.contains_key(&inner) {
                break;
            }
            at = inner;
            next = words.next();
        }

        let (module, _) = self.modules.get_key_value(&at)?;
        let name = next.filter(|_| depth < 8);
        let again = name.and_then(|name| {
            let mut imported = self.paths.get(module.as_slice())?.iter();
            let import = imported.find(|import| import.path.len() > 1 && import.name == *name)?;
            self.owner(module, &import.path, depth + 1)
        });
        again.or(Some(module.as_slice()))
    }

    /// Returns the modules that a module imports, without those in its folder and above.
    fn of(&self, module: &[String]) -> BTreeSet<&'a [String]> {
        let paths = self.paths.get(module).into_iter().flatten();
        let owners = paths.filter_map(|import| self.owner(module, &import.path, 0));
        owners
            .filter(|owner| !owner.starts_with(module) && !module.starts_with(owner))
            .collect()
    }
}

/// Returns the shortest circle through each file or folder that is in one, each circle once.
fn circles(modules: &Modules) -> BTreeSet<String> {
    let imports = Imports::new(modules);
    let mut edges: BTreeMap<&[String], BTreeSet<&[String]>> = BTreeMap::new();
    for module in modules.keys() {
        for owner in imports.of(module) {
            let words = module.iter().zip(owner);
            let shared = words.take_while(|(one, other)| one == other).count();
            let imported = edges.entry(&module[..=shared]).or_default();
            imported.insert(&owner[..=shared]);
        }
    }

    let mut found: BTreeMap<BTreeSet<&[String]>, String> = BTreeMap::new();
    for &start in edges.keys() {
        let Some(circle) = circle(start, &edges) else {
            continue;
        };
        let names: Vec<String> = circle.iter().map(|module| module.join("::")).collect();
        let members = circle.into_iter().collect();
        found
            .entry(members)
            .or_insert_with(|| format!("{} → {}", names.join(" → "), names[0]));
    }
    found.into_values().collect()
}

/// Returns the modules of the shortest circle through a module.
fn circle<'a>(
    start: &'a [String],
    edges: &BTreeMap<&'a [String], BTreeSet<&'a [String]>>,
) -> Option<Vec<&'a [String]>> {
    let mut queue = VecDeque::from([vec![start]]);
    let mut seen = BTreeSet::new();
    while let Some(path) = queue.pop_front() {
        for &next in edges.get(path.last()?).into_iter().flatten() {
            if next == start {
                return Some(path);
            }
            if seen.insert(next) {
                let mut longer = path.clone();
                longer.push(next);
                queue.push_back(longer);
            }
        }
    }
    None
}

#[test]
fn a_planted_circle_is_found() {
    let check = |files: &[(&str, &str)], expected: &[&str]| {
        let modules = files.iter().map(|(path, text)| {
            let module = path.split("::").filter(|part| !part.is_empty());
            (module.map(str::to_owned).collect(), code(text))
        });
        let found: Vec<String> = circles(&modules.collect()).into_iter().collect();
        assert_eq!(found, expected, "{files:?}");
    };

    let one = ("one", "use std::fmt;\n\nuse crate::other::{A, B as C};\n");
    check(&[one, ("other", "struct A;\n")], &[]);
    check(
        &[one, ("other", "fn a() { super::one::b() }\n")],
        &["one → other → one"],
    );
    // Neither a comment nor a test is an import.
    check(
        &[
            one,
            (
                "other",
                "// use crate::one::B;\n#[cfg(test)]\nmod tests {\n    use crate::one::B;\n}\n",
            ),
        ],
        &[],
    );
    check(
        &[
            one,
            (
                "other",
                "#[cfg(test)]\nmod tests {\n}\nuse crate::one::B;\n",
            ),
        ],
        &["one → other → one"],
    );
    // What the crate exports again is of the module that has it.
    let root = ("", "mod one;\nmod other;\npub use one::{B, C};\n");
    check(
        &[root, one, ("other", "use crate::B;\n")],
        &["one → other → one"],
    );
    check(&[root, one, ("other", "use crate::D;\n")], &[]);
    // A folder's own file and the files in it are one; their siblings are not.
    check(
        &[("a", "use self::b::C;\n"), ("a::b", "use super::D;\n")],
        &[],
    );
    let circle = [
        ("a::b", "use super::c::C;\n"),
        ("a::c", "use super::d::D;\n"),
        ("a::d", "use crate::{x, a::{b::{self}}};\n"),
    ];
    check(
        &[("a", ""), circle[0], circle[1], circle[2]],
        &["a::b → a::c → a::d → a::b"],
    );
    // Two folders import each other, and no file imports one that leads back to it.
    check(
        &[
            ("", ""),
            ("a", ""),
            ("a::b", "use crate::c::d::D;\n"),
            ("a::e", ""),
            ("c", ""),
            ("c::d", ""),
            ("c::f", "use crate::a::e::E;\n"),
        ],
        &["a → c → a"],
    );
}
