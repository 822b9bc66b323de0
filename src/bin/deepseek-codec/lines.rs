//! Jobs, one a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use crate::failure::Failure;

/// The lines of a file or of standard input that are not blank.
pub(crate) struct Lines(Box<dyn BufRead>);

impl Lines {
    /// The lines of `file`; of standard input if it is absent or `-`.
    pub(crate) fn open(file: Option<&Path>) -> Result<Self, Failure> {
        Ok(Self(match file.filter(|file| *file != Path::new("-")) {
            None => Box::new(io::stdin().lock()),
            Some(path) => {
                let file =
                    File::open(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
                Box::new(BufReader::new(file))
            }
        }))
    }
}

impl Iterator for Lines {
    type Item = Result<Vec<u8>, io::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let mut line = Vec::new();
            match self.0.read_until(b'\n', &mut line) {
                Ok(0) => return None,
                Ok(_) if line.iter().all(u8::is_ascii_whitespace) => {}
                Ok(_) => return Some(Ok(line)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
