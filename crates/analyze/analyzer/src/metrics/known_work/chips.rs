//! Table of Apple's chips: memory bandwidth and GPU, as published.
//!
//! Bandwidth and core counts are Apple's own, from the announcement of each chip
//! in its newsroom or the technical specifications of a machine that has it.
//! One name covers chips of several sizes, so figures come as limits unless the
//! number of cores is known.
//!
//! Apple publishes no clocks. Peaks are therefore given only where a clock was
//! measured and agrees with a peak that Apple did announce (M1: 2.6, M1 Ultra:
//! 21, M2: 3.6 TFLOP/s). For M3 and later the published figures contradict each
//! other by up to a third, so there is none here.

use crate::report::ChipLimits;

/// Chip with its published figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Chip {
    /// Name without `Apple`: `M1 Max`.
    name: &'static str,
    /// Sizes that it is sold in: GPU cores and memory bandwidth in GB/s.
    sizes: &'static [(u32, f64)],
    /// Highest clock of the GPU in GHz; `None` if not published.
    clock_ghz: Option<f64>,
}

/// FP32 units of a GPU core, of every M1 to M5 (philipturner/metal-benchmarks, table "Layout of
/// an M1 GPU Core"; confirmed for M1 by Apple's 128 execution units of 8 cores, which have 8
/// units each).
const UNITS_PER_CORE: f64 = 128.0;
/// Floating-point operations of a unit per clock: a fused multiply-add is two.
const FLOPS_PER_UNIT: f64 = 2.0;

/// Clocks of 1.278 GHz and 1.296 GHz, from philipturner/applegpuinfo, `clockFrequency`. 8 × 128
/// × 2 × 1.278 = 2.62; 64 × 128 × 2 × 1.296 = 21.2.
const M1_CLOCK: Option<f64> = Some(1.278);
const M1_PRO_CLOCK: Option<f64> = Some(1.296);
/// Clock of 1.398 GHz, from the same source. 10 × 128 × 2 × 1.398 = 3.58.
const M2_CLOCK: Option<f64> = Some(1.398);

const CHIPS: [Chip; 18] = [
    // Newsroom, 10 Nov 2020: 7 or 8 cores, 2.6 teraflops. 68.25 GB/s follows from
    // its LPDDR4X-4266 of 128 bits; Apple's "nearly 6x that of M1" for 400 GB/s agrees.
    chip("M1", &[(7, 68.25), (8, 68.25)], M1_CLOCK),
    // Newsroom, 18 Oct 2021, and MacBook Pro (2021) specifications.
    chip("M1 Pro", &[(14, 200.0), (16, 200.0)], M1_PRO_CLOCK),
    chip("M1 Max", &[(24, 400.0), (32, 400.0)], M1_PRO_CLOCK),
    // Newsroom, 8 Mar 2022: 21 teraflops.
    chip("M1 Ultra", &[(48, 800.0), (64, 800.0)], M1_PRO_CLOCK),
    // Newsroom, 6 Jun 2022: 3.6 teraflops.
    chip("M2", &[(8, 100.0), (10, 100.0)], M2_CLOCK),
    // Newsroom, 17 Jan 2023.
    chip("M2 Pro", &[(16, 200.0), (19, 200.0)], M2_CLOCK),
    chip("M2 Max", &[(30, 400.0), (38, 400.0)], M2_CLOCK),
    // Newsroom, 5 Jun 2023.
    chip("M2 Ultra", &[(60, 800.0), (76, 800.0)], M2_CLOCK),
    // MacBook Pro (Nov 2023) and MacBook Air (2024) specifications.
    chip("M3", &[(8, 100.0), (10, 100.0)], None),
    chip("M3 Pro", &[(14, 150.0), (18, 150.0)], None),
    chip("M3 Max", &[(30, 300.0), (40, 400.0)], None),
    // Newsroom, 5 Mar 2025, and Mac Studio (2025) specifications.
    chip("M3 Ultra", &[(60, 819.0), (80, 819.0)], None),
    // Newsroom, 7 May 2024, and iMac (2024) specifications.
    chip("M4", &[(8, 120.0), (10, 120.0)], None),
    // Newsroom, 30 Oct 2024, and MacBook Pro (2024) specifications.
    chip("M4 Pro", &[(16, 273.0), (20, 273.0)], None),
    chip("M4 Max", &[(32, 410.0), (40, 546.0)], None),
    // Newsroom, 15 Oct 2025, and MacBook Air (2026) specifications.
    chip("M5", &[(8, 153.0), (10, 153.0)], None),
    // Newsroom, 3 Mar 2026, and MacBook Pro (2026) specifications.
    chip("M5 Pro", &[(16, 307.0), (20, 307.0)], None),
    chip("M5 Max", &[(32, 460.0), (40, 614.0)], None),
];

