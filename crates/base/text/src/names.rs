//! Shortens names so that no two different ones look alike.
//!
//! Names of kernels are long and begin alike: `steel_gemm_fused_nt_float16_bm64_bn64…`. A cut in
//! the middle, which is best for one name, may remove just what tells two apart. So names are
//! shortened together:
//!
//! 1. A run of one letter is folded: `Model_fp16++++++++` becomes `Model_fp16+×8`.
//! 2. A name that is still too long keeps both ends, unless another one then looks the same.
//! 3. Those that do keep what differs, with as much of their common ends as fits:
//!    `gemm_f…_bm64_…axpby`, `gemm_f…_bm32_…axpby`.

use std::collections::{HashMap, HashSet};

/// Shortest run of one letter that is folded.
const RUN: usize = 8;
/// Mark of a part that was left out.
const LEFT_OUT: char = '…';

/// Folds long runs of one letter: `Model_fp16++++++++++` becomes `Model_fp16+×10`.
pub fn fold_runs(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut folded = String::with_capacity(name.len());
    for run in letters.chunk_by(|a, b| a == b) {
        match run {
            // Digits before a count would be read as a part of it.
            [letter, ..] if run.len() >= RUN && !letter.is_ascii_digit() => {
                folded.push(*letter);
                folded.push_str(&format!("×{}", run.len()));
            }
            _ => folded.extend(run),
        }
    }
    folded
}

/// Shortens names until each fits; equal names stay equal, and different ones stay different.
/// Names that fit stay as they are. `fits` must accept every text that is shorter than one that
/// it accepts. Names for which nothing fits are cut to a number.
pub fn shorten_all(names: &[&str], fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut distinct: Vec<&str> = Vec::new();
    let mut known = HashSet::new();
    for name in names {
        if known.insert(*name) {
            distinct.push(name);
        }
    }

    // Names that fit come first: nobody else may look like them.
    let mut taken: HashSet<String> = HashSet::new();
    let mut short: HashMap<&str, String> = HashMap::new();
    for &name in distinct.iter().filter(|name| fits(name)) {
        taken.insert(name.to_owned());
        short.insert(name, name.to_owned());
    }
    let long: Vec<&str> = distinct.into_iter().filter(|name| !fits(name)).collect();
    let folded: Vec<String> = long.iter().map(|name| fold_runs(name)).collect();
    let letters: Vec<Vec<char>> = folded.iter().map(|name| name.chars().collect()).collect();
    let members: Vec<&[char]> = letters.iter().map(Vec::as_slice).collect();
    for (number, (name, text)) in long.iter().zip(apart(&members, fits)).enumerate() {
        // Where nothing that differs has room, marks alone may be too long.
        let text = if taken.contains(&text) || !fits(&text) {
            numbered(&text, number, &taken, fits)
        } else {
            text
        };
        taken.insert(text.clone());
        short.insert(name, text);
    }
    let text = |name: &&str| short.get(name).cloned().unwrap_or_default();
    names.iter().map(text).collect()
}

/// Shortens names; those that then look alike keep what differs between them. Some may still
/// look alike.
fn apart(names: &[&[char]], fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut texts: Vec<String> = names.iter().map(|name| both_ends(name, fits)).collect();

    let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, text) in texts.iter().enumerate() {
        alike.entry(text.clone()).or_default().push(index);
    }
    for group in alike.into_values().filter(|group| group.len() > 1) {
        let members: Vec<&[char]> = group
            .iter()
            .filter_map(|&index| names.get(index).copied())
            .collect();
        for (index, text) in group.into_iter().zip(differing(&members, fits)) {
            if let Some(place) = texts.get_mut(index) {
                *place = text;
            }
        }
    }
    texts
}

/// Shortens names around what differs between them.
fn differing(names: &[&[char]], fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let (head, tail) = common_ends(names);
    let middles: Vec<&[char]> = names
        .iter()
        .map(|name| name.get(head..name.len() - tail).unwrap_or(&[]))
        .collect();
    let (Some(first), true) = (names.first(), head + tail > 0) else {
        return names.iter().map(|name| both_ends(name, fits)).collect();
    };
    let prefix = first.get(..head).unwrap_or(&[]);
    let suffix = first.get(first.len() - tail..).unwrap_or(&[]);

    let around = |keep: usize, middle: &str| {
        // The suffix gets half, and what a short prefix leaves.
        let ahead = head.min(keep.div_ceil(2).max(keep.saturating_sub(tail)));
        let behind = tail.min(keep - ahead);
        let start: String = prefix.iter().take(ahead).collect();
        let end: String = suffix.iter().skip(tail - behind).collect();
        let [before, after] = [(ahead, head), (behind, tail)]
            .map(|(kept, length)| if kept < length { "…" } else { "" });
        format!("{start}{before}{middle}{after}{end}")
    };
    let texts: Vec<String> = middles
        .iter()
        .map(|middle| middle.iter().collect())
        .collect();
    let all_fit = |keep: usize| texts.iter().all(|text| fits(&around(keep, text)));
    if all_fit(0) {
        let keep = most(head + tail, all_fit);
        return texts.iter().map(|text| around(keep, text)).collect();
    }

    // What differs has no room either: it is shortened in turn, without the common ends.
    let fits_inside = |text: &str| fits(&around(0, text));
    let texts = apart(&middles, &fits_inside);
    texts.iter().map(|text| around(0, text)).collect()
}

