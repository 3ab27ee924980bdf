//! Creates clients of object stores from a URL and the environment.

use std::env;
use std::path::Path as FilePath;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{
    Attributes, BackoffConfig, ClientConfigKey, ObjectStore, ObjectStoreScheme, RetryConfig,
};
use reqwest::Url;
use tokio::runtime::Runtime;

use super::environment::{Settings, unfit};
use super::wire::{Connector, head};
use crate::store::{Access, Options};
use base::names::RelPath;

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) store: Arc<dyn ObjectStore>,
    scheme: ObjectStoreScheme,
    /// Empty, or with a final `/`.
    prefix: String,
}

type Result<T> = std::result::Result<T, object_store::Error>;

impl Connection {
    pub(super) fn new(url: &str, options: &Options, runtime: &Runtime) -> Result<Self> {
        // Fails if a provider is installed already: harmless.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let parsed = Url::parse(url).map_err(|e| generic_error("URL", e))?;
        let (scheme, path) = ObjectStoreScheme::parse(&parsed)?;
        let prefix = path.as_ref();
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let connector = Connector::new(options, scheme == ObjectStoreScheme::Http);
        let region = region(&parsed, &scheme, &connector, runtime)?;
        let transport = (&retries(options), &connector);
        let store = client(&parsed, &scheme, options.access, transport, region.as_deref())?;
        Ok(Self { store, scheme, prefix })
    }

