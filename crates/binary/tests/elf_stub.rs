//! Exec stubs and forwarding libraries when run: natively, and for the other machine under qemu.

mod assemble;
mod exec;
mod exec_errors;
mod format;
mod forward;
mod tools;
