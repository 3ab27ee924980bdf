use clap::Subcommand;

use super::{
    AuditArgs, CloneArgs, CompletionsArgs, DeltaArgs, FetchArgs, FetchPackagesArgs, IndexArgs,
    ListArgs, ManArgs, MirrorArgs, PackArgs, PromoteArgs, PruneStoreArgs, PublishArgs, RepackArgs,
    RetagArgs, ScanArgs, SplitArgs, VerifyArgs, VersionsArgs,
};

/// Fetch, scan and pack artifacts
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum ArtifactCommand {
    Fetch(FetchArgs),
    Scan(ScanArgs),
    Pack(PackArgs),
}

/// Verify, audit, retag, repack, promote and split finished packages
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum WheelCommand {
    Verify(VerifyArgs),
    Audit(AuditArgs),
    Retag(RetagArgs),
    Repack(RepackArgs),
    Promote(PromoteArgs),
    Split(SplitArgs),
}

/// Write, publish, prune, mirror, patch and fetch indexes
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum IndexCommand {
    Write(IndexArgs),
    Publish(PublishArgs),
    Prune(PruneStoreArgs),
    Mirror(MirrorArgs),
    Delta(DeltaArgs),
    Fetch(FetchPackagesArgs),
}

/// List and clone the checkouts of Python projects
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum ProjectCommand {
    List(ListArgs),
    Clone(CloneArgs),
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum HelpCommand {
    Man(ManArgs),
    Completions(CompletionsArgs),
    Versions(Box<VersionsArgs>),
}
