//! Finds the turns of a loop in the sequence of its work.

use rustc_hash::FxHashMap;

/// Smallest number of starts that make a series.
pub(super) const STARTS: usize = 6;
/// Share of a sequence that must equal the sequence one turn before, in percent.
pub(super) const SAME_PCT: usize = 80;
/// Share of distances that must equal the usual one, in percent.
const EVEN_PCT: usize = 90;
/// Number of turns that are tried, the longest first.
const TRIED: usize = 16;

/// Returns a number of a list, which has fewer than four billion.
pub(super) fn numbered(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// Returns the starts of the turns in a sequence: each place, if nearly all are alike; else those of the
/// longest turn that comes back.
pub(super) fn turns(line: &[u32]) -> Option<Vec<usize>> {
    if line.len() < STARTS {
        return None;
    }
    let places = places_of(line);
    let most = places.iter().map(Vec::len).max()?;
    if most * 100 >= line.len() * SAME_PCT && returns(line, 1) {
        return Some((0..line.len()).collect());
    }
    marked(line).or_else(|| {
        // A turn may repeat its parts: of each stretch of one, the first counts, with their number.
        let mut numbers: FxHashMap<(u32, usize), u32> = FxHashMap::default();
        let mut firsts = Vec::new();
        let mut runs = Vec::new();
        let mut at = 0;
        for run in line.chunk_by(|one, next| one == next) {
            let next = numbered(numbers.len());
            let part = (run.first().copied()?, run.len());
            runs.push(*numbers.entry(part).or_insert(next));
            firsts.push(at);
            at += run.len();
        }
        let turns = marked(&runs)?;
        Some(
            turns
                .iter()
                .filter_map(|&turn| firsts.get(turn).copied())
                .collect(),
        )
    })
}

/// Returns the starts of the longest turn that comes back after a fixed number of places.
pub(super) fn marked(line: &[u32]) -> Option<Vec<usize>> {
    let places = places_of(line);
    let mut candidates: Vec<_> = places
        .iter()
        .enumerate()
        .filter_map(|(work, places)| {
            let distance = usual_distance(places, EVEN_PCT).filter(|_| places.len() >= STARTS)?;
            let is_everywhere = places.len() * distance * 2 >= line.len();
            let first = std::cmp::Reverse(places.first());
            (distance >= 2 && is_everywhere).then_some((distance, first, work))
        })
        .collect();
    // Of several with one distance the one that comes first counts; its place is unique.
    candidates.sort_unstable_by(|a, b| b.cmp(a));
    candidates.dedup_by_key(|&mut (distance, ..)| distance);
    let mut longest = candidates.into_iter().take(TRIED);
    let (distance, _, work) = longest.find(|&(distance, ..)| returns(line, distance))?;

    let places = places.get(work)?;
    // A turn has no beginning of its own: it is that of the first whole turn.
    let first = *places.first()? as usize;
    let is_same = |before: usize| {
        let (one, next) = (
            line.get(first - before),
            line.get(first - before + distance),
        );
        one == next
    };
    let back = (1..distance.min(first + 1)).take_while(|&before| is_same(before));
    let back = back.last().unwrap_or(0);
    Some(places.iter().map(|&place| place as usize - back).collect())
}

fn places_of(line: &[u32]) -> Vec<Vec<u32>> {
    let count = line.iter().max().map_or(0, |&work| work as usize + 1);
    let mut places = vec![Vec::new(); count];
    for (place, &work) in (0..).zip(line) {
        if let Some(places) = places.get_mut(work as usize) {
            places.push(place);
        }
    }
    places
}

/// Returns the distance from each place to the next, if it is nearly always the same.
pub(super) fn usual_distance(places: &[u32], even_pct: usize) -> Option<usize> {
    if places.len() + 1 < STARTS {
        return None;
    }
    let later = places.iter().skip(1);
    let mut distances: Vec<u32> = places
        .iter()
        .zip(later)
        .map(|(this, next)| next - this)
        .collect();
    let middle = distances.len() / 2;
    let usual = *distances.select_nth_unstable(middle).1;
    let even = distances
        .iter()
        .filter(|&&distance| distance == usual)
        .count();
    (even * 100 >= distances.len() * even_pct).then_some(usual as usize)
}

/// Returns whether nearly all equal the one a distance before.
pub(super) fn returns(line: &[u32], distance: usize) -> bool {
    let later = line.get(distance..).unwrap_or(&[]);
    let same = line.iter().zip(later).filter(|(this, next)| this == next);
    same.count() * 100 >= later.len() * SAME_PCT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the first start of a turn in work given as letters, and the number of turns.
    fn check(work: &str, expected: Option<(usize, usize)>) {
        let line: Vec<u32> = work.bytes().map(u32::from).collect();
        let found = turns(&line).map(|starts| (starts[0], starts.len()));
        assert_eq!(found, expected, "{work}");
    }

    #[test]
    fn work_that_comes_back_makes_turns() {
        check(&"abcd".repeat(10), Some((0, 10)));
        // The longest turn counts: tokens, not the layers in them.
        let token = "e".to_owned() + &"qkvo".repeat(10) + "h";
        check(&token.repeat(8), Some((0, 8)));
        // Other work comes first, and once in between.
        let disturbed = "xyz".to_owned() + &"abcd".repeat(20) + "s" + &"abcd".repeat(20);
        check(&disturbed, Some((3, 40)));
        // One kernel, and one that is rarely another.
        check(&"a".repeat(100), Some((0, 100)));
        check(&("b".to_owned() + &"a".repeat(99)), Some((0, 100)));
        // Long runs: neither kernel makes a turn alone.
        let pass = "f".repeat(12) + &"b".repeat(18);
        check(&pass.repeat(9), Some((0, 9)));
    }

    #[test]
    fn unclear_repetitions_make_none() {
        check(&"abcd".repeat(5), None);
        check(
            "31415926535897932384626433832795028841971693993751058209749445923078164",
            None,
        );
        // One comes evenly between others that never come back.
        check("aqwertaasdfgazxcvbayuiopahjklmanbgtryaplmkoa", None);
    }
}
