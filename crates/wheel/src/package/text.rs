//! Validation of texts in packages.

use super::{Fault, FaultKind};
use crate::package::zip_file::LONGEST_TEXT;

/// Reports texts that are too long, not UTF-8, or have a NUL, at which some readers stop.
pub fn checked(bytes: Vec<u8>) -> (String, Option<Fault>) {
    let wrong = |what: &'static str| Some(Fault::new(FaultKind::Text, what));
    let fault = if bytes.len() as u64 > LONGEST_TEXT {
        wrong("longer than the limit of 2 MiB")
    } else if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        wrong("NUL byte").map(|fault| fault.because(format!("byte {at}")))
    } else {
        None
    };
    match String::from_utf8(bytes) {
        Ok(text) => (text, fault),
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let no_text =
                || wrong("not UTF-8").map(|fault| fault.because(format!("byte {offset}")));
            (text, fault.or_else(no_text))
        }
    }
}
