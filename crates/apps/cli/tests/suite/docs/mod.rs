//! Tests that pages, completions and schemas are those of the program, and that manifests hide no test.

#[cfg(unix)]
mod completions;
mod emitters;
mod examples;
mod first_lines;
mod imports;
mod layers;
mod manifests;
mod printed;
#[cfg(unix)]
mod readers;
mod readme;
mod schemas;
mod workflows;
