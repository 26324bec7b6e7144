//! Detects the framework that a program uses, so that advice names its own switches.
//!
//! Only signs that no other framework shares count. Names of shaders rarely do: candle carries
//! kernels of MLX and of llama.cpp.

use crate::report::{Framework, FrameworkName, Report, SeenIn};

/// Advice for users of one framework.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Knob {
    pub framework: FrameworkName,
    /// First step for its users, as an imperative clause without a capital; `None` if it is that of
    /// the rule.
    pub action: Option<&'static str>,
    /// Advice for this framework, in full sentences.
    pub advice: &'static str,
}

/// Parts of names of processes, in lower case.
const PROCESSES: &[(&str, FrameworkName)] = &[
    ("mlx", FrameworkName::Mlx),
    ("candle", FrameworkName::Candle),
    ("llama", FrameworkName::LlamaCpp),
];

/// Beginnings of names of binaries on call stacks.
const BINARIES: &[(&str, FrameworkName)] = &[
    ("libmlx", FrameworkName::Mlx),
    ("libggml", FrameworkName::LlamaCpp),
    ("libllama", FrameworkName::LlamaCpp),
    ("libtorch", FrameworkName::PyTorch),
    ("CoreML", FrameworkName::CoreMl),
];

/// Beginnings of names of shaders.
const SHADERS: &[(&str, FrameworkName)] = &[("steel_gemm_", FrameworkName::Mlx)];

/// Returns the framework of the analyzed process, if something shows it.
pub(crate) fn framework(report: &Report) -> Option<Framework> {
    let process = report.process.name.to_lowercase();
    let named = PROCESSES.iter().find(|(part, _)| process.contains(part));

    let host = report.cpu.iter().filter_map(|cpu| cpu.host.as_ref());
    let frames = host.flat_map(|host| host.total_frames.iter().chain(&host.self_frames));
    let binaries = frames.filter_map(|frame| frame.binary.as_deref());

    let listed = report.shaders.iter().map(|shader| shader.name.as_str());
    let shaders = listed.chain(report.kernels.iter().map(|kernel| kernel.name.as_str()));

    let framework_seen =
        |&(_, framework): &(&str, FrameworkName), seen_in| Framework { framework, seen_in };
    first(binaries, BINARIES)
        .map(|known| framework_seen(known, SeenIn::CallStacks))
        .or_else(|| named.map(|known| framework_seen(known, SeenIn::ProcessName)))
        .or_else(|| first(shaders, SHADERS).map(|known| framework_seen(known, SeenIn::ShaderNames)))
}

/// Returns the first known beginning that one of the names has.
fn first<'a>(
    names: impl Iterator<Item = &'a str>,
    known: &'static [(&'static str, FrameworkName)],
) -> Option<&'static (&'static str, FrameworkName)> {
    names
        .filter_map(|name| known.iter().find(|(start, _)| name.starts_with(start)))
        .next()
}

impl FrameworkName {
    /// Returns the name as its makers write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mlx => "MLX",
            Self::Candle => "candle",
            Self::LlamaCpp => "llama.cpp",
            Self::PyTorch => "PyTorch",
            Self::CoreMl => "Core ML",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_beginning_counts() {
        let check = |names: &[&str], expected: Option<FrameworkName>| {
            let found = first(names.iter().copied(), BINARIES);
            assert_eq!(found.map(|(_, name)| *name), expected, "{names:?}");
        };
        check(&[], None);
        check(&["Metal", "libsystem_kernel.dylib"], None);
        check(&["Metal", "libmlx.dylib"], Some(FrameworkName::Mlx));
        check(
            &["libtorch_cpu.dylib", "libmlx.dylib"],
            Some(FrameworkName::PyTorch),
        );
        check(&["notlibmlx.dylib"], None);
    }
}
