//! Substitutes a word for letters that the font lacks, because empty boxes look broken.
//!
//! `行列積_f16` is painted as `‹3 CJK›_f16`. A font with all letters of the world would be ten times
//! as large as the program. Only pixels need this: SVG, alt texts and reports keep the letters
//! themselves.

use std::borrow::Cow;

use crate::embedded_font::has_glyph;

/// Returns a text as it is painted, with each run of missing letters replaced.
pub(crate) fn substitute(text: &str) -> Cow<'_, str> {
    if count(text) == 0 {
        return Cow::Borrowed(text);
    }

    let mut out = String::new();
    let mut run: Option<(&'static str, usize)> = None;
    for letter in text.chars() {
        let script = (!has_glyph(letter)).then(|| script(letter));
        match (&mut run, script) {
            (Some((last, letters)), Some(script)) if *last == script => *letters += 1,
            (run, script) => {
                close(run.take(), &mut out);
                *run = script.map(|script| (script, 1));
            }
        }
        if script.is_none() {
            out.push(letter);
        }
    }

    close(run, &mut out);
    Cow::Owned(out)
}

/// Writes the word for a run of missing letters.
fn close(run: Option<(&str, usize)>, out: &mut String) {
    match run {
        Some((script, 1)) => out.push_str(&format!("‹{script}›")),
        Some((script, letters)) => out.push_str(&format!("‹{letters} {script}›")),
        None => {}
    }
}

/// Returns the number of letters that the font lacks.
pub(crate) fn count(text: &str) -> usize {
    if text.is_ascii() {
        return 0;
    }
    text.chars().filter(|&letter| !has_glyph(letter)).count()
}

/// Returns the text without the letters that the font lacks.
pub(crate) fn remove(text: &str) -> String {
    text.chars().filter(|&letter| has_glyph(letter)).collect()
}

/// Returns the common name of the script that a letter belongs to.
const fn script(letter: char) -> &'static str {
    match letter {
        '\u{0590}'..='\u{05FF}' | '\u{FB1D}'..='\u{FB4F}' => "Hebrew",
        '\u{0600}'..='\u{06FF}' | '\u{0750}'..='\u{077F}' | '\u{08A0}'..='\u{08FF}' => "Arabic",
        '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}' => "Arabic",
        '\u{1100}'..='\u{11FF}' | '\u{2E80}'..='\u{A4CF}' | '\u{AC00}'..='\u{D7FF}' => "CJK",
        '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE4F}' | '\u{FF00}'..='\u{FFEF}' => "CJK",
        '\u{20000}'..='\u{3FFFF}' => "CJK",
        '\u{1F000}'..='\u{1FAFF}' => "emoji",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_letters_are_substituted() {
        let cases = [
            ("plain", "plain"),
            ("ядро µ → Ω", "ядро µ → Ω"),
            ("行列積_f16_タイル64", "‹3 CJK›_f16_‹3 CJK›64"),
            ("gemm 🔥 fused", "gemm ‹emoji› fused"),
            ("한글🚀", "‹2 CJK›‹emoji›"),
            ("نواة_الضرب", "‹4 Arabic›_‹5 Arabic›"),
            ("שלום", "‹4 Hebrew›"),
            ("\u{10FFFF}", "‹other›"),
        ];
        for (text, expected) in cases {
            assert_eq!(substitute(text), expected);
            assert_eq!(count(&substitute(text)), 0, "{text}");
        }
    }
}
