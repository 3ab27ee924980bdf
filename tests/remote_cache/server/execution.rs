//! Farm of the server: runs actions as separate programs, or has a fault.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use base::hash::Sha256;
use bazel_remote_apis::build::bazel::remote::execution::v2 as api;
use bazel_remote_apis::google::longrunning as long;
use bazel_remote_apis::google::protobuf::{Any, Empty};
use bazel_remote_apis::google::rpc;
use fs_err as fs;
use futures_util::{Stream, StreamExt, stream};
use prost::Message as _;
use tonic::{Code, Request, Response, Status};

use super::{Answers, Fault, Shared, for_ever, status};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FarmFault {
    /// The client is not allowed to execute.
    Refuses,
    /// No machine is free.
    Busy,
    /// The request is never answered.
    Stalls,
    /// The execution starts, but never ends.
    NeverDone,
    /// An input is missing when needed, once for each action.
    Loses,
    /// The first two streams of answers end without a result.
    Breaks,
    /// The program fails.
    Fails,
    /// The output belongs to another content.
    OtherContent,
    /// The output has another name.
    OtherOutput,
    /// The output is missing when requested.
    Gone,
    /// Each package has the bytes of the first built one.
    OtherPackage,
    /// The output has more bytes than any disk.
    Huge,
    /// Answers of an execution that never ends are sent without a pause.
    Floods,
}

impl FarmFault {
    /// Faults of the tests of streams and of packages. `OtherPackage`, `Huge` and `Floods` have tests of their own.
    pub const ALL: [Self; 10] = [
        Self::Refuses,
        Self::Busy,
        Self::Stalls,
        Self::NeverDone,
        Self::Loses,
        Self::Breaks,
        Self::Fails,
        Self::OtherContent,
        Self::OtherOutput,
        Self::Gone,
    ];

    /// Returns whether retrying helps.
    pub fn is_retried(self) -> bool {
        matches!(self, Self::Loses | Self::Breaks)
    }

    /// Returns whether a warning is printed. `NeverDone` has none: the build ends before the limit.
    pub fn is_reported(self) -> bool {
        !self.is_retried() && self != Self::NeverDone
    }
}

impl Shared {
    fn message<T: prost::Message + Default>(&self, digest: Option<&api::Digest>) -> T {
        T::decode(&*self.content(digest)).unwrap()
    }

    fn content(&self, digest: Option<&api::Digest>) -> Vec<u8> {
        let blob = self.state.lock().unwrap().blobs.get(&digest.unwrap().hash).cloned();
        blob.expect("an input that nobody sent")
    }

    pub(super) fn keep(&self, bytes: Vec<u8>) -> api::Digest {
        let (hash, size) = (Sha256::of(&bytes).to_string(), bytes.len());
        self.state.lock().unwrap().blobs.insert(hash.clone(), bytes);
        api::Digest { hash, size_bytes: i64::try_from(size).unwrap() }
    }

