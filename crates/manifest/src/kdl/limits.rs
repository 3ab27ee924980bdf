//! Limits of a text: size, nesting, characters.

use base::source::{Code, Problem, Problems, Source};

/// Most bytes of a file: 75 times packages.kdl. The crate `kdl` takes half a second and 46 MB for a manifest of this
/// size, and up to 2 s and 450 MB for other texts.
pub const MOST_BYTES: u64 = 1 << 20;

/// Deepest nesting of blocks, because the crate `kdl` takes stack for each.
pub const MOST_DEPTH: usize = 1_500;

/// Returns the text of `file`, called `name` in messages.
///
/// # Errors
/// The place of the first byte that is not UTF-8.
pub fn source(name: &str, file: &str, bytes: Vec<u8>) -> Result<Source, Problem> {
    String::from_utf8(bytes).map(|text| Source::of_file(name, file, text)).map_err(|error| {
        let (offset, bytes) = (error.utf8_error().valid_up_to(), error.as_bytes());
        let near = &bytes[..bytes.len().min(offset + NEAR)];
        let excerpt = Source::of_file(name, file, String::from_utf8_lossy(near));
        let label = format!("byte {offset} of the file is {:#04x}", bytes[offset]);
        Problem::error(Code::NotKdl, format!("{name} is not UTF-8"))
            .label(&excerpt.at(offset..offset + MARK.len_utf8()), label)
            .help("save it as UTF-8")
    })
}

const MARK: char = '\u{fffd}';

/// Bytes after the fault that its picture can show: the rest of the file may be no text at all.
const NEAR: usize = 400;

pub(super) fn check(source: &Source) -> Result<(), Problems> {
    if source.text().len() as u64 > MOST_BYTES {
        let message =
            format!("{} is larger than the limit of {} MiB", source.name(), MOST_BYTES >> 20);
        return Err(Problem::error(Code::Limit, message).into());
    }
    let odd =
        source.text().char_indices().find(|&(offset, c)| is_refused(c) && !is_mark(offset, c));
    odd.map_or(Ok(()), |(offset, c)| Err(refused(source, offset, c).into()))
}

fn is_mark(offset: usize, c: char) -> bool {
    offset == 0 && c == '\u{feff}'
}

/// Characters that KDL refuses everywhere, since people do not see them, and all other control characters.
fn is_refused(c: char) -> bool {
    let blank = matches!(c, '\t' | '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}');
    c.is_control() && !blank
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn refused(source: &Source, offset: usize, c: char) -> Problem {
    let place = source.at(offset..offset + c.len_utf8());
    let label = if c == '\0' { "not text" } else { "remove it" };
    let message = format!("the character U+{:04X} is not allowed in a manifest", u32::from(c));
    Problem::error(Code::NotKdl, message).label(&place, label)
}
