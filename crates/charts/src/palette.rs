//! The colours of all charts, by Okabe and Ito: told apart by everybody.

use metalens_analyzer::Cause;

/// Dark on light, or light on dark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on black.
    Dark,
}

/// A colour, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Colour {
    pub(crate) red: u8,
    pub(crate) green: u8,
    pub(crate) blue: u8,
    /// 255 is all of it.
    pub(crate) alpha: u8,
}

impl Colour {
    /// `0x0072B2`, all of it.
    pub(crate) const fn of(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Self {
            red,
            green,
            blue,
            alpha: 255,
        }
    }

    /// `#0072b2`.
    pub(crate) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }

    /// Which of black and white reads better on it: black where its luminance, which
    /// goes about with the squares, is above a fifth of white's.
    pub(crate) fn ink_on_it(self) -> Self {
        let [red, green, blue] = [self.red, self.green, self.blue].map(u32::from);
        let luminance = 2_126 * red * red + 7_152 * green * green + 722 * blue * blue;
        match luminance > 136_000_000 {
            true => Self::of(0x11_11_11),
            false => Self::of(0xFF_FF_FF),
        }
    }
}

/// What things are painted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Palette {
    pub(crate) background: Colour,
    /// Behind lanes and plots.
    pub(crate) panel: Colour,
    pub(crate) grid: Colour,
    pub(crate) axis: Colour,
    pub(crate) text: Colour,
    pub(crate) faint: Colour,
    /// The target's work.
    pub(crate) target: Colour,
    /// Others' work.
    pub(crate) others: Colour,
    /// Limits, and the stretch that is enlarged.
    pub(crate) mark: Colour,
    /// Words that nobody may overlook: the colour of alarm, dark or light enough to read.
    pub(crate) loud: Colour,
    /// A beginning that is unlike the rest.
    pub(crate) warm_up: Colour,
    /// Phases, told apart by their names; shades, so that neighbours differ.
    pub(crate) phases: [Colour; 3],
    /// The lowest performance state and the highest.
    states: [Colour; 2],
    theme: Theme,
}

impl Palette {
    pub(crate) fn of(theme: Theme) -> Self {
        match theme {
            Theme::Light => Self {
                background: Colour::of(0xFF_FF_FF),
                panel: Colour::of(0xF1_F3_F5),
                grid: Colour::of(0xDD_E1_E6),
                axis: Colour::of(0x9A_A1_A9),
                text: Colour::of(0x1A_1D_21),
                faint: Colour::of(0x57_5E_66),
                target: Colour::of(0x00_72_B2),
                others: Colour::of(0x6B_73_7B),
                mark: Colour::of(0x1A_1D_21),
                loud: Colour::of(0xB8_4E_00),
                warm_up: Colour::of(0xE0_C4_00),
                phases: [0xD9_C7_A7, 0xC4_AE_84, 0xE4_D6_BC].map(Colour::of),
                states: [0xD0_CB_EE, 0x8A_82_C9].map(Colour::of),
                theme,
            },
            Theme::Dark => Self {
                background: Colour::of(0x0D_11_17),
                panel: Colour::of(0x1B_21_29),
                grid: Colour::of(0x30_37_41),
                axis: Colour::of(0x6B_74_80),
                text: Colour::of(0xEC_EF_F3),
                faint: Colour::of(0xA3_AC_B7),
                target: Colour::of(0x2B_8F_D6),
                others: Colour::of(0x7C_85_90),
                mark: Colour::of(0xEC_EF_F3),
                loud: Colour::of(0xF0_7A_1F),
                warm_up: Colour::of(0xD9_CD_3A),
                phases: [0x5C_51_40, 0x45_3D_31, 0x73_66_52].map(Colour::of),
                states: [0x41_3E_68, 0x85_7D_C7].map(Colour::of),
                theme,
            },
        }
    }

    /// The shade of a performance state: 0 is the lowest, 1 the highest. What is
    /// higher stands out more from the background.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between two bytes"
    )]
    pub(crate) fn state(&self, strength: f64) -> Colour {
        let [low, high] = self.states;
        let between = |low: u8, high: u8| {
            let (low, high) = (f64::from(low), f64::from(high));
            (low + (high - low) * strength).round() as u8
        };
        Colour {
            red: between(low.red, high.red),
            green: between(low.green, high.green),
            blue: between(low.blue, high.blue),
            alpha: 255,
        }
    }

    /// The colour of a cause, the same on every chart.
    pub(crate) const fn cause(&self, cause: Cause) -> Colour {
        Colour::of(match (cause, self.theme) {
            (Cause::Completion, _) => 0xE6_9F_00,
            (Cause::Host, _) => 0xD5_5E_00,
            // As grey as others' work to those who lack green: so not as light.
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

    /// As the Web Content Accessibility Guidelines define it.
    fn contrast(one: Colour, other: Colour) -> f64 {
        let luminance = |colour: Colour| {
            let linear = |byte: u8| match f64::from(byte) / 255.0 {
                part if part <= 0.04045 => part / 12.92,
                part => ((part + 0.055) / 1.055).powf(2.4),
            };
            let [red, green, blue] = [colour.red, colour.green, colour.blue].map(linear);
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn words_can_be_read() {
        for theme in [Theme::Light, Theme::Dark] {
            let palette = Palette::of(theme);
            let own = [palette.text, palette.faint, palette.loud];
            let plain = own.map(|ink| (ink, palette.background));
            let causes = Cause::ALL.map(|cause| palette.cause(cause));
            let fills = causes.into_iter().chain(palette.phases);
            let fills = fills.chain([palette.target, palette.warm_up]);
            let states = [0.0, 0.25, 0.5, 0.75, 1.0].map(|state| palette.state(state));
            let fills = fills.chain(states).map(|fill| (fill.ink_on_it(), fill));
            for (ink, ground) in fills.chain(plain) {
                let found = contrast(ink, ground);
                let what = format!("{theme:?}: {} on {}", ink.hex(), ground.hex());
                assert!(found >= 4.5, "{what}: {found:.2}");
            }
        }
    }
}