    /// Executes an action in a directory with only its inputs and the tested program.
    fn run(&self, action: &api::Digest, fault: Option<FarmFault>) -> api::ActionResult {
        let action: api::Action = self.message(Some(action));
        let command: api::Command = self.message(action.command_digest.as_ref());
        let properties = action.platform.unwrap().properties;
        assert_eq!((&*properties[0].name, &*properties[0].value), ("OSFamily", "Linux"));
        assert!(action.timeout.unwrap().seconds >= 60);
        let dir = tempfile::tempdir().unwrap();
        self.lay_out(action.input_root_digest.as_ref(), dir.path());
        let content = dir.path().join("content");
        // A short content makes the program end at once, before a thread of the client packs the same stream.
        // `OtherOutput` keeps its content, so that the client can refuse the name alone.
        let is_short = fault.is_some_and(|it| !it.is_retried() && it != FarmFault::OtherOutput);
        if is_short && content.exists() {
            fs::write(content, "another content").unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_rockpack"), dir.path().join("program")).unwrap();
        let mut arguments = command.arguments.clone();
        let is_stream = arguments[1] == "pack-stream";
        assert_eq!(command.environment_variables.is_empty(), is_stream);
        let variables = command.environment_variables.iter().map(|it| (&it.name, &it.value));
        if fault == Some(FarmFault::Fails) {
            // An unknown argument makes the program fail.
            let argument = &mut arguments[if is_stream { 2 } else { 1 }];
            argument.push_str(" by another program");
        }
        let Output { status, stderr, .. } = Command::new(&arguments[0])
            .args(&arguments[1..])
            .current_dir(dir.path())
            .env_clear()
            .envs(variables)
            .output()
            .unwrap();
        let mut result =
            api::ActionResult { exit_code: status.code().unwrap(), ..api::ActionResult::default() };
        // Real servers do either.
        if is_stream {
            result.stderr_raw = stderr;
        } else {
            result.stderr_digest = Some(self.keep(stderr));
        }
        let path = &command.output_paths[0];
        if let Ok(mut stream) = fs::read(dir.path().join(path)) {
            if fault == Some(FarmFault::OtherContent) && !is_stream {
                let middle = stream.len() / 2;
                stream[middle] ^= 1;
            }
            if fault == Some(FarmFault::OtherPackage) {
                let mut state = self.state.lock().unwrap();
                stream.clone_from(state.first.get_or_insert_with(|| stream.clone()));
            }
            let mut digest = self.keep(stream);
            if fault == Some(FarmFault::Huge) {
                digest.size_bytes = i64::MAX;
            }
            if fault == Some(FarmFault::Gone) {
                self.state.lock().unwrap().blobs.remove(&digest.hash);
            }
            let other = fault == Some(FarmFault::OtherOutput);
            result.output_files.push(api::OutputFile {
                path: if other { "core".to_owned() } else { path.clone() },
                digest: Some(digest),
                ..api::OutputFile::default()
            });
        }
        result
    }

    fn lay_out(&self, directory: Option<&api::Digest>, dir: &Path) {
        let directory: api::Directory = self.message(directory);
        for file in directory.files {
            let path = dir.join(&file.name);
            fs::write(&path, self.content(file.digest.as_ref())).unwrap();
            let mode = if file.is_executable { 0o755 } else { 0o644 };
            fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        }
        for link in directory.symlinks {
            symlink(&link.target, dir.join(&link.name)).unwrap();
        }
        for below in directory.directories {
            let path = dir.join(&below.name);
            fs::create_dir(&path).unwrap();
            self.lay_out(below.digest.as_ref(), &path);
        }
    }

    /// Returns whether this is the first request for the action, and the number of all requests.
    fn count_request(&self, action: &api::Digest) -> (bool, usize) {
        let mut state = self.state.lock().unwrap();
        state.asked += 1;
        (state.seen.insert(action.hash.clone()), state.asked)
    }
}

fn under_way(action: &api::Digest) -> long::Operation {
    let name = format!("operations/{}", action.hash);
    long::Operation { name, ..long::Operation::default() }
}

fn finished_operation(action: &api::Digest, response: &api::ExecuteResponse) -> long::Operation {
    let value = response.encode_to_vec();
    let type_url = "type.googleapis.com/build.bazel.remote.execution.v2.ExecuteResponse".to_owned();
    let result = long::operation::Result::Response(Any { type_url, value });
    long::Operation { done: true, result: Some(result), ..under_way(action) }
}

fn lacking(action: &api::Digest) -> impl Stream<Item = Result<long::Operation, Status>> + use<> {
    let status: rpc::Status = status(Code::FailedPrecondition);
    let response = api::ExecuteResponse { status: Some(status), ..api::ExecuteResponse::default() };
    stream::iter([Ok(finished_operation(action, &response))])
}

#[tonic::async_trait]
impl api::execution_server::Execution for Shared {
    type ExecuteStream = Answers<long::Operation>;

