//! Provides the embedded font and the letters that it has.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef};

/// Returns the embedded font.
pub(crate) fn font() -> Option<&'static FontRef<'static>> {
    static FONT: OnceLock<Option<FontRef<'static>>> = OnceLock::new();
    FONT.get_or_init(|| FontRef::try_from_slice(dejavu::sans::regular()).ok())
        .as_ref()
}

/// Returns whether the font can draw a letter: it has the glyph, and the glyph does not depend on
/// its neighbors, which takes more than a font.
pub(crate) fn has_glyph(letter: char) -> bool {
    let is_joined = matches!(letter, '\u{0590}'..='\u{08FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}');
    !is_joined && font().is_some_and(|font| font.glyph_id(letter).0 != 0)
}
