//! Requests to post.

use metalens_github::DestinationRequest;

use crate::args::posting::PrArguments;

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
