//! Tests of the program and of several crates in one program: it links once, and its tests share the cores. Tests of
//! one crate are in `crates/*/tests`.
//!
//! `cargo test --test all cli::` runs the tests of one file. The feature `long-tests` compiles files of tests that take
//! ten seconds or more together: `cargo test` stays short, because contributors run it before each commit.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod architecture;
mod artifact_command;
mod assembling;
mod attacks;
mod audit;
mod bench;
mod cache_command;
mod cache_processes;
mod checkout_copies;
mod cli;
mod completions;
mod defaults;
mod demo_tree;
mod diff;
mod documented_steps;
mod elf_command;
mod events;
mod execstack;
mod explain_command;
mod failed_builds;
mod fetch_command;
mod fmt_command;
#[cfg(feature = "long-tests")]
mod full_disks;
#[cfg(feature = "long-tests")]
mod gate;
mod golden;
mod help;
#[cfg(feature = "long-tests")]
mod hostile_members;
#[cfg(feature = "long-tests")]
mod hostile_packages;
mod independent;
mod index;
mod init_command;
mod isas;
mod ledger;
mod manifest_errors;
mod manifest_files;
mod messages;
#[cfg(feature = "long-tests")]
mod mistakes;
#[cfg(feature = "long-tests")]
mod nights;
#[cfg(feature = "long-tests")]
mod open_files;
#[cfg(feature = "long-tests")]
mod other_scripts;
mod outputs;
mod ownership;
#[cfg(feature = "long-tests")]
mod package_mutations;
mod planning;
mod planning_errors;
mod prepared_sources;
mod problem_codes;
mod program;
mod project_command;
#[cfg(feature = "long-tests")]
mod promote_command;
mod provenance_mutations;
#[cfg(feature = "long-tests")]
mod publishing;
mod read_errors;
#[cfg(feature = "long-tests")]
mod record_mutations;
#[cfg(feature = "remote")]
mod remote_cache;
#[cfg(not(feature = "remote"))]
mod remoteless;
mod repository;
mod review_action;
mod runtime;
mod sanitizer;
#[cfg(feature = "long-tests")]
mod saved_catalog;
mod schema;
mod seams;
mod shard_action;
mod shared_cache_model;
mod shipped_commands;
mod split_command;
#[cfg(feature = "long-tests")]
mod unprivileged;
mod verify;
mod versions_command;
#[cfg(feature = "long-tests")]
mod walls;
#[cfg(feature = "long-tests")]
mod words;
