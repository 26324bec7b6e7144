//! Tests that pages, manual and schemas are those of the program.

#[cfg(unix)]
mod examples;
mod manual;
mod readme;
mod schemas;
