//! Finds the function of a program that asked for memory: the first one outside Apple's libraries.

use metalens_trace::{Frame, Names, StackId, Symbol};

use crate::metrics::cpu::tally::{is_address, is_runtime};

/// Beginnings of the names of Apple's binaries that allocate for others.
const APPLE_PREFIXES: &[&str] = &["AGX", "IOGPU", "GPUTools", "MPS", "libMTL", "libMPS"];

/// Names of further ones. A program may well be called `Metal…`, so that these are whole names.
const APPLE: &[&str] = &[
    "AppKit",
    "CoreGraphics",
    "CoreImage",
    "CoreML",
    "CoreVideo",
    "Espresso",
    "HIToolbox",
    "IOKit",
    "IOSurface",
    "Metal",
    "MetalFX",
    "MetalKit",
    "MetalPerformanceShaders",
    "MetalPerformanceShadersGraph",
    "MetalTools",
    "QuartzCore",
    "RenderBox",
    "SkyLight",
    "SwiftUI",
    "UIKit",
    "VideoToolbox",
];

/// Beginnings of the names of methods of Apple's classes, for stacks that name no binary.
const APPLE_METHODS: &[&str] = &["-[AGX", "-[IOGPU", "-[MTL", "-[_MTL", "-[MPS"];

/// Function and binary of a caller; a function without a symbol has no name.
pub(crate) type Caller = (Option<Symbol>, Option<Symbol>);

/// Returns the innermost function with a name outside Apple's libraries, or if none has a name, the
/// innermost one outside them; `None` if all are Apple's, or there is no stack.
pub(crate) fn caller(stack: Option<StackId>, names: &Names) -> Option<Caller> {
    let frames = stack.into_iter().flat_map(|stack| names.stack(stack));
    let own: Vec<Frame> = frames.filter(|frame| !is_apples(frame, names)).collect();
    let first_named = own.iter().find(|frame| !is_address(names.text(frame.name)));
    let named = first_named.map(|frame| (Some(frame.name), frame.binary));
    named.or_else(|| own.first().map(|frame| (None, frame.binary)))
}

fn is_apples(frame: &Frame, names: &Names) -> bool {
    let function = names.text(frame.name);
    if APPLE_METHODS
        .iter()
        .any(|start| function.starts_with(start))
    {
        return true;
    }
    let Some(binary) = frame.binary.map(|binary| names.text(binary)) else {
        // Code that was made at run time has no binary.
        return false;
    };
    let file = binary.rsplit('/').next().unwrap_or(binary);
    binary.starts_with("/System/")
        || is_runtime(file)
        || APPLE.contains(&file)
        || APPLE_PREFIXES.iter().any(|start| file.starts_with(start))
}
