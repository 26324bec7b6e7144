//! What the folder of each trace is called: as the trace, in letters that every file
//! system and every link can bear, and never as another one's.
//!
//! A name does not depend on how many others there are: where two would be called the
//! same, both get a few digits of a hash of their paths, except one that has the
//! name already.

use std::collections::HashMap;

use metalens_files::sha256;

/// Longer names are cut.
const LONGEST: usize = 80;
/// Digits of the hash.
const DIGITS: usize = 8;
/// What other things in the folder are called, and what Windows has no file of.
const RESERVED: [&str; 28] = [
    "index", "trends", "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6",
    "com7", "com8", "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
    "batch", "manifest", "report", "charts",
];
const ENDINGS: [&str; 6] = [
    ".trace.zip",
    ".trace",
    ".zip",
    ".xml",
    ".xml.gz",
    ".xml.zst",
];

/// Returns a name for each of (name, path). `owner` tells whose folder a name is already.
pub fn slugs(inputs: &[(&str, &str)], owner: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let plain: Vec<Plain> = inputs.iter().map(|(name, _)| Plain::of(name)).collect();
    let mut count: HashMap<String, usize> = HashMap::new();
    for one in &plain {
        *count.entry(one.text.to_lowercase()).or_default() += 1;
    }
    let slug = |(one, (_, path)): (Plain, &(&str, &str))| {
        let is_alone = count.get(&one.text.to_lowercase()) == Some(&1);
        let owner = owner(&one.text);
        let is_its_own = owner.as_deref() == Some(*path);
        match one.is_enough && (is_its_own || is_alone && owner.is_none()) {
            true => one.text,
            false => hashed(&one.text, path),
        }
    };
    plain.into_iter().zip(inputs).map(slug).collect()
}

fn hashed(text: &str, path: &str) -> String {
    let hash = sha256(path.as_bytes());
    let digits = hash.get(..DIGITS).unwrap_or(&hash);
    format!("{text}-{digits}")
}

/// A name in plain letters.
struct Plain {
    text: String,
    /// Whether it is all of the name: else others may look the same.
    is_enough: bool,
}

impl Plain {
    fn of(name: &str) -> Self {
        let ends = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending));
        let name = ends.unwrap_or(name);
        let mut text = String::new();
        let mut is_enough = true;
        for letter in name.chars() {
            match letter {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' => text.push(letter),
                _ if letter.is_alphanumeric() => is_enough = false,
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
            is_enough: is_enough && !cut.is_empty() && !is_reserved && !is_cut,
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

    fn of(inputs: &[(&str, &str)]) -> Vec<String> {
        slugs(inputs, |_| None)
    }

    #[test]
    fn names_as_people_know_them() {
        let check = |name: &str, expected: &str| assert_eq!(of(&[(name, "p")]), [expected]);
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

    /// Also where letters of both cases are one.
    #[test]
    fn no_two_are_called_the_same() {
        let slugs = of(&[
            ("Run.trace", "1"),
            ("run.trace", "2"),
            ("run!", "3"),
            ("b", "4"),
        ]);
        let mut lower: Vec<String> = slugs.iter().map(|one| one.to_lowercase()).collect();
        lower.sort();
        lower.dedup();
        assert_eq!(lower.len(), 4, "{slugs:?}");
        assert_eq!(slugs[3], "b");
        assert!(
            slugs[0].starts_with("Run-") && slugs[0].len() == 12,
            "{slugs:?}"
        );
    }

    /// Who has a name keeps it, and nobody takes a folder that is another's.
    #[test]
    fn names_stay() {
        let owner = |slug: &str| (slug == "run").then(|| "1".to_owned());
        let both = slugs(&[("run", "1"), ("run", "2")], owner);
        assert_eq!(both[0], "run");
        assert_ne!(both[1], "run");
        assert_ne!(slugs(&[("run", "2")], owner), ["run"]);
    }
}