const fn chip(name: &'static str, sizes: &'static [(u32, f64)], clock_ghz: Option<f64>) -> Chip {
    Chip {
        name,
        sizes,
        clock_ghz,
    }
}

impl Chip {
    /// Finds a chip by the name that Metal and Instruments give the GPU: `Apple M1`, or `M1`.
    #[must_use]
    pub(crate) fn by_name(gpu: &str) -> Option<Self> {
        let full_name = gpu.trim();
        let chip = full_name.strip_prefix("Apple ").unwrap_or(full_name);
        let name = chip.strip_suffix(" GPU").unwrap_or(chip);
        CHIPS.iter().find(|chip| chip.name == name).copied()
    }

    /// Returns the name with `Apple`: `Apple M1 Max`.
    pub(crate) fn full_name(&self) -> String {
        format!("Apple {}", self.name)
    }

    /// Returns the numbers of cores that the chip is sold with.
    pub(crate) fn cores(&self) -> Vec<u32> {
        self.sizes.iter().map(|&(cores, _)| cores).collect()
    }

    /// Returns the memory bandwidth in GB/s, of the size with this many cores if they are given.
    pub(crate) fn bandwidth(&self, cores: Option<u32>) -> Option<ChipLimits> {
        limits(self.fitting(cores).map(|(_, bandwidth)| bandwidth))
    }

    /// Returns the FP32 peak in TFLOP/s.
    pub(crate) fn peak(&self, cores: Option<u32>) -> Option<ChipLimits> {
        let clock = self.clock_ghz?;
        limits(
            self.fitting(cores)
                .map(|(cores, _)| f64::from(cores) * UNITS_PER_CORE * FLOPS_PER_UNIT * clock / 1e3),
        )
    }

    fn fitting(&self, cores: Option<u32>) -> impl Iterator<Item = (u32, f64)> {
        let sizes = self.sizes.iter().copied();
        sizes.filter(move |&(size, _)| cores.is_none_or(|cores| cores == size))
    }
}

fn limits(values: impl Iterator<Item = f64>) -> Option<ChipLimits> {
    values.fold(None, |limits, value| {
        let limits = limits.unwrap_or(ChipLimits {
            min: value,
            max: value,
        });
        Some(ChipLimits {
            min: limits.min.min(value),
            max: limits.max.max(value),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(gpu: &str, cores: Option<u32>, bandwidth: Option<(f64, f64)>) {
        let found = Chip::by_name(gpu).and_then(|chip| chip.bandwidth(cores));
        let found = found.map(|limits| (limits.min, limits.max));
        assert_eq!(found, bandwidth, "{gpu}, {cores:?}");
    }

    #[test]
    fn bandwidths() {
        check("Apple M1", None, Some((68.25, 68.25)));
        check("M1", None, Some((68.25, 68.25)));
        check("Apple M3 Max", None, Some((300.0, 400.0)));
        check("Apple M3 Max", Some(40), Some((400.0, 400.0)));
        check("M4 Max", None, Some((410.0, 546.0)));
        // An unknown size or chip has no figures, not those of the next best.
        check("M4 Max", Some(38), None);
        check("Apple M4 Ultra", None, None);
        check("Apple M10", None, None);
        check("AMD Radeon Pro 5500M", None, None);
    }

    /// Compares with Apple's announcements for the largest size, to the digits given.
    #[test]
    fn peaks_are_those_announced() {
        for (gpu, announced, within) in [
            ("M1", 2.6, 0.05),
            ("M1 Ultra", 21.0, 0.5),
            ("M2", 3.6, 0.05),
        ] {
            let peak = Chip::by_name(gpu).unwrap().peak(None).unwrap();
            assert!((peak.max - announced).abs() < within, "{gpu}: {peak:?}");
            assert!(peak.min < peak.max);
        }
        assert_eq!(Chip::by_name("M4").unwrap().peak(None), None);
    }

    #[test]
    fn more_cores_never_have_less() {
        for chip in CHIPS {
            assert!(
                chip.sizes.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1),
                "{chip:?}"
            );
        }
    }
}
