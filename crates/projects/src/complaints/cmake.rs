//! Errors of CMake: a line with the place, then the indented message.

/// Beginning of errors with a place.
pub const PLACED: &str = "CMake Error at ";
const OTHER: &str = "CMake Error";
/// Beginning of the calls that led to an error, innermost first.
const CALLS: &str = "Call Stack ";
/// Lines of a message: a compiler test prints a whole log.
const MOST_LINES: usize = 6;

/// Returns an error with its message, without blank lines.
pub fn error(lines: &[&str]) -> Option<(String, usize)> {
    if !lines[0].starts_with(OTHER) {
        return None;
    }
    let message = lines[1..].iter().take_while(|line| line.is_empty() || line.starts_with("  "));
    let read = 1 + message.clone().count();
    let text = message.filter(|line| !line.is_empty()).take(MOST_LINES);
    let first = call_of_project(lines[0], &lines[read..]).unwrap_or_else(|| lines[0].to_owned());
    let text: Vec<&str> = [&*first].into_iter().chain(text.copied()).collect();
    Some((text.join("\n"), read))
}

/// First line for an error in one of CMake's modules: the innermost call in the project, whose
/// files have relative paths.
fn call_of_project(first: &str, after: &[&str]) -> Option<String> {
    let is_foreign = first.strip_prefix(PLACED)?.starts_with('/');
    if !is_foreign || !after.first()?.starts_with(CALLS) {
        return None;
    }
    let calls = after[1..].iter().map_while(|line| line.strip_prefix("  "));
    let call = calls.into_iter().find(|call| !call.starts_with('/'))?;
    Some(format!("{PLACED}{call}:"))
}
