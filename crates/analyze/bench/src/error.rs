//! Defines the reasons why a benchmark cannot begin.

use std::path::PathBuf;

use metalens_failure::{Failure, FailureKind};

/// Result of preparing a benchmark.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Reason why a benchmark cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A command cannot be split into words.
    #[error("cannot split the command `{0}` into words: a quotation mark is not closed")]
    Quotes(String),
    /// A command has no words.
    #[error("a command is empty")]
    EmptyCommand,
    /// A command has a word that only a shell understands.
    #[error("the command `{command}` contains `{word}`, but no shell reads it")]
    ShellWord {
        /// The command, as it was given.
        command: String,
        /// The word that only a shell understands.
        word: String,
    },
    /// Two parameters have the same name.
    #[error("the parameter `{0}` is given twice")]
    RepeatedParameter(String),
    /// A parameter has no values.
    #[error("the parameter `{0}` has no values")]
    NoValues(String),
    /// No command uses a parameter.
    #[error(
        "no command or variable contains `{{{0}}}`, so all its values would give the same command"
    )]
    UnusedParameter(String),
    /// There are fewer names than variants, or more.
    #[error("{names} names for {variants} variants: give -n once for each variant, in their order")]
    Names {
        /// Number of names.
        names: usize,
        /// Number of variants.
        variants: usize,
    },
    /// Two variants have the same name.
    #[error("two variants have the name `{0}`")]
    RepeatedName(String),
    /// There are too many variants.
    #[error("{0} variants are too many: the limit is {MOST_VARIANTS}")]
    TooMany(usize),
    /// The folder has something that is no benchmark.
    #[error("{} has files that do not belong to a benchmark", .0.display())]
    NotABench(PathBuf),
    /// A folder of somebody else is in the place of a variant's one.
    #[error("{} exists, and no benchmark in this folder made it", .0.display())]
    NotOurs(PathBuf),
    /// The folder has another benchmark.
    #[error("{} has another benchmark: {difference}", folder.display())]
    AnotherBench {
        /// The folder of the benchmark.
        folder: PathBuf,
        /// The first difference, in words.
        difference: String,
    },
    /// A file of the benchmark cannot be read.
    #[error("cannot read {}: {cause}", file.display())]
    Unreadable {
        /// The file that cannot be read.
        file: PathBuf,
        /// Reason why it cannot be read.
        cause: String,
    },
    /// A file cannot be written.
    #[cfg(unix)]
    #[error(transparent)]
    Files(#[from] metalens_files::Error),
}

/// Largest number of variants: nobody waits for more, and a mistyped scan has more.
pub(crate) const MOST_VARIANTS: usize = 500;

impl Failure for Error {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Unreadable { .. } => FailureKind::Failed,
            #[cfg(unix)]
            Self::Files(_) => FailureKind::Failed,
            _ => FailureKind::Misuse,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::ShellWord { .. } => {
                "quote the word if it is an argument of the program; for a shell, write \"sh -c \
                 'exec …'\"; set variables with --env"
            }
            Self::NotABench(_) => "choose another folder with -o",
            Self::NotOurs(_) => "move it away, or choose another folder with -o",
            Self::AnotherBench { .. } => {
                "choose another folder with -o, or start over with --force, which removes its runs"
            }
            Self::UnusedParameter(_) => "write the name in braces where the value belongs",
            Self::RepeatedName(_) => "name the variants with -n",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}
