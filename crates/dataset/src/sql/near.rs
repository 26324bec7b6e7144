//! The names that are most like one that nobody knows.

/// The most alike names, at most three: those that begin alike or are spelled alike.
pub(crate) fn nearest<'n>(name: &str, all: impl Iterator<Item = &'n str>) -> Vec<String> {
    let name = name.to_lowercase();
    let distance = |other: &str| match other.contains(&name) || name.contains(other) {
        true => 1,
        false => edits(&name, other),
    };
    let mut near: Vec<(usize, &str)> = all.map(|one| (distance(one), one)).collect();
    near.retain(|&(distance, other)| distance <= 1 + other.len() / 5);
    near.sort_unstable();
    near.dedup();
    near.into_iter()
        .take(3)
        .map(|(_, one)| one.to_owned())
        .collect()
}

/// How many letters must be added, taken away or changed.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = i;
        let mut next = vec![i + 1];
        for (&y, &above) in b.iter().zip(row.iter().skip(1)) {
            let left = next.last().copied().unwrap_or_default();
            let changed = before + usize::from(x != y);
            next.push(changed.min(above + 1).min(left + 1));
            before = above;
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, expected) in [
            ("", "", 0),
            ("a", "", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(edits(a, b), expected, "{a} {b}");
        }
    }
}
