//! Provides hostile texts for tests.

/// Texts for tests of all code that shows text. A terminal would obey them, a reader would not
/// see them, a spreadsheet would run them, or a user would take them for a message of metalens.
pub const HOSTILE: [&str; 28] = [
    "\u{1b}]0;PWNED\u{7}",
    "\u{1b}[31mred\u{1b}[8mhidden",
    "\u{1b}[1m\u{1b}[1;31mours\u{1b}[0m",
    "\u{9b}2J\u{9d}0;PWNED\u{9c}",
    "\u{90}q\u{98}\u{9e}\u{9f}",
    "\u{80}\u{84}\u{85}\u{8d}",
    "over\u{8}\u{8}\u{7f}\u{c}\u{b}",
    "begin\rover",
    "nothing\0here",
    "\u{202e}desrever\u{202c}",
    "\u{202a}\u{202b}\u{202d}",
    "\u{2066}\u{2067}\u{2068}\u{2069}",
    "\u{200e}\u{200f}\u{61c}",
    "\u{200b}\u{200c}\u{200d}\u{2060}\u{ad}",
    "\u{feff}",
    "a\u{2028}b\u{2029}c",
    "\u{e0041}\u{e007f}",
    "a\nerror: forged",
    "a\r\nhint: forged",
    "=cmd|' /C calc'!A0",
    "+SUM(1)",
    "-2+3",
    "@SUM(1)",
    "\t=1+1",
    "\r=1+1",
    "＝1+1",
    "a;=1+1",
    "a, \"b\"",
];
