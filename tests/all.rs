//! All integration tests in one program: it links once, and its tests share the cores.
//!
//! `cargo test --test all cli::` runs the tests of one file. Slow files are compiled with the feature
//! `long-tests`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod architecture;
mod archive;
mod artifact_command;
mod assembling;
mod attacks;
mod audit;
mod bench;
mod cache_command;
mod cache_processes;
mod checkout_copies;
mod cli;
mod defaults;
mod demo_tree;
mod diff;
mod documented_steps;
mod elf_command;
#[cfg(feature = "long-tests")]
mod elf_conformance;
mod elf_corpus;
mod elf_mutations;
#[cfg(feature = "long-tests")]
mod elf_strippers;
mod elf_stub;
mod elf_verify;
mod events;
mod execstack;
mod expected;
mod explain_command;
mod failed_builds;
mod fetch_command;
mod fmt_command;
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
mod kdl;
mod ledger;
mod manifest_errors;
mod manifest_files;
mod messages;
mod mistakes;
mod nights;
mod open_files;
mod other_scripts;
mod outputs;
mod ownership;
mod package_mutations;
mod pe_files;
mod pe_imports;
mod planning;
mod planning_errors;
mod prepared_sources;
mod problem_codes;
mod program;
mod project_command;
mod promote_command;
mod provenance_mutations;
mod publishing;
mod read_errors;
mod record_mutations;
#[cfg(feature = "remote")]
mod remote_cache;
#[cfg(not(feature = "remote"))]
mod remoteless;
mod repository;
mod review_action;
mod runtime;
mod sanitizer;
mod saved_catalog;
mod schema;
mod seams;
mod shard_action;
mod shared_cache_model;
mod shipped_commands;
mod skips;
mod split_command;
mod unprivileged;
mod verify;
mod versions_command;
mod walls;
mod words;
