//! Draws flame graphs.

use std::io;

use inferno::flamegraph::color::{BackgroundColor, Color};
use inferno::flamegraph::{self, Options, TextTruncateDirection};
use metalens_analyzer::{CollapsedStacks, WeightUnit};

use crate::folded::lines;

/// The texts above a flame graph. A picture of 400 pixels has room for about forty letters of the
/// title, and fifty-five of the subtitle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// First line, in large letters.
    pub title: String,
    /// Second line, in small letters.
    pub subtitle: String,
}

/// Draws stacks: a bar per function, as wide as its weight, above the function that called it.
///
/// # Errors
/// An error if there are no stacks.
pub fn svg(stacks: &CollapsedStacks, heading: &Heading) -> io::Result<Vec<u8>> {
    let (unit, factor) = match stacks.unit {
        WeightUnit::Ns => ("µs", 1e-3),
        WeightUnit::Cycles => ("cycles", 1.0),
        WeightUnit::Samples => ("samples", 1.0),
    };
    drawn(&lines(stacks), unit, factor, heading)
}

/// Draws folded stacks, with weights in a unit after they are multiplied by a factor.
fn drawn(folded: &str, unit: &str, factor: f64, heading: &Heading) -> io::Result<Vec<u8>> {
    let mut options = Options::default();
    options.title.clone_from(&heading.title);
    options.subtitle = Some(heading.subtitle.clone());
    // The hash of its name gives a function the same color in all pictures.
    options.hash = true;
    options.bgcolors = Some(BackgroundColor::Flat(Color::new(238, 238, 238)));
    // The end of a name has the parameters, which readers need least.
    options.text_truncate_direction = TextTruncateDirection::Right;
    (options.count_name, options.factor) = (unit.to_owned(), factor);

    let mut picture = Vec::new();
    flamegraph::from_lines(&mut options, folded.lines(), &mut picture)?;
    Ok(on_dark_screens(picture))
}

/// Adds the style for dark screens: a picture follows its reader's. Names stay dark, because they are on
/// bright bars.
fn on_dark_screens(mut picture: Vec<u8>) -> Vec<u8> {
    const END: &[u8] = b"</style>";
    const DARK: &[u8] = b"@media (prefers-color-scheme: dark) {
#background stop { stop-color:#0d1117; }
#title, #subtitle, #details, #matched, #search, #unzoom { fill:#eceff3; }
#search { opacity:0.6; }
}
";
    let end = picture.windows(END.len()).position(|part| part == END);
    if let Some(end) = end {
        picture.splice(end..end, DARK.iter().copied());
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folded::tests::stacks;

    fn heading() -> Heading {
        Heading {
            title: "CPU stacks of <app>".to_owned(),
            subtitle: "3 of 4 samples".to_owned(),
        }
    }

    /// Returns the texts of the tooltips, sorted.
    fn tooltips(svg: &[u8]) -> Vec<String> {
        let text = std::str::from_utf8(svg).unwrap();
        let options = roxmltree::ParsingOptions {
            allow_dtd: true,
            ..roxmltree::ParsingOptions::default()
        };
        let document = roxmltree::Document::parse_with_options(text, options).unwrap();
        let titles = document
            .descendants()
            .filter(|node| node.has_tag_name("title"));
        let mut titles: Vec<String> = titles
            .filter_map(|title| title.text().map(str::to_owned))
            .collect();
        titles.sort();
        titles
    }

    #[test]
    fn a_bar_is_as_wide_as_the_weight_of_a_function_and_its_callees() {
        let stacks = stacks(&[
            ("app;Main;map<int>;encode", 3_000_000),
            ("app;Main;map<int>;block 12", 1_000_000),
            ("app;Worker;sleep", 4_000_000),
        ]);
        let picture = svg(&stacks, &heading()).unwrap();
        assert_eq!(
            tooltips(&picture),
            [
                "Main (4,000 µs, 50.00%)",
                "Worker (4,000 µs, 50.00%)",
                "all (8,000 µs, 100%)",
                "app (8,000 µs, 100.00%)",
                "block\u{a0}12 (1,000 µs, 12.50%)",
                "encode (3,000 µs, 37.50%)",
                "map<int> (4,000 µs, 50.00%)",
                "sleep (4,000 µs, 50.00%)",
            ]
        );
        let text = String::from_utf8(picture.clone()).unwrap();
        assert!(text.contains("CPU stacks of &lt;app&gt;") && text.contains("3 of 4 samples"));
        assert_eq!(
            svg(&stacks, &heading()).unwrap(),
            picture,
            "each time the same"
        );
    }

    /// Texts outside of bars and the background have a second color.
    #[test]
    fn a_dark_screen_has_a_dark_picture() {
        let picture = svg(&stacks(&[("app;Main", 1)]), &heading()).unwrap();
        let text = String::from_utf8(picture).unwrap();
        let (_, dark) = text.split_once("(prefers-color-scheme: dark)").unwrap();
        let (dark, _) = dark.split_once("</style>").unwrap();
        for id in ["background", "title", "subtitle", "details", "search"] {
            assert!(dark.contains(&format!("#{id}")), "{id}");
            assert!(text.contains(&format!("id=\"{id}\"")), "{id}");
        }
    }

    #[test]
    fn nothing_cannot_be_drawn() {
        assert!(svg(&stacks(&[]), &heading()).is_err());
    }
}
