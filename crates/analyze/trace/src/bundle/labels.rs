//! Decodes formatted labels: their text, process and submission number.
//!
//! Nearly all labels differ, but many only in their number: of the lists of one form only the first
//! is decoded.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::arrays::Array;
use super::rows::{Decoder, Part, displayed, is_null, map};
use super::store::Numbers;
use super::types::{self, Encoding};
use super::uniquing::{SUBMISSION, Uniques};
use crate::kind::Kind;
use crate::names::{Label, LabelId, Names, ProcessId};

impl Decoder<'_> {
    /// Decodes a column of labels. Some columns have the same label in every row, so the last one
    /// is remembered.
    pub(super) fn labels(
        &self,
        numbers: Numbers,
        names: &mut Names,
    ) -> Result<Vec<Option<LabelId>>, u64> {
        let mut cache = LabelCache::new(self.uniques);
        let mut last: Option<(u64, LabelId)> = None;
        map(numbers, |value| {
            if let Some((_, id)) = last.filter(|&(before, _)| before == value) {
                return Ok(id);
            }
            let id = self.label_id(value, &mut cache, names).ok_or(value)?;
            last = Some((value, id));
            Ok(id)
        })
    }

    /// Returns the id of a label. Labels of one form differ only in a number, so one is cached per
    /// form.
    fn label_id(&self, value: u64, cache: &mut LabelCache, names: &mut Names) -> Option<LabelId> {
        let form = self.uniques.typed.form(value).filter(|_| !self.rendered);
        let Some((form, number)) = form else {
            let array = self.uniques.typed.get(value)?;
            let plain = (!self.rendered).then(|| self.plain_label(array, cache, names));
            return self.keep_label(plain.flatten(), array, names);
        };

        if let Some((label, id)) = cache.forms.get(form).copied().flatten() {
            return Some(if self.numbered {
                names.label_id(label.with_submission(number))
            } else {
                id
            });
        }

        let array = self.uniques.typed.get(value)?;
        let plain = self.plain_label(array, cache, names);
        let id = self.keep_label(plain, array, names)?;
        if cache.forms.len() <= form {
            cache.forms.resize(form + 1, None);
        }

        if let Some(place) = cache.forms.get_mut(form) {
            *place = plain.map(|label| (label, id));
        }
        Some(id)
    }

    /// Adds a plain label, or else the label that an array displays.
    fn keep_label(
        &self,
        plain: Option<Label>,
        array: Array<'_>,
        names: &mut Names,
    ) -> Option<LabelId> {
        let label = match plain {
            Some(label) => label,
            None => self.label(array, names)?,
        };
        Some(names.label_id(if self.numbered {
            label
        } else {
            label.without_submission()
        }))
    }

    /// Decodes a GPU label of the common form without its display form: at most one text, a process
    /// and a number. `None` if it has another form.
    fn plain_label(
        &self,
        array: Array<'_>,
        cache: &mut LabelCache,
        names: &mut Names,
    ) -> Option<Label> {
        let (mut words, mut process, mut submission) = (None, None, None);
        for at in 0..array.len() / 2 {
            let (kind, value) = (array.get(2 * at)?, array.get(2 * at + 1)?);
            match *cache.roles.get(usize::try_from(kind).ok()?)? {
                PartRole::Narrative => drop(self.uniques.string(value)?),
                PartRole::Submission => submission = Some(value),
                PartRole::Process if is_null(value) => {}
                PartRole::Process if process.is_none() => {
                    process = Some(match cache.processes.get(&value) {
                        Some(&known) => known,
                        None => {
                            let found = self.process_names.process(value, self.uniques, names)?;
                            *cache.processes.entry(value).or_insert(found)
                        }
                    });
                }
                PartRole::Words => {
                    let text = self.uniques.string(value)?.trim();
                    match (text.is_empty(), words) {
                        (true, _) => {}
                        (false, None) => words = Some(names.symbol(text)),
                        (false, Some(_)) => return None,
                    }
                }
                PartRole::Process | PartRole::Other => return None,
            }
        }

        let words = words.unwrap_or_else(|| names.symbol(""));
        Some(Label::new(words, process, Some(submission?)))
    }

    fn label(&self, array: Array<'_>, names: &mut Names) -> Option<Label> {
        let parts = self.parts(array)?;
        let process = parts.iter().find(|part| part.tag == "process");
        let process = process.and_then(|part| part.value);
        let process =
            process.and_then(|value| self.process_names.process(value, self.uniques, names));
        let submission = parts.iter().rev().find(|part| part.tag == SUBMISSION);
        let submission = submission.and_then(|part| part.value);
        let display = displayed(&parts);
        let text = label_text(&parts, &display, submission.is_some());
        let mut label = Label::new(names.symbol(text), process, submission);
        if self.rendered {
            label.rendered = Some(names.symbol(&display));
        }
        Some(label)
    }
}

/// Values that the labels of a column have in common.
struct LabelCache {
    /// Role of each type, by its number.
    roles: Vec<PartRole>,
    processes: HashMap<u64, ProcessId, FxBuildHasher>,
    /// Plain labels by the form of their list.
    forms: Vec<Option<(Label, LabelId)>>,
}

/// The role of a part in its label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartRole {
    Narrative,
    Submission,
    Process,
    Words,
    Other,
}

impl LabelCache {
    fn new(uniques: &Uniques) -> Self {
        let role = |type_id: &String| match types::lookup(type_id) {
            ("narrative-text", _) => PartRole::Narrative,
            (SUBMISSION, _) => PartRole::Submission,
            (_, Encoding::Process) => PartRole::Process,
            (_, Encoding::Text) => PartRole::Words,
            _ => PartRole::Other,
        };
        Self {
            roles: uniques.types.iter().map(role).collect(),
            processes: HashMap::default(),
            forms: Vec::new(),
        }
    }
}

/// Returns the text of a label, as the reader of exports does: its only text, or nothing, if a
/// number ends it; otherwise the text in its display form.
fn label_text<'a>(parts: &'a [Part<'_>], display: &'a str, numbered: bool) -> &'a str {
    let mixed = |part: &&Part<'_>| {
        let scaffold = ["narrative-text", "process", "thread", "metal-encoder-id"];
        !scaffold.contains(&part.tag) && !part.display.trim().is_empty()
    };
    let words: Vec<&Part<'_>> = parts.iter().filter(mixed).collect();
    match words.as_slice() {
        [] if numbered => "",
        [word] if numbered && Kind::from_type(word.tag) == Kind::Text => word.display.trim(),
        _ => {
            let process = parts
                .iter()
                .find(|part| part.tag == "process" && part.value.is_some());
            let before = process.and_then(|part| crate::label::before(display, &part.display));
            before.unwrap_or_else(|| crate::label::parse(display).text)
        }
    }
}
