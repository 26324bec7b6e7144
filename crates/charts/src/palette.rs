//! Defines the colors of all charts, from the palette by Okabe and Ito, which color-blind people
//! can distinguish.

use metalens_analyzer::Cause;

/// Theme of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Dark text on white.
    #[default]
    Light,
    /// Light text on black.
    Dark,
}

/// A color with its opacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Color {
    pub(crate) red: u8,
    pub(crate) green: u8,
    pub(crate) blue: u8,
    /// Opacity; 255 is opaque.
    pub(crate) alpha: u8,
}

impl Color {
    /// Makes an opaque color from a number, such as `0x0072B2`.
    pub(crate) const fn opaque(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Self {
            red,
            green,
            blue,
            alpha: 255,
        }
    }

    /// Returns the color in CSS notation, such as `#0072b2`.
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }

    /// Returns black or white, whichever reads better on the color: black if its luminance, which
    /// is about proportional to the squares, is above a fifth of white's.
    pub(crate) fn ink_on_it(self) -> Self {
        let [red, green, blue] = [self.red, self.green, self.blue].map(u32::from);
        let luminance = 2_126 * red * red + 7_152 * green * green + 722 * blue * blue;
        if luminance > 136_000_000 {
            Self::opaque(0x11_11_11)
        } else {
            Self::opaque(0xFF_FF_FF)
        }
    }
}

/// Colors of the elements of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Palette {
    pub(crate) background: Color,
    /// Background of lanes and plots.
    pub(crate) panel: Color,
    pub(crate) grid: Color,
    pub(crate) axis: Color,
    pub(crate) text: Color,
    pub(crate) faint: Color,
    /// Work of the analyzed process.
    pub(crate) process: Color,
    /// Work of other processes.
    pub(crate) others: Color,
    /// Limits, and the frame of the enlarged stretch.
    pub(crate) mark: Color,
    /// Loud text: the color of alarm, dark or light enough to read.
    pub(crate) loud: Color,
    /// Warm-up at the beginning of the window.
    pub(crate) warm_up: Color,
    /// Phases, which are distinguished by their names; shades let neighbors differ.
    pub(crate) phases: [Color; 3],
    /// Lowest and highest performance state.
    states: [Color; 2],
    theme: Theme,
}

impl Palette {
    pub(crate) fn for_theme(theme: Theme) -> Self {
        match theme {
            Theme::Light => Self {
                background: Color::opaque(0xFF_FF_FF),
                panel: Color::opaque(0xF1_F3_F5),
                grid: Color::opaque(0xDD_E1_E6),
                axis: Color::opaque(0x9A_A1_A9),
                text: Color::opaque(0x1A_1D_21),
                faint: Color::opaque(0x57_5E_66),
                process: Color::opaque(0x00_72_B2),
                others: Color::opaque(0x6B_73_7B),
                mark: Color::opaque(0x1A_1D_21),
                loud: Color::opaque(0xB8_4E_00),
                warm_up: Color::opaque(0xE0_C4_00),
                phases: [0xD9_C7_A7, 0xC4_AE_84, 0xE4_D6_BC].map(Color::opaque),
                states: [0xD0_CB_EE, 0x8A_82_C9].map(Color::opaque),
                theme,
            },
            Theme::Dark => Self {
                background: Color::opaque(0x0D_11_17),
                panel: Color::opaque(0x1B_21_29),
                grid: Color::opaque(0x30_37_41),
                axis: Color::opaque(0x6B_74_80),
                text: Color::opaque(0xEC_EF_F3),
                faint: Color::opaque(0xA3_AC_B7),
                process: Color::opaque(0x2B_8F_D6),
                others: Color::opaque(0x7C_85_90),
                mark: Color::opaque(0xEC_EF_F3),
                loud: Color::opaque(0xF0_7A_1F),
                warm_up: Color::opaque(0xD9_CD_3A),
                phases: [0x5C_51_40, 0x45_3D_31, 0x73_66_52].map(Color::opaque),
                states: [0x41_3E_68, 0x85_7D_C7].map(Color::opaque),
                theme,
            },
        }
    }

    /// Returns the shade of a performance state, where 0 is the lowest and 1 the highest. A higher
    /// state stands out more from the background.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between two bytes"
    )]
    pub(crate) fn state(&self, strength: f64) -> Color {
        let [low, high] = self.states;
        let between = |low: u8, high: u8| {
            let (low, high) = (f64::from(low), f64::from(high));
            (low + (high - low) * strength).round() as u8
        };
        Color {
            red: between(low.red, high.red),
            green: between(low.green, high.green),
            blue: between(low.blue, high.blue),
            alpha: 255,
        }
    }

    /// Returns the color of a cause, the same on every chart.
    pub(crate) const fn cause(&self, cause: Cause) -> Color {
        Color::opaque(match (cause, self.theme) {
            (Cause::Completion, _) => 0xE6_9F_00,
            (Cause::Host, _) => 0xD5_5E_00,
            // Darker than the gray of other processes, for people who cannot see green.
            (Cause::Encoding, Theme::Light) => 0xCC_79_A7,
            (Cause::Encoding, Theme::Dark) => 0xE5_A3_C8,
            (Cause::Submission, _) => 0x00_9E_73,
            (Cause::Queued, _) => 0x56_B4_E9,
            (Cause::Contention, Theme::Light) => 0x6B_73_7B,
            (Cause::Contention, Theme::Dark) => 0x7C_85_90,
            (Cause::Unknown, Theme::Light) => 0xB4_BA_C1,
            (Cause::Unknown, Theme::Dark) => 0x55_5E_69,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the contrast as the Web Content Accessibility Guidelines define it.
    fn contrast_ratio(one: Color, other: Color) -> f64 {
        let luminance = |color: Color| {
            let linear = |byte: u8| match f64::from(byte) / 255.0 {
                part if part <= 0.04045 => part / 12.92,
                part => ((part + 0.055) / 1.055).powf(2.4),
            };
            let [red, green, blue] = [color.red, color.green, color.blue].map(linear);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn text_is_legible() {
        for theme in [Theme::Light, Theme::Dark] {
            let palette = Palette::for_theme(theme);
            let own = [palette.text, palette.faint, palette.loud];
            let plain = own.map(|ink| (ink, palette.background));
            let causes = Cause::ALL.map(|cause| palette.cause(cause));
            let fills = causes.into_iter().chain(palette.phases);
            let fills = fills.chain([palette.process, palette.warm_up]);
            let states = [0.0, 0.25, 0.5, 0.75, 1.0].map(|state| palette.state(state));
            let fills = fills.chain(states).map(|fill| (fill.ink_on_it(), fill));
            for (ink, ground) in fills.chain(plain) {
                let contrast = contrast_ratio(ink, ground);
                let what = format!("{theme:?}: {} on {}", ink.hex(), ground.hex());
                assert!(contrast >= 4.5, "{what}: {contrast:.2}");
            }
        }
    }
}
