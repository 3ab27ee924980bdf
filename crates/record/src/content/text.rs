//! List of a content, published beside its package.

use super::{Installed, PackageContent};

const HEAD: &str = "rockpack content 1";
const PIN: &str = "requires ";

/// Fault of a list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is not of a list of contents: `{text}`")]
pub struct ContentTextError {
    line: usize,
    text: String,
}

impl PackageContent {
    /// Text of the list: requirements, then hash, mode and path of each file.
    pub fn to_text(&self) -> String {
        let mut text = format!("{HEAD}\n");
        for pin in &self.pins {
            text.extend([PIN, pin, "\n"]);
        }
        text + &self.rows()
    }

    /// Parses the output of [`PackageContent::to_text`].
    pub fn read(text: &str) -> Result<Self, ContentTextError> {
        let mut content = Self::default();
        for (index, line) in text.lines().enumerate() {
            let wrong = || ContentTextError { line: index + 1, text: line.to_owned() };
            if index == 0 {
                (line == HEAD).then_some(()).ok_or_else(wrong)?;
            } else if let Some(pin) = line.strip_prefix(PIN) {
                content.pins.push(pin.to_owned());
            } else {
                let (path, file) = row(line).ok_or_else(wrong)?;
                content.members.insert(path, file);
            }
        }
        let no_head = || ContentTextError { line: 1, text: String::new() };
        if text.is_empty() { Err(no_head()) } else { Ok(content) }
    }
}

fn row(line: &str) -> Option<(String, Installed)> {
    let (hash, rest) = line.split_once(' ')?;
    let (mode, path) = rest.split_once(' ')?;
    let executable = match mode {
        "-" => false,
        "x" => true,
        _ => return None,
    };
    let is_hash = hash.strip_prefix("sha256=").is_some_and(|digits| digits.len() == 43);
    let hash = hash.to_owned();
    (is_hash && !path.is_empty()).then(|| (path.to_owned(), Installed { executable, hash }))
}
