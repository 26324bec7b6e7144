//! Chooses the name of each recording's folder: similar to the recording's name, in letters that every file
//! system and every link allows, and unique.
//!
//! A name does not depend on the number of other recordings. If two would have the same name, both get
//! a few digits of a hash of their paths, except for one that already has the name.

use std::collections::HashMap;

use metalens_files::sha256;

/// Length at which names are cut.
const LONGEST: usize = 80;
/// Number of digits of the hash.
const DIGITS: usize = 8;
/// Names of other files in the folder, and names that Windows does not allow.
const RESERVED: [&str; 27] = [
    "index", "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7",
    "com8", "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
    "batch", "manifest", "report", "charts",
];
const ENDINGS: [&str; 5] = [".trace.zip", ".trace", ".zip", ".xml", ".xml.gz"];

/// Returns a folder name for each (name, path). `owner` returns the path whose folder already has a
/// name.
pub(super) fn slugs(
    inputs: &[(&str, &str)],
    owner: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let plain: Vec<PlainName> = inputs
        .iter()
        .map(|(name, _)| PlainName::new(name))
        .collect();
    let mut count: HashMap<String, usize> = HashMap::new();
    for name in &plain {
        *count.entry(name.text.to_lowercase()).or_default() += 1;
    }

    let slugs = plain.into_iter().zip(inputs).map(|(name, (_, path))| {
        let is_alone = count.get(&name.text.to_lowercase()) == Some(&1);
        let owner = owner(&name.text);
        let is_its_own = owner.as_deref() == Some(*path);
        if name.is_exact && (is_its_own || is_alone && owner.is_none()) {
            name.text
        } else {
            with_hash(&name.text, path)
        }
    });
    slugs.collect()
}

fn with_hash(text: &str, path: &str) -> String {
    let hash = sha256(path.as_bytes());
    let digits = hash.get(..DIGITS).unwrap_or(&hash);
    format!("{text}-{digits}")
}

/// A name in plain letters.
struct PlainName {
    text: String,
    /// False if the text lacks a part of the name, so that another name may have the same text.
    is_exact: bool,
}

impl PlainName {
    fn new(name: &str) -> Self {
        let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending));
        let name = stem.unwrap_or(name);

        let mut text = String::new();
        let mut is_exact = true;
        for letter in name.chars() {
            match letter {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' => text.push(letter),
                _ if letter.is_alphanumeric() => is_exact = false,
                _ if !text.ends_with('-') => text.push('-'),
                _ => {}
            }
        }

        let text = text.trim_matches(['-', '.']);
        let cut = text
            .get(..LONGEST)
            .unwrap_or(text)
            .trim_end_matches(['-', '.']);

        let stem = cut.split('.').next().unwrap_or(cut).to_ascii_lowercase();
        let is_reserved = RESERVED.contains(&stem.as_str());
        let is_cut = cut.len() < text.len();

        Self {
            is_exact: is_exact && !cut.is_empty() && !is_reserved && !is_cut,
            text: match cut {
                "" => "trace".to_owned(),
                _ if is_reserved => format!("trace-{cut}"),
                cut => cut.to_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_slugs(inputs: &[(&str, &str)]) -> Vec<String> {
        slugs(inputs, |_| None)
    }

    #[test]
    fn slugs_resemble_names() {
        let check = |name: &str, expected: &str| assert_eq!(new_slugs(&[(name, "p")]), [expected]);
        check("run.trace", "run");
        check("Run 1 (final).trace", "Run-1-final");
        check("a/b/run.trace.zip", "a-b-run");
        check("metal-gpu-intervals.xml.gz", "metal-gpu-intervals");
        check("run.export", "run.export");
        // 148de9c5 begins the SHA-256 of "p".
        check("カーネル.trace", "trace-148de9c5");
        check("../../etc/passwd", "etc-passwd");
        check("con.trace", "trace-con-148de9c5");
        check("index.html", "trace-index.html-148de9c5");
        check("..", "trace-148de9c5");
        check("a\u{1b}[2J\nb<script>", "a-2J-b-script");
        check(&"x".repeat(300), &format!("{}-148de9c5", "x".repeat(80)));
    }

    /// Checks that names stay unique where upper and lower case are the same.
    #[test]
    fn slugs_are_unique() {
        let slugs = new_slugs(&[
            ("Run.trace", "1"),
            ("run.trace", "2"),
            ("run!", "3"),
            ("b", "4"),
        ]);
        let mut lower: Vec<String> = slugs.iter().map(|slug| slug.to_lowercase()).collect();
        lower.sort();
        lower.dedup();
        assert_eq!(lower.len(), 4, "{slugs:?}");
        assert_eq!(slugs[3], "b");
        assert!(
            slugs[0].starts_with("Run-") && slugs[0].len() == 12,
            "{slugs:?}"
        );
    }

    /// An input keeps its name, and no input takes another one's folder.
    #[test]
    fn slugs_are_stable() {
        let owner = |slug: &str| (slug == "run").then(|| "1".to_owned());
        let both = slugs(&[("run", "1"), ("run", "2")], owner);
        assert_eq!(both[0], "run");
        assert_ne!(both[1], "run");
        assert_ne!(slugs(&[("run", "2")], owner), ["run"]);
    }
}
