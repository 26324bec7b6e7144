//! Compares the kernels' source with what the plan says of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use metalens_workload::{KERNELS_SOURCE, Kernel};

/// Returns the parameters of each kernel in the source.
fn signatures(source: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut signatures = BTreeMap::new();
    for kernel in source.split("\nkernel void ").skip(1) {
        let (head, _) = kernel.split_once(")\n{").unwrap();
        let (name, parameters) = head.split_once('(').unwrap();
        let parameters = parameters.split(',').map(str::trim).collect();
        assert_eq!(signatures.insert(name, parameters), None, "{name} twice");
    }
    signatures
}

#[test]
fn every_kernel_takes_what_the_plan_gives_it() {
    let signatures = signatures(KERNELS_SOURCE);
    assert_eq!(
        signatures.len(),
        Kernel::ALL.len(),
        "{:?}",
        signatures.keys()
    );
    for kernel in Kernel::ALL {
        let parameters = signatures
            .get(kernel.name())
            .unwrap_or_else(|| panic!("no kernel `{}` in the source", kernel.name()));
        let bound = parameters
            .iter()
            .enumerate()
            .filter(|(_, parameter)| parameter.contains("[[buffer("));
        let bound: Vec<_> = bound.collect();
        assert_eq!(bound.len(), kernel.reads() + 2, "{kernel:?}");
        for (at, parameter) in bound {
            assert!(
                parameter.ends_with(&format!("[[buffer({at})]]")),
                "{parameter}"
            );
            let start = match at {
                at if at < kernel.reads() => "device const float *",
                at if at == kernel.reads() => "device float *",
                _ => "constant uint &",
            };
            assert!(parameter.starts_with(start), "{kernel:?}: {parameter}");
        }
    }
}

#[test]
fn tiles_are_as_large_as_threadgroups() {
    let (width, height) = Kernel::Matmul.group();
    assert_eq!(width, height);
    assert!(KERNELS_SOURCE.contains(&format!("#define TILE {width}u\n")));
}

/// Returns the command line of a C++ compiler on this machine.
fn compiler() -> Option<Vec<&'static str>> {
    let candidates = [
        vec!["clang++"],
        vec!["zig", "c++"],
        vec!["g++"],
        vec!["c++"],
    ];
    candidates.into_iter().find(|candidate| {
        let mut command = Command::new(candidate[0]);
        command.args(&candidate[1..]).arg("--version");
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    })
}

/// Returns the compiler's messages about a source, or an empty text if there are none.
fn complaints(compiler: &[&str], source: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("kernels.cpp");
    std::fs::write(&file, source).unwrap();
    let shim = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/metal_shim");
    let output = Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-std=c++17", "-fsyntax-only", "-w", "-I"])
        .args([&shim, &file])
        .output()
        .unwrap();
    if output.status.success() {
        String::new()
    } else {
        String::from_utf8_lossy(&output.stderr).into_owned()
    }
}

/// No Metal compiler exists outside macOS, but a C++ compiler finds typing errors:
/// undeclared names and types, missing brackets, wrong arguments.
#[test]
fn the_source_has_no_typing_errors() {
    let Some(compiler) = compiler() else {
        eprintln!("SKIPPED: no C++ compiler to check kernels.metal for typing errors");
        return;
    };
    assert_eq!(complaints(&compiler, KERNELS_SOURCE), "");
    for (right, wrong) in [
        ("sum += ", "summ += "),
        ("out[at] = sin(", "out[at] = sine("),
        ("uint2 at", "uint9 at"),
        ("in_tile.x]", "in_tile.z]"),
        ("0.0f;\n    for", "0.0f\n    for"),
        ("mem_threadgroup)", "mem_group)"),
        ("device const float *in", "device const flat *in"),
    ] {
        assert!(KERNELS_SOURCE.contains(right), "{right}");
        let source = KERNELS_SOURCE.replacen(right, wrong, 1);
        assert_ne!(complaints(&compiler, &source), "", "`{wrong}` passed");
    }
}

/// Returns what the kernels of a source compute otherwise than they should, or an empty text.
fn wrong_results(compiler: &[&str], source: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (kernels, program) = (folder.path().join("kernels.cpp"), folder.path().join("run"));
    std::fs::write(&kernels, source).unwrap();
    let shim = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/metal_shim");
    let compiled = Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-std=c++20", "-O1", "-pthread", "-w", "-I"])
        .arg(&shim)
        .arg(format!("-DKERNELS=\"{}\"", kernels.display()))
        .arg(shim.join("run.cpp"))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    let complaints = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{complaints}");
    let output = Command::new(program).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    said
}

/// The kernels compute what the workloads check, also where the last threadgroup goes past the end. As
/// C++ they run on the CPU, which says nothing of Metal's own compiler.
#[test]
fn the_kernels_compute_what_they_should() {
    let Some(compiler) = compiler() else {
        eprintln!("SKIPPED: no C++ compiler to run the kernels");
        return;
    };
    assert_eq!(wrong_results(&compiler, KERNELS_SOURCE), "");
    for (right, wrong, kernel) in [
        (
            "left[at.y * rows + column]",
            "left[column * rows + at.y]",
            "matmul_f32",
        ),
        (
            "if (at.y < rows && at.x < rows)",
            "if (at.x < rows)",
            "matmul_f32",
        ),
        ("3.0f * right[at]", "3.1f * right[at]", "triad_f32"),
        (
            "if (at < count) {\n        out[at] = log(",
            "{\n        out[at] = log(",
            "log_f32",
        ),
    ] {
        assert!(KERNELS_SOURCE.contains(right), "{right}");
        let source = KERNELS_SOURCE.replacen(right, wrong, 1);
        let said = wrong_results(&compiler, &source);
        assert!(said.starts_with(kernel), "`{wrong}`: {said}");
    }
}
