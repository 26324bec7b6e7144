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

    /// Which of black and white reads better on it.
    pub(crate) fn ink_on_it(self) -> Self {
        let [red, green, blue] = [self.red, self.green, self.blue].map(u32::from);
        match 299 * red + 587 * green + 114 * blue > 100_000 {
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
                others: Colour::of(0x8C_93_9A),
                mark: Colour::of(0x1A_1D_21),
                warm_up: Colour::of(0xF0_E4_42),
                phases: [0xE6_DA_C6, 0xD3_C1_A3, 0xF1_E9_DB].map(Colour::of),
                states: [0xE4_E1_F5, 0x8A_82_C9].map(Colour::of),
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
                warm_up: Colour::of(0xD9_CD_3A),
                phases: [0x5C_51_40, 0x45_3D_31, 0x73_66_52].map(Colour::of),
                states: [0x30_2E_4D, 0x85_7D_C7].map(Colour::of),
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
            (Cause::Encode, _) => 0xCC_79_A7,
            (Cause::Launch, _) => 0x00_9E_73,
            (Cause::Queued, _) => 0x56_B4_E9,
            (Cause::Foreign, Theme::Light) => 0x8C_93_9A,
            (Cause::Foreign, Theme::Dark) => 0x7C_85_90,
            (Cause::Unexplained, Theme::Light) => 0xC3_C8_CE,
            (Cause::Unexplained, Theme::Dark) => 0x4A_52_5D,
        })
    }
}

/// A cause as a legend says it.
pub(crate) const fn cause_label(cause: Cause) -> &'static str {
    match cause {
        Cause::Completion => "completion not seen yet",
        Cause::Host => "program elsewhere",
        Cause::Encode => "encoding",
        Cause::Launch => "launch",
        Cause::Queued => "queued on the GPU",
        Cause::Foreign => "other process",
        Cause::Unexplained => "unexplained",
    }
}
