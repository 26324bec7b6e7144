//! Defines the colors of all charts, from the palette by Okabe and Ito, which color-blind people
//! can distinguish.

use metalens_analyzer::Cause;

use crate::pixels::byte;

/// Number of kernels with a color of their own. People who see fewer colors cannot tell more of
/// them apart beside those of the causes.
pub(crate) const OWN: usize = 5;

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
    /// Kernels with a color of their own, then all others. None is so dark or so light that a thin
    /// bar of it is lost, and neighbors differ in lightness.
    pub(crate) kernels: [Color; OWN + 1],
    /// Work of other processes.
    pub(crate) others: Color,
    /// Limits, and the frame of the enlarged stretch.
    pub(crate) mark: Color,
    /// Loud text: the color of alarm, dark or light enough to read.
    pub(crate) loud: Color,
    /// Work that is no step of the main series.
    pub(crate) once: Color,
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
                kernels: [
                    0x00_72_B2, 0xBE_81_FF, 0xC2_5E_5A, 0x5E_DB_6E, 0xBE_28_18, 0x91_B9_9D,
                ]
                .map(Color::opaque),
                others: Color::opaque(0x6B_73_7B),
                mark: Color::opaque(0x1A_1D_21),
                loud: Color::opaque(0xB8_4E_00),
                once: Color::opaque(0xE0_C4_00),
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
                kernels: [
                    0x34_8D_FF, 0x2D_D7_8B, 0xBB_6C_43, 0xF0_C8_61, 0xA1_80_B7, 0xC9_CD_F4,
                ]
                .map(Color::opaque),
                others: Color::opaque(0x7C_85_90),
                mark: Color::opaque(0xEC_EF_F3),
                loud: Color::opaque(0xF0_7A_1F),
                once: Color::opaque(0xD9_CD_3A),
                phases: [0x5C_51_40, 0x45_3D_31, 0x73_66_52].map(Color::opaque),
                states: [0x41_3E_68, 0x85_7D_C7].map(Color::opaque),
                theme,
            },
        }
    }

    /// Returns the shade of a performance state, where 0 is the lowest and 1 the highest. A higher
    /// state stands out more from the background.
    pub(crate) fn state(&self, strength: f64) -> Color {
        let [low, high] = self.states;
        let between = |low: u8, high: u8| {
            let (low, high) = (f64::from(low), f64::from(high));
            byte((low + (high - low) * strength).round())
        };
        Color {
            red: between(low.red, high.red),
            green: between(low.green, high.green),
            blue: between(low.blue, high.blue),
            alpha: 255,
        }
    }

    /// Returns the color of a kernel by its number, the same on every chart and page.
    pub(crate) fn kernel(&self, number: usize) -> Color {
        let own = self.kernels.get(number);
        own.copied().unwrap_or(self.process)
    }

    /// Returns the color of a cause, the same on every chart.
    pub(crate) const fn cause(&self, cause: Cause) -> Color {
        Color::opaque(match (cause, self.theme) {
            (Cause::Completion, _) => 0xE6_9F_00,
            (Cause::Host, _) => 0xD5_5E_00,
            // Darker than the gray of other processes, for people who cannot see green.
            (Cause::Encoding, Theme::Light) => 0xCC_79_A7,
            (Cause::Encoding, Theme::Dark) => 0xE5_A3_C8,
            (Cause::DriverWait, Theme::Light) => 0xF2_D6_00,
            (Cause::DriverWait, Theme::Dark) => 0xD6_E8_00,
            (Cause::Driver, Theme::Light) => 0xA9_07_E3,
            (Cause::Driver, Theme::Dark) => 0x6D_57_FA,
            (Cause::StartLatency, Theme::Light) => 0x28_FB_9B,
            (Cause::StartLatency, Theme::Dark) => 0x5D_FF_D3,
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
            let fills = fills.chain([palette.process, palette.once]);
            let fills = fills.chain(palette.kernels);
            let states = [0.0, 0.25, 0.5, 0.75, 1.0].map(|state| palette.state(state));
            let fills = fills.chain(states).map(|fill| (fill.ink_on_it(), fill));
            for (ink, ground) in fills.chain(plain) {
                let contrast = contrast_ratio(ink, ground);
                let what = format!("{theme:?}: {} on {}", ink.hex(), ground.hex());
                assert!(contrast >= 4.5, "{what}: {contrast:.2}");
            }
        }
    }

    /// Matrices from red, green and blue in linear light to the colors that eyes see: with all
    /// cones, and without one kind of them (Machado, Oliveira and Fernandes, 2009).
    const EYES: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [
            [0.152_286, 1.052_583, -0.204_868],
            [0.114_503, 0.786_281, 0.099_216],
            [-0.003_882, -0.048_116, 1.051_998],
        ],
        [
            [0.367_322, 0.860_646, -0.227_968],
            [0.280_085, 0.672_501, 0.047_413],
            [-0.011_820, 0.042_940, 0.968_881],
        ],
        [
            [1.255_528, -0.076_749, -0.178_779],
            [-0.078_411, 0.930_809, 0.147_602],
            [0.004_733, 0.691_367, 0.303_900],
        ],
    ];

    /// Returns a color as an eye sees it, in CIELAB: its lightness, then how red and how yellow it is.
    fn seen(color: Color, eye: [[f64; 3]; 3]) -> [f64; 3] {
        let times = |matrix: [[f64; 3]; 3], by: [f64; 3]| {
            matrix.map(|row| {
                row.iter()
                    .zip(by)
                    .map(|(one, other)| one * other)
                    .sum::<f64>()
            })
        };
        let linear = |byte: u8| match f64::from(byte) / 255.0 {
            part if part <= 0.04045 => part / 12.92,
            part => ((part + 0.055) / 1.055).powf(2.4),
        };
        let light = [color.red, color.green, color.blue].map(linear);
        let light = times(eye, light).map(|part| part.clamp(0.0, 1.0));
        // Rows of the matrix to XYZ, each by the white of daylight.
        let to_white = [
            [0.433_953, 0.376_219, 0.189_828],
            [0.212_673, 0.715_152, 0.072_175],
            [0.017_758, 0.109_477, 0.872_765],
        ];
        let [x, y, z] = times(to_white, light).map(|part| match part {
            part if part > 216.0 / 24_389.0 => part.cbrt(),
            part => (24_389.0 / 27.0 * part + 16.0) / 116.0,
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// Returns the difference of two colors (ΔE of 1976) for the eye that sees the least of it.
    fn least_difference(one: Color, other: Color) -> f64 {
        let apart = EYES.map(|eye| {
            let pair = seen(one, eye).into_iter().zip(seen(other, eye));
            let squares = pair.map(|(one, other)| (one - other).powi(2));
            squares.sum::<f64>().sqrt()
        });
        apart.into_iter().fold(f64::INFINITY, f64::min)
    }

    /// Fails if the least difference of any pair of different colors is below a limit.
    fn check_apart(some: &[Color], others: &[Color], limit: f64) {
        for &one in some {
            for &other in others.iter().filter(|&&other| other != one) {
                let least = least_difference(one, other);
                let what = format!("{} and {}", one.hex(), other.hex());
                assert!(least >= limit, "{what}: {least:.1} of {limit}");
            }
        }
    }

    /// Nobody takes a kernel for another one, for a cause of idle time or for the ground. A just
    /// noticeable difference is about 2.
    #[test]
    fn kernels_look_like_nothing_else() {
        for theme in [Theme::Light, Theme::Dark] {
            let palette = Palette::for_theme(theme);
            let causes = Cause::ALL.map(|cause| palette.cause(cause));
            check_apart(&palette.kernels, &palette.kernels, 20.0);
            check_apart(&palette.kernels, &causes, 12.0);
            check_apart(&palette.kernels, &[palette.others], 12.0);
            check_apart(&palette.kernels, &[palette.panel, palette.background], 20.0);
        }
    }

    /// A thin bar of a kernel is neither black nor lost on the ground, and its neighbor is lighter or
    /// darker.
    #[test]
    fn kernels_are_spread_in_lightness() {
        for (theme, least, most) in [(Theme::Light, 40.0, 80.0), (Theme::Dark, 50.0, 85.0)] {
            let kernels = Palette::for_theme(theme).kernels;
            let lightness = kernels.map(|kernel| seen(kernel, EYES[0])[0]);
            let in_range = |one: &f64| (least..=most).contains(one);
            assert!(lightness.iter().all(in_range), "{theme:?}: {lightness:.0?}");
            let apart = |pair: &[f64]| (pair[0] - pair[1]).abs() >= 8.0;
            assert!(
                lightness.windows(2).all(apart),
                "{theme:?}: {lightness:.0?}"
            );
        }
    }

    /// The causes differ, too; other processes and contention, which they cause, are one color.
    #[test]
    fn causes_look_like_no_other_cause() {
        for theme in [Theme::Light, Theme::Dark] {
            let palette = Palette::for_theme(theme);
            let causes = Cause::ALL.map(|cause| palette.cause(cause));
            check_apart(&causes, &causes, 12.0);
        }
    }

    /// Pages have the colors of pictures.
    #[test]
    fn the_style_of_pages_has_these_colors() {
        let style = include_str!("../../../../templates/report.css");
        let (light, dark) = style.split_once("prefers-color-scheme: dark").unwrap();
        for (theme, own) in [(Theme::Light, light), (Theme::Dark, dark)] {
            let palette = Palette::for_theme(theme);
            let color_of = |name: &str| {
                let named = format!("--{name}: ");
                let value = |text: &'static str| text.split_once(&named)?.1.get(..7);
                value(own).or_else(|| value(light)).unwrap()
            };
            for cause in Cause::ALL {
                let what = format!("{theme:?}: {}", cause.name());
                assert_eq!(color_of(cause.name()), palette.cause(cause).hex(), "{what}");
            }
            for (number, kernel) in palette.kernels.iter().enumerate() {
                let name = format!("kernel-{number}");
                assert_eq!(color_of(&name), kernel.hex(), "{theme:?}: {name}");
            }
        }
    }
}
