//! Returns the names of the report's enum values, as its JSON has them.

use metalens_analyzer::{ChosenBy, NamedBy, Reader, SourceKind};

/// Returns the name of a source of kernel names.
pub(crate) fn named_by(source: NamedBy) -> &'static str {
    match source {
        NamedBy::ShaderProfiler => "shader-profiler",
        NamedBy::Dispatches => "dispatches",
        NamedBy::EncoderLabel => "encoder-label",
        NamedBy::DebugGroup => "debug-group",
        NamedBy::CommandBufferLabel => "command-buffer-label",
        NamedBy::None => "none",
    }
}

/// Returns the name of the way in which a process was chosen.
pub(crate) fn chosen_by(choice: ChosenBy) -> &'static str {
    match choice {
        ChosenBy::Launched => "launched",
        ChosenBy::Attached => "attached",
        ChosenBy::Recorded => "recorded",
        ChosenBy::Requested => "requested",
        ChosenBy::Busiest => "busiest",
    }
}

/// Returns the name of a kind of input.
pub(crate) fn source(kind: SourceKind) -> &'static str {
    match kind {
        SourceKind::Bundle => "bundle",
        SourceKind::Export => "export",
        SourceKind::Xml => "xml",
        SourceKind::Log => "log",
    }
}

/// Returns the name of a reader.
pub(crate) fn reader(reader: Reader) -> &'static str {
    match reader {
        Reader::Native => "native",
        Reader::Xml => "xml",
        Reader::Log => "log",
    }
}

/// Returns the name of a severity.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_json() {
        fn check(value: impl serde::Serialize, word: &str) {
            assert_eq!(serde_json::to_value(value).unwrap(), word);
        }
        for name_source in [
            NamedBy::ShaderProfiler,
            NamedBy::Dispatches,
            NamedBy::EncoderLabel,
            NamedBy::DebugGroup,
            NamedBy::CommandBufferLabel,
            NamedBy::None,
        ] {
            check(name_source, named_by(name_source));
        }
        for choice in [
            ChosenBy::Launched,
            ChosenBy::Attached,
            ChosenBy::Recorded,
            ChosenBy::Requested,
            ChosenBy::Busiest,
        ] {
            check(choice, chosen_by(choice));
        }

        for kind in [
            SourceKind::Bundle,
            SourceKind::Export,
            SourceKind::Xml,
            SourceKind::Log,
        ] {
            check(kind, source(kind));
        }
        for kind in [Reader::Native, Reader::Xml] {
            check(kind, reader(kind));
        }
    }
}
