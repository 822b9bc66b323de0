//! What ends the program early.

use std::io::{self, Write};
use std::process::ExitCode;

use deepseek_codec::protocol::RequestError;

/// A message for standard error.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something is wrong with the input.
    Message(String),
    /// The reader of the output went away.
    Closed,
}

impl Failure {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }

    /// Says what is wrong. Exit code 2 is for bad input; a closed pipe is not an error.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Closed => ExitCode::SUCCESS,
            Self::Message(message) => {
                // Nothing can be done if standard error is closed too.
                let _ = writeln!(io::stderr(), "deepseek-codec: {message}");
                ExitCode::from(2)
            }
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Message(error.to_string()),
        }
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        let place = match error.path() {
            "" => "request: ".to_owned(),
            path => format!("{path}: "),
        };
        // Some of the API's messages name the place themselves.
        let place = if error.message().contains(&place) { "" } else { &place };
        Self::Message(format!(
            "{place}{} (status {}, {})",
            error.message(),
            error.status(),
            error.kind().as_str()
        ))
    }
}
