//! Errors of one line.

const HARMLESS: [&str; 6] =
    ["warning:", "note:", "remark:", "performance hint:", "required from", "required by"];

/// Reports of a failed program, whose own error says more.
const EFFECTS: [&str; 13] = [
    "error: could not compile",
    "error: aborting due to",
    "error: command '",
    "error: Command '",
    "error: Backend subprocess",
    "error: failed to run custom build command",
    "CMake Error: CMAKE_",
    "collect2: error:",
    "error: linker command failed",
    "subprocess.CalledProcessError",
    "CompileError:",
    "error: metadata-generation-failed",
    "error: subprocess-exited-with-error",
];

pub fn is_effect(error: &str) -> bool {
    EFFECTS.iter().any(|effect| error.contains(effect))
}

pub fn is_error(line: &str) -> bool {
    has_place(line) || of_program(line) || of_linker(line) || of_make(line)
}

/// Length of the file at the beginning of `FILE:LINE…`.
pub fn file_end(text: &str) -> Option<usize> {
    let (file, rest) = text.split_once(':')?;
    let is_file = file.contains('.') && !file.contains(char::is_whitespace);
    (is_file && rest.starts_with(|c: char| c.is_ascii_digit())).then_some(file.len())
}

/// `FILE:LINE:COLUMN: TEXT`, or `FILE:LINE: error`.
fn has_place(line: &str) -> bool {
    let Some(end) = file_end(line) else { return false };
    let mut parts = line[end + 1..].splitn(3, ':');
    let (Some(number), Some(second)) = (parts.next(), parts.next()) else { return false };
    if !is_number(number) {
        return false;
    }
    let rest = parts.next().unwrap_or_default().trim_start();
    if is_number(second) {
        return !rest.is_empty() && !HARMLESS.iter().any(|word| rest.starts_with(word));
    }
    let second = second.trim_start();
    second.starts_with("error") || second.starts_with("fatal error")
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `error: TEXT`, `ERROR: TEXT`, `PROGRAM: error: TEXT`, `PROGRAM: fatal error: TEXT`.
fn of_program(line: &str) -> bool {
    let rest = match line.split_once(": ") {
        Some((program, rest)) if is_program(program) => rest,
        _ => line,
    };
    ["error: ", "fatal error: ", "ERROR: ", "error["].iter().any(|word| rest.starts_with(word))
}

fn is_program(word: &str) -> bool {
    !word.contains(char::is_whitespace) && !word.is_empty() && !["error", "ERROR"].contains(&word)
}

fn of_linker(line: &str) -> bool {
    let program = line.split(": ").next().unwrap_or_default();
    line.contains(": undefined reference to ")
        || program.rsplit('/').next() == Some("ld") && line.contains(": cannot find ")
}

fn of_make(line: &str) -> bool {
    line.contains("make") && line.contains(": *** No rule to make target ")
}
