use std::io;

/// End of the work on an archive.
pub(super) enum Halt<F> {
    Unread(io::Error),
    Refused(F),
}

impl<F> From<io::Error> for Halt<F> {
    fn from(error: io::Error) -> Self {
        Self::Unread(error)
    }
}
