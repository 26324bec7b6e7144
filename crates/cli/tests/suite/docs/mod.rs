//! Tests that pages, manual and schemas are those of the program.

mod manual;
mod readme;
mod schemas;