    async fn execute(
        &self,
        request: Request<api::ExecuteRequest>,
    ) -> Result<Response<Self::ExecuteStream>, Status> {
        let has_all = self.enter(&request)? == Some(Fault::HasAll);
        let request = request.into_inner();
        let action = request.action_digest.unwrap();
        let fault = self.state.lock().unwrap().farm_fault;
        let (is_first, requests) = self.count_request(&action);
        let begun = stream::iter([Ok(under_way(&action))]);
        let cached = self.state.lock().unwrap().entries.get(&action.hash).cloned();
        if let Some(result) = cached.filter(|_| !request.skip_cache_lookup) {
            let response =
                api::ExecuteResponse { result: Some(result), ..api::ExecuteResponse::default() };
            let operation = stream::iter([Ok(finished_operation(&action, &response))]);
            return Ok(Response::new(Box::pin(begun.chain(operation))));
        }
        match fault {
            Some(FarmFault::Refuses) => return Err(Status::permission_denied("not you")),
            Some(FarmFault::Busy) => return Err(Status::resource_exhausted("too much to do")),
            Some(FarmFault::Stalls) => return for_ever().await,
            Some(FarmFault::NeverDone) => {
                return Ok(Response::new(Box::pin(begun.chain(stream::pending()))));
            }
            Some(FarmFault::Floods) => {
                let answers = stream::repeat_with(move || Ok(under_way(&action)));
                return Ok(Response::new(Box::pin(answers)));
            }
            Some(FarmFault::Breaks) if requests <= 2 => return Ok(Response::new(Box::pin(begun))),
            Some(FarmFault::Loses) if is_first => {
                let hash = {
                    let action: api::Action = self.message(Some(&action));
                    let root: api::Directory = self.message(action.input_root_digest.as_ref());
                    root.files[0].digest.clone().unwrap().hash
                };
                self.state.lock().unwrap().blobs.remove(&hash);
                return Ok(Response::new(Box::pin(begun.chain(lacking(&action)))));
            }
            _ if has_all => return Ok(Response::new(Box::pin(begun.chain(lacking(&action))))),
            _ => {}
        }
        let shared = self.clone();
        let result = async move {
            let _permit = shared.machines.acquire().await.unwrap();
            let (farm, action_to_run) = (shared.clone(), action.clone());
            let result = tokio::task::spawn_blocking(move || farm.run(&action_to_run, fault));
            // `run` panics if the next test has emptied the storage; its client has left.
            let result = result.await.map_err(|e| Status::aborted(e.to_string()))?;
            let mut state = shared.state.lock().unwrap();
            state.executed.push(action.hash.clone());
            if fault.is_none() {
                state.entries.insert(action.hash.clone(), result.clone());
            }
            let response =
                api::ExecuteResponse { result: Some(result), ..api::ExecuteResponse::default() };
            Ok(finished_operation(&action, &response))
        };
        Ok(Response::new(Box::pin(begun.chain(stream::once(result)))))
    }

    type WaitExecutionStream = Answers<long::Operation>;

    async fn wait_execution(
        &self,
        _: Request<api::WaitExecutionRequest>,
    ) -> Result<Response<Self::WaitExecutionStream>, Status> {
        Err(Status::unimplemented(""))
    }
}

#[tonic::async_trait]
impl long::operations_server::Operations for Shared {
    async fn cancel_operation(
        &self,
        request: Request<long::CancelOperationRequest>,
    ) -> Result<Response<Empty>, Status> {
        self.enter(&request)?;
        assert!(request.into_inner().name.starts_with("operations/"));
        self.state.lock().unwrap().cancelled += 1;
        Ok(Response::new(Empty::default()))
    }

    async fn list_operations(
        &self,
        _: Request<long::ListOperationsRequest>,
    ) -> Result<Response<long::ListOperationsResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_operation(
        &self,
        _: Request<long::GetOperationRequest>,
    ) -> Result<Response<long::Operation>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn delete_operation(
        &self,
        _: Request<long::DeleteOperationRequest>,
    ) -> Result<Response<Empty>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn wait_operation(
        &self,
        _: Request<long::WaitOperationRequest>,
    ) -> Result<Response<long::Operation>, Status> {
        Err(Status::unimplemented(""))
    }
}
