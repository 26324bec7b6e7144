//! Keeping within a limit: rows go first, then whole sections, the least important
//! first; never a part of a row, a table's head or a block.

use anyhow::Context;

/// A part of a page that is there or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section<'a> {
    /// What it is called.
    pub(super) name: &'a str,
    /// When it goes: 0 never, else the highest first.
    pub(super) goes: u8,
    /// How many rows it could show, if any may be left out.
    pub(super) rows: Option<usize>,
    /// Its template.
    pub(super) source: &'a str,
}

/// Renders a section with so many of its rows; the last one says what was left out.
pub(super) type Render<'a> =
    dyn Fn(&Section<'_>, usize, &[&str]) -> Result<String, minijinja::Error> + 'a;

/// Room for the sentence that says what was left out.
const ROOM_TO_TELL: usize = 400;

/// The sections of a template.
pub(super) fn sections<'a>(
    template: &'a str,
    rows_of: &dyn Fn(&str) -> usize,
) -> anyhow::Result<Vec<Section<'a>>> {
    let mut sections = Vec::new();
    for part in template.split("=== ").skip(1) {
        let (head, source) = part.split_once('\n').context("a section has no end")?;
        let mut words = head.split(' ');
        let (name, goes) = (words.next(), words.next().and_then(|one| one.parse().ok()));
        let (name, goes) = name
            .zip(goes)
            .with_context(|| format!("no section: {head}"))?;
        sections.push(Section {
            name,
            goes,
            rows: words.next().map(|_| rows_of(name)),
            source,
        });
    }
    Ok(sections)
}

/// The page, at most so many bytes long.
pub(super) fn fitted(
    sections: &[Section<'_>],
    limit: usize,
    render: &Render<'_>,
) -> anyhow::Result<String> {
    let mut left_out: Vec<&str> = Vec::new();
    let mut parts = Vec::new();
    for section in sections {
        parts.push(render(section, section.rows.unwrap_or(0), &left_out)?);
    }
    let room = limit.saturating_sub(ROOM_TO_TELL);
    let length = |parts: &[String]| parts.iter().map(String::len).sum::<usize>();
    let mut order: Vec<usize> = (0..sections.len()).collect();
    order.sort_by_key(|&at| std::cmp::Reverse(sections.get(at).map(|one| one.goes)));
    for at in order {
        let (Some(section), whole) = (sections.get(at), length(&parts)) else {
            continue;
        };
        let Some(own) = parts.get(at).map(String::len) else {
            continue;
        };
        if whole <= room || section.goes == 0 {
            break;
        }
        let shorter = shortened(section, room.saturating_sub(whole - own), render)?;
        if shorter.is_empty() && own > 0 {
            left_out.push(section.name);
        }
        if let Some(part) = parts.get_mut(at) {
            *part = shorter;
        }
    }
    let names: Vec<String> = left_out.iter().map(|name| name.replace('_', " ")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if let (Some(section), Some(part)) = (sections.last(), parts.last_mut()) {
        *part = render(section, 0, &names)?;
    }
    let page = parts.concat();
    anyhow::ensure!(
        page.len() <= limit,
        "even the shortest has {} bytes, and {limit} are allowed",
        page.len()
    );
    Ok(page)
}

/// A section with as many rows as there is room for; nothing if not even one fits.
fn shortened(section: &Section<'_>, room: usize, render: &Render<'_>) -> anyhow::Result<String> {
    let (mut fits, mut fits_not) = (0, section.rows.unwrap_or(0));
    let mut best = String::new();
    while fits_not - fits > 1 {
        let tried = fits + (fits_not - fits) / 2;
        let text = render(section, tried, &[])?;
        match text.len() <= room {
            true => (fits, best) = (tried, text),
            false => fits_not = tried,
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row is `x` and a line's end; the last section says what is missing.
    fn render(
        section: &Section<'_>,
        rows: usize,
        left_out: &[&str],
    ) -> Result<String, minijinja::Error> {
        Ok(match section.name {
            "foot" => format!("without {}\n", left_out.join(", ")),
            _ => format!("{}{}", section.source, "x\n".repeat(rows)),
        })
    }

    #[test]
    fn the_least_important_goes_first() {
        let check = |limit: usize, expected: &str| {
            let template =
                "=== head 0\nhead\n=== a 1 rows\na\n=== c 3 rows\nc\n=== b 2\nb\n=== foot 0\n-\n";
            let sections = sections(template, &|_| 4).unwrap();
            let page = fitted(&sections, ROOM_TO_TELL + limit, &render).unwrap();
            assert_eq!(page.replace('\n', " "), expected, "{limit}");
        };
        // head 5, a 2 + 8, c 2 + 8, b 2, foot 9.
        check(36, "head a x x x x c x x x x b without  ");
        check(35, "head a x x x x c x x x b without  ");
        check(30, "head a x x x x c x b without  ");
        check(29, "head a x x x x b without c ");
        check(25, "head a x x x x without c, b ");
        check(23, "head a x x x without c, b ");
        check(15, "head without c, b, a ");
    }

    #[test]
    fn what_must_be_there_must_fit() {
        let sections = sections("=== head 0\nhead\n", &|_| 0).unwrap();
        assert!(fitted(&sections, 3, &render).is_err());
    }
}
