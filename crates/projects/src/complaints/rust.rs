//! Errors of rustc and cargo, in the form of other compilers: `FILE:LINE:COLUMN: TEXT`.

const ARROW: &str = "--> ";
const PANIC: &str = "' panicked at ";
const PANIC_WITH_NUMBER: &str = ") panicked at ";

/// Returns an error with its place behind `-->`, or the message of a panic.
pub fn error(lines: &[&str]) -> Option<(String, usize)> {
    let (first, second) = (lines[0], lines.get(1)?.trim());
    if let Some(place) = second.strip_prefix(ARROW).filter(|_| first.starts_with("error")) {
        return Some((format!("{place}: {first}"), 2));
    }
    let panic = [PANIC, PANIC_WITH_NUMBER].iter().find_map(|word| first.split_once(word))?;
    Some((format!("{} {second}", panic.1), 2))
}
