//! Tests that pages, manual and schemas are those of the program.

#[cfg(unix)]
mod examples;
mod manual;
#[cfg(unix)]
mod readers;
mod readme;
mod schemas;
mod workflows;
