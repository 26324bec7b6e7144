//! Requests to post.

use metalens_github as github;
use metalens_github::DestinationRequest;

use crate::args::posting::{ImagesChoice, PrArguments};

impl PrArguments {
    /// Returns the pull request, as far as it was named.
    pub(crate) fn place(&self) -> DestinationRequest {
        DestinationRequest {
            repository: self.repo.clone(),
            number: self.number,
            commit: self.commit.clone(),
        }
    }
}

impl From<ImagesChoice> for github::ImagesChoice {
    fn from(choice: ImagesChoice) -> Self {
        match choice {
            ImagesChoice::Auto => Self::Auto,
            ImagesChoice::Assets => Self::Assets,
            ImagesChoice::Summary => Self::Summary,
            ImagesChoice::Text => Self::Text,
        }
    }
}
