//! Exceptions of Python.

const TRACEBACK: &str = "Traceback (most recent call last):";
const FRAME: &str = "  File \"";
/// Name of the text that setuptools runs.
const SETUP: &str = "<string>";
/// Lines of a message; setuptools' begins with the least important one.
const MOST_LINES: usize = 4;

/// Returns an exception with its message, and with the line of the project that raised it.
pub fn exception(lines: &[&str]) -> Option<(String, usize)> {
    if lines[0] != TRACEBACK {
        return None;
    }
    let frames = 1 + lines[1..].iter().take_while(|line| line.starts_with("  ")).count();
    let message = lines[frames..].iter().take_while(|line| !line.is_empty());
    let text: Vec<&str> = message.clone().take(MOST_LINES).copied().collect();
    if text.is_empty() {
        return None;
    }
    let place = lines[1..frames].iter().rev().find_map(|line| place(line));
    let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
    Some((format!("{place}{}", text.join("\n")), frames + message.count().min(MOST_LINES)))
}

/// Returns `FILE:LINE` of a frame in the project.
fn place(frame: &str) -> Option<String> {
    let (file, rest) = frame.strip_prefix(FRAME)?.split_once("\", line ")?;
    let number = rest.split(',').next()?;
    let is_foreign = file.contains("/site-packages/") || file.contains("/lib/python");
    let file = if file == SETUP { "setup.py" } else { file };
    (!is_foreign && !file.starts_with('<')).then(|| format!("{file}:{number}"))
}