    pub(super) fn path(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    pub(super) fn key(&self, path: &str) -> Option<RelPath> {
        path.strip_prefix(&self.prefix)?.parse().ok()
    }

    /// True if the store lists its objects.
    pub(super) fn can_list(&self) -> bool {
        self.scheme != ObjectStoreScheme::Http
    }

    /// True if conditional writes take generation numbers instead of entity tags.
    pub(super) fn has_generations(&self) -> bool {
        self.scheme == ObjectStoreScheme::GoogleCloudStorage
    }

    /// True if servers answer with the stored `Content-Encoding`. Google's decode for some clients,
    /// and then omit the length.
    pub(super) fn keeps_encoding(&self) -> bool {
        use ObjectStoreScheme::{AmazonS3, MicrosoftAzure};
        matches!(self.scheme, AmazonS3 | MicrosoftAzure)
    }

    /// Attributes that the store keeps: HTTP servers keep none.
    pub(super) fn attributes(&self, attributes: Attributes) -> Attributes {
        if self.scheme == ObjectStoreScheme::Http { Attributes::new() } else { attributes }
    }
}

fn retries(options: &Options) -> RetryConfig {
    let init_backoff = options.pause;
    let backoff = BackoffConfig { init_backoff, ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries: options.retries, retry_timeout: options.patience }
}

fn client(
    url: &Url,
    scheme: &ObjectStoreScheme,
    access: Access,
    (retries, connector): (&RetryConfig, &Connector),
    region: Option<&str>,
) -> Result<Arc<dyn ObjectStore>> {
    let text = url.to_string();
    let unsigned = match access {
        // Credentials of the machine, such as a role, do not count: without them, asking its metadata
        // server would fail before a public store is read.
        Access::Any => !has_credentials(scheme),
        Access::Anonymous => true,
        Access::Signed => false,
    };
    macro_rules! store {
        ($builder:ident, $key:ident, $prefix:literal, $further:literal, $finish:expr) => {{
            let settings = Settings::<$key>::from_environment($prefix, $further).map_err(unfit)?;
            let client = settings.client(|settings| {
                let mut builder = $builder::new().with_url(&text).with_retry(retries.clone());
                builder = builder.with_http_connector(connector.clone());
                for (key, value) in settings {
                    builder = builder.with_config(key, value);
                }
                if unsigned {
                    builder = builder.with_config($key::SkipSignature, "true");
                }
                $finish(builder).build()
            });
            Ok(Arc::new(client?))
        }};
    }
    match scheme {
        ObjectStoreScheme::AmazonS3 => {
            store!(AmazonS3Builder, AmazonS3ConfigKey, "AWS_", "", |builder: AmazonS3Builder| {
                match region {
                    Some(region) => builder.with_region(region),
                    None => builder,
                }
            })
        }
        ObjectStoreScheme::GoogleCloudStorage => {
            let unchanged = |builder| builder;
            store!(
                GoogleCloudStorageBuilder,
                GoogleConfigKey,
                "GOOGLE_",
                "SERVICE_ACCOUNT",
                unchanged
            )
        }
        ObjectStoreScheme::MicrosoftAzure => {
            let unchanged = |builder| builder;
            store!(MicrosoftAzureBuilder, AzureConfigKey, "AZURE_", "IDENTITY_ENDPOINT", unchanged)
        }
        _ => {
            let top = url.origin().ascii_serialization();
            let plain = url.scheme() == "http";
            let mut builder = HttpBuilder::new().with_url(top).with_retry(retries.clone());
            builder = builder.with_http_connector(connector.clone());
            builder = builder.with_config(ClientConfigKey::AllowHttp, plain.to_string());
            Ok(Arc::new(builder.build()?))
        }
    }
}

/// Region of an `s3://` bucket; `None` if the environment names a region or endpoint, or the URL is
/// not `s3://`.
fn region(
    url: &Url,
    scheme: &ObjectStoreScheme,
    connector: &Connector,
    runtime: &Runtime,
) -> Result<Option<String>> {
    let region_variables = [
        "AWS_REGION",
        "AWS_DEFAULT_REGION",
        "AWS_ENDPOINT",
        "AWS_ENDPOINT_URL",
        "AWS_ENDPOINT_URL_S3",
    ];
    let is_configured = region_variables.iter().any(|name| is_set(name));
    if *scheme != ObjectStoreScheme::AmazonS3 || url.scheme() != "s3" || is_configured {
        return Ok(None);
    }
    let bucket = url.host_str().unwrap_or_default();
    // S3's wildcard certificate covers one label, so a bucket name with dots belongs in the path.
    let address = if bucket.contains('.') {
        format!("https://s3.amazonaws.com/{bucket}")
    } else {
        format!("https://{bucket}.s3.amazonaws.com")
    };
    let headers = runtime.block_on(head(connector, &address))?;
    let region = headers.get("x-amz-bucket-region").and_then(|region| region.to_str().ok());
    // The region becomes part of a host name.
    let is_label = |region: &&str| region.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if let Some(region) = region.filter(is_label) {
        return Ok(Some(region.to_owned()));
    }
    Err(unfit(format!("S3 returned no region for the bucket `{bucket}`: set AWS_REGION")))
}

fn has_credentials(scheme: &ObjectStoreScheme) -> bool {
    let variables: &[&str] = match scheme {
        ObjectStoreScheme::AmazonS3 => &[
            "AWS_ACCESS_KEY_ID",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        ],
        ObjectStoreScheme::GoogleCloudStorage => &[
            "GOOGLE_SERVICE_ACCOUNT",
            "GOOGLE_SERVICE_ACCOUNT_PATH",
            "GOOGLE_SERVICE_ACCOUNT_KEY",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_BEARER_TOKEN",
            "SERVICE_ACCOUNT",
        ],
        ObjectStoreScheme::MicrosoftAzure => &[
            "AZURE_STORAGE_ACCOUNT_KEY",
            "AZURE_STORAGE_ACCESS_KEY",
            "AZURE_STORAGE_MASTER_KEY",
            "AZURE_STORAGE_CLIENT_SECRET",
            "AZURE_CLIENT_SECRET",
            "AZURE_STORAGE_SAS_KEY",
            "AZURE_STORAGE_SAS_TOKEN",
            "AZURE_STORAGE_TOKEN",
            "AZURE_FEDERATED_TOKEN_FILE",
            "AZURE_MSI_ENDPOINT",
            "AZURE_IDENTITY_ENDPOINT",
            "AZURE_USE_AZURE_CLI",
            "AZURE_STORAGE_USE_EMULATOR",
            "IDENTITY_ENDPOINT",
        ],
        _ => &[],
    };
    let has_gcloud_login = || {
        let home = env::var_os("HOME").unwrap_or_default();
        FilePath::new(&home).join(".config/gcloud/application_default_credentials.json").is_file()
    };
    variables.iter().any(|name| is_set(name))
        || *scheme == ObjectStoreScheme::GoogleCloudStorage && has_gcloud_login()
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn generic_error(
    store: &'static str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> object_store::Error {
    object_store::Error::Generic { store, source: Box::new(error) }
}
