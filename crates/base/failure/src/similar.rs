//! Finds the known name that somebody probably meant.

/// Least Jaro–Winkler likeness of a name that is suggested: one or two wrong letters in a word.
const ALIKE: f64 = 0.8;
/// Least length of a word that is searched for inside of names: any name has most shorter ones.
const LONG_ENOUGH: usize = 3;

/// Returns the known name that is most like a word, if one is like it: with other letters, or with
/// the word inside of it.
pub fn similar<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        if word.len() >= LONG_ENOUGH && name.contains(&word) {
            // Below each name with few wrong letters, and the shortest such name first.
            let letters = u32::try_from(name.len()).unwrap_or(u32::MAX);
            return strsim::jaro_winkler(&word, &name).max(ALIKE + 0.1 / f64::from(letters));
        }
        strsim::jaro_winkler(&word, &name)
    };
    let known = known.into_iter().map(|name| (likeness(name), name));
    let best = known.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|&(likeness, _)| likeness > ALIKE)
        .map(|(_, name)| name)
}

/// Returns `did you mean NAME?` with a space after it, or nothing if no known name is like the word.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    similar(word, known).map_or_else(String::new, |name| format!("did you mean `{name}`? "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_like_the_word_is_found() {
        let check = |word: &str, known: &[&str], expected: Option<&str>| {
            assert_eq!(similar(word, known.iter().copied()), expected, "{word}");
        };
        check("kernal", &["verdict", "kernels", "gaps"], Some("kernels"));
        check("gap", &["gaps", "longest-gaps"], Some("gaps"));
        check("Eagr", &["eager", "fused", "batched"], Some("eager"));
        check(
            "utilisation",
            &["average-gap", "utilization"],
            Some("utilization"),
        );
        check(
            "metal-gpu-interval",
            &["kdebug", "metal-gpu-intervals", "metal-gpu-info"],
            Some("metal-gpu-intervals"),
        );
        check(
            "durtion_ns",
            &["duration_ns", "start_ns"],
            Some("duration_ns"),
        );
        check(
            "bench",
            &["Compositor", "my-eager-bench"],
            Some("my-eager-bench"),
        );
        check("timeline", &["kernels", "gaps"], None);
        check("", &["kernels", "gaps"], None);
        check("kernels", &[], None);
        assert_eq!(did_you_mean("gap", ["gaps"]), "did you mean `gaps`? ");
        assert_eq!(did_you_mean("zzz", ["gaps"]), "");
    }
}
