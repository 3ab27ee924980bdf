//! Nodes, as the crate `kdl` reads them.

use std::fmt::Display;
use std::ops::Range;
use std::thread;

use super::{Entry, Name, Node, Value, grammar};
use base::source::{Code, Problem, Problems, Source};
use kdl::{KdlDocument, KdlEntry, KdlError, KdlIdentifier, KdlNode, KdlValue};

/// Stack of the thread that reads a text, because the crate takes up to 8 kB for each of the
/// [`super::MOST_DEPTH`] nested blocks, and more in a build without optimisation. Untouched pages
/// take no memory.
const STACK: usize = 64 << 20;

/// Reads a text on a thread with a large stack.
///
/// # Errors
/// All mistakes with their places, or a thread that cannot be started.
pub(super) fn nodes(source: &Source) -> Result<Vec<Node>, Problems> {
    thread::scope(|scope| {
        let reader = thread::Builder::new().stack_size(STACK);
        let reader = reader.spawn_scoped(scope, || read(source)).map_err(|error| {
            let message = format!("cannot start a thread to read {}: {error}", source.name());
            Problem::error(Code::Limit, message)
        })?;
        reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn read(source: &Source) -> Result<Vec<Node>, Problems> {
    let plain = grammar::check(source)?;
    let document = KdlDocument::parse_v2(&plain).map_err(|error| refusal(source, &error))?;
    Ok(document.nodes().iter().map(node).collect())
}

/// Problem of a fault that [`grammar`] misses, with the crate's message.
fn refusal(source: &Source, error: &KdlError) -> Problem {
    let Some(first) = error.diagnostics.first() else {
        return Problem::error(Code::NotKdl, message(error));
    };
    let text = source.text();
    let start = text.floor_char_boundary(first.span.offset());
    let end = text.ceil_char_boundary(first.span.offset() + first.span.len());
    let label = first.label.clone().unwrap_or_default();
    let problem = Problem::error(Code::NotKdl, message(first)).label(&source.at(start..end), label);
    match &first.help {
        Some(help) => problem.help(help),
        None => problem,
    }
}

fn message(reason: impl Display) -> String {
    format!("the KDL reader refuses this text: {reason}")
}

fn node(node: &KdlNode) -> Node {
    Node {
        annotation: node.ty().map(name),
        name: name(node.name()),
        entries: node.entries().iter().map(entry).collect(),
        block: node.children().map(|block| block.nodes().iter().map(self::node).collect()),
    }
}

fn name(identifier: &KdlIdentifier) -> Name {
    let span = identifier.span();
    let span = span.offset()..span.offset() + span.len();
    Name { text: identifier.value().to_owned(), span }
}

fn entry(entry: &KdlEntry) -> Entry {
    let span = entry.span();
    let span = span.offset()..span.offset() + span.len();
    Entry {
        name: entry.name().map(name),
        annotation: entry.ty().map(name),
        value: value(entry.value()),
        value_span: value_span(entry, &span),
        span,
    }
}

/// The last bytes of an entry, because it ends with its value.
fn value_span(entry: &KdlEntry, span: &Range<usize>) -> Range<usize> {
    let length = entry.format().map_or(span.len(), |format| format.value_repr.len());
    span.end - length..span.end
}

fn value(value: &KdlValue) -> Value {
    match value {
        KdlValue::String(text) => Value::Text(text.clone()),
        KdlValue::Integer(number) => Value::Integer(*number),
        KdlValue::Float(_) => Value::Number,
        KdlValue::Bool(value) => Value::Bool(*value),
        KdlValue::Null => Value::Null,
    }
}