/// Returns the numbers of letters that all names begin and end with.
fn common_ends(names: &[&[char]]) -> (usize, usize) {
    let Some((first, rest)) = names.split_first() else {
        return (0, 0);
    };
    let same =
        |pairs: &mut dyn Iterator<Item = (&char, &char)>| pairs.take_while(|(a, b)| a == b).count();
    let shortest = names.iter().map(|name| name.len()).min().unwrap_or(0);
    let heads = rest
        .iter()
        .map(|name| same(&mut first.iter().zip(name.iter())));
    let head = heads.min().unwrap_or(0).min(shortest);
    let tails = rest
        .iter()
        .map(|name| same(&mut first.iter().rev().zip(name.iter().rev())));
    (head, tails.min().unwrap_or(0).min(shortest - head))
}

/// Shortens a text in the middle until it fits: both ends of a name tell.
pub fn shorten(text: &str, fits: &dyn Fn(&str) -> bool) -> String {
    both_ends(&text.chars().collect::<Vec<char>>(), fits)
}

fn both_ends(name: &[char], fits: &dyn Fn(&str) -> bool) -> String {
    let whole: String = name.iter().collect();
    if fits(&whole) {
        return whole;
    }
    let text = |keep: usize| {
        let (head, tail) = (keep.div_ceil(2), keep / 2);
        let head = name.iter().take(head);
        let tail = name.iter().skip(name.len() - tail);
        head.chain(&[LEFT_OUT]).chain(tail).collect::<String>()
    };
    text(most(name.len().saturating_sub(1), |keep| fits(&text(keep))))
}

/// Returns the largest number up to a limit that fits, or 0.
fn most(limit: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut fitting, mut failing) = (0, limit + 1);
    while fitting + 1 < failing {
        let middle = fitting.midpoint(failing);
        if fits(middle) {
            fitting = middle;
        } else {
            failing = middle;
        }
    }
    fitting
}

/// Returns a text with a number at its end that nothing else has.
fn numbered(
    text: &str,
    number: usize,
    taken: &HashSet<String>,
    fits: &dyn Fn(&str) -> bool,
) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut numbers = number + 1..;
    numbers
        .find_map(|number| {
            let with = |keep: usize| {
                let head: String = letters.iter().take(keep).collect();
                format!("{head}{LEFT_OUT}{number}")
            };
            let text = with(most(letters.len(), |keep| fits(&with(keep))));
            (!taken.contains(&text)).then_some(text)
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn short(names: &[&str], room: usize) -> Vec<String> {
        shorten_all(names, &|text| text.chars().count() <= room)
    }

    #[test]
    fn runs_are_folded() {
        let cases = [
            ("Model_fp16++++++++++", "Model_fp16+×10"),
            ("Model_fp16+++++++", "Model_fp16+++++++"),
            ("________sum________", "_×8sum_×8"),
            ("f00000000", "f00000000"),
            ("", ""),
        ];
        for (name, expected) in cases {
            assert_eq!(fold_runs(name), expected);
        }
    }

    #[test]
    fn names_keep_what_differs() {
        fn check(names: &[&str], room: usize, expected: &[&str]) {
            assert_eq!(short(names, room), expected);
        }
        // Names that fit, alone or not, stay.
        check(&["matmul", "softmax"], 7, &["matmul", "softmax"]);
        check(&["a_long_name_of_a_kernel"], 9, &["a_lo…rnel"]);
        // Both ends are the same, and the middle differs.
        check(
            &["steel_gemm_bm64_bn64_axpby", "steel_gemm_bm32_bn64_axpby"],
            14,
            &["steel…64…axpby", "steel…32…axpby"],
        );
    }

    /// The 34 encoders of a real program: they differ in the number of letters at their end.
    #[test]
    fn runs_of_different_lengths_stay_apart() {
        let names: Vec<String> = (1..=34)
            .map(|count| format!("Model_fp16_a_long_name_of_a_graph{}", "+".repeat(count)))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let texts = short(&names, 16);
        assert_eq!(texts[0], "Model_fp…_graph+");
        assert_eq!(texts[33], "Model_fp…aph+×34");
        assert_distinct(&names, &texts, 16);
    }

    #[test]
    fn names_without_room_for_what_differs_fit() {
        let names = ["aaaab++++++", "aab+++", "aaaaa++++++", "aaa++++++"];
        let texts = short(&names, 5);
        assert_distinct(&names, &texts, 5);
    }

    fn assert_distinct(names: &[&str], texts: &[String], room: usize) {
        for (index, (name, text)) in names.iter().zip(texts).enumerate() {
            assert!(text.chars().count() <= room, "{text}");
            for (other, other_text) in names.iter().zip(texts).skip(index + 1) {
                assert_eq!(name == other, text == other_text, "{name} {other}: {text}");
            }
        }
    }

    proptest! {
        /// Different names stay different, equal ones equal, and all fit.
        #[test]
        fn no_two_names_look_alike(
            names in proptest::collection::vec("[ab]{0,3}(x|yy)?[ab]{0,24}[+]{0,12}", 0..24),
            room in 5_usize..30,
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let texts = short(&names, room);
            assert_distinct(&names, &texts, room);
        }
    }
}
