use std::env;
use std::ffi::OsString;
use std::str::FromStr;

use reqwest::Url;

const ADDRESSES: [&str; 12] = [
    "AWS_ENDPOINT",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_ENDPOINT_URL_STS",
    "AWS_METADATA_ENDPOINT",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AZURE_ENDPOINT",
    "AZURE_STORAGE_ENDPOINT",
    "AZURE_MSI_ENDPOINT",
    "AZURE_IDENTITY_ENDPOINT",
    "IDENTITY_ENDPOINT",
    "GOOGLE_BASE_URL",
];
/// Variables that become part of a host name.
const WORDS: [&str; 3] = ["AWS_REGION", "AWS_DEFAULT_REGION", ACCOUNT];
/// The only variable with multi-line values: JSON.
const JSON: &str = "GOOGLE_SERVICE_ACCOUNT_KEY";
/// Storage account of `az://`, and the library's message without it.
const ACCOUNT: &str = "AZURE_STORAGE_ACCOUNT_NAME";
const NO_ACCOUNT: &str = "Account must be specified";
/// Characters that URLs contain only percent-encoded.
const NOT_IN_URLS: &str = "\"<>\\^`{|}?#";

pub(super) struct Settings<K>(Vec<(String, K, String)>);

impl<K: FromStr> Settings<K> {
    /// Variables with the prefix `family`, and `further`; ignores empty values. Errors omit
    /// possible secrets.
    pub(super) fn from_environment(family: &str, further: &str) -> Result<Self, String> {
        Self::from_variables(env::vars_os(), family, further)
    }

    fn from_variables(
        variables: impl Iterator<Item = (OsString, OsString)>,
        family: &str,
        further: &str,
    ) -> Result<Self, String> {
        let mut settings = Vec::new();
        for (name, value) in variables {
            let Ok(name) = name.into_string() else { continue };
            if value.is_empty() || !name.starts_with(family) && name != further {
                continue;
            }
            let Ok(key) = name.to_ascii_lowercase().parse() else { continue };
            let value = value.into_string().map_err(|_| format!("{name} is not UTF-8"))?;
            check(&name, &value)?;
            settings.push((name, key, value));
        }
        // Variables of the family override `further`.
        settings.sort_by_key(|(name, ..)| name != further);
        Ok(Self(settings))
    }

    /// Makes a client; on failure, names the first variable without which `make` succeeds.
    pub(super) fn client<T>(
        &self,
        make: impl Fn(&mut dyn Iterator<Item = (K, String)>) -> Result<T, object_store::Error>,
    ) -> Result<T, object_store::Error>
    where
        K: Copy,
    {
        let make_without = |left_out: Option<usize>| {
            let settings = self.0.iter().enumerate().filter(|(index, _)| Some(*index) != left_out);
            make(&mut settings.map(|(_, (_, key, value))| (*key, value.clone())))
        };
        make_without(None).map_err(|error| {
            let is_at_fault = |index: &usize| make_without(Some(*index)).is_ok();
            let named = (0..self.0.len()).find(is_at_fault).map(|index| self.0[index].0.clone());
            match (named, error.to_string().contains(NO_ACCOUNT)) {
                (_, true) => unfit(format!("{ACCOUNT} is not set: it names the storage account")),
                (Some(name), _) => unfit(format!("{name}: {}", super::root_cause(&error))),
                (None, _) => error,
            }
        })
    }
}

pub(super) fn unfit(text: String) -> object_store::Error {
    object_store::Error::Generic { store: "environment", source: text.into() }
}

fn check(name: &str, value: &str) -> Result<(), String> {
    if let Some(character) = value.chars().find(|c| c.is_control() && name != JSON) {
        let kind =
            if ['\n', '\r'].contains(&character) { "a line break" } else { "a control character" };
        return Err(format!("{name} contains {kind}: remove it"));
    }
    if ADDRESSES.contains(&name) {
        address(name, value)?;
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if WORDS.contains(&name) && !value.chars().all(fits) {
        return Err(format!(
            "{name}=`{value}` contains other characters than letters, digits, `-`, `_` and `.`"
        ));
    }
    Ok(())
}

fn address(name: &str, value: &str) -> Result<(), String> {
    // May contain a secret.
    let shown =
        if value.contains(['@', '?']) { name.to_owned() } else { format!("{name}=`{value}`") };
    let Some(rest) = ["http://", "https://"].iter().find_map(|start| value.strip_prefix(start))
    else {
        let why = if value.contains("://") {
            "is not the URL of a web server: write https://HOST:PORT"
        } else {
            "is not a URL: write http:// or https:// before it"
        };
        return Err(format!("{shown} {why}"));
    };
    let plain = value.chars().all(|c| c.is_ascii_graphic() && !NOT_IN_URLS.contains(c));
    if rest.is_empty() || rest.starts_with(['/', ':']) || !plain || Url::parse(value).is_err() {
        return Err(format!(
            "{shown} is not the URL of a server: write https://HOST or https://HOST:PORT"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use object_store::aws::AmazonS3ConfigKey;
    use object_store::azure::AzureConfigKey;
    use object_store::gcp::GoogleConfigKey;

    use super::*;

    fn settings<K: FromStr>(
        family: &str,
        further: &str,
        variables: &[(&str, &str)],
    ) -> Result<Vec<(K, String)>, String> {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into()));
        let settings = Settings::from_variables(variables, family, further)?.0.into_iter();
        Ok(settings.map(|(_, key, value)| (key, value)).collect())
    }

    #[test]
    fn refuses_values_that_end_the_process_by_their_variable() {
        for (name, value, why) in [
            ("AWS_ACCESS_KEY_ID", "hunter2\n", "contains a line break"),
            ("AWS_SESSION_TOKEN", "hunter2\r", "contains a line break"),
            ("AWS_SECRET_ACCESS_KEY", "hunter2\u{7}", "contains a control character"),
            ("AWS_REGION", "us-east-1\n", "contains a line break"),
            ("AWS_REGION", "us east", "=`us east` contains other characters than letters"),
            ("AWS_ENDPOINT", "127.0.0.1:9000", "=`127.0.0.1:9000` is not a URL: write http://"),
            ("AWS_ENDPOINT", "=hello", "=`=hello` is not a URL: write http:// or https://"),
            ("AWS_ENDPOINT", "http://127.0.0.1:1\n", "contains a line break"),
            ("AWS_ENDPOINT_URL", "localhost:9000", "is not a URL: write http:// or https://"),
            ("AWS_ENDPOINT_URL_S3", "ftp://h", "is not the URL of a web server"),
            ("AWS_ENDPOINT", "http://", "is not the URL of a server"),
            ("AWS_ENDPOINT", "http:///x", "is not the URL of a server"),
            ("AWS_ENDPOINT", "http://a b", "is not the URL of a server"),
            ("AWS_ENDPOINT", "http://a/b c", "is not the URL of a server"),
            ("AWS_ENDPOINT", "http://h:99999", "is not the URL of a server"),
            ("AWS_ENDPOINT", "http://h?sig=1", "is not the URL of a server"),
            ("AWS_ENDPOINT", "me:hunter2@h", "AWS_ENDPOINT is not a URL"),
        ] {
            let error = settings::<AmazonS3ConfigKey>("AWS_", "", &[(name, value)]).unwrap_err();
            assert!(error.starts_with(name) && error.contains(why), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
        for (name, value) in [("AZURE_STORAGE_ACCOUNT_NAME", "me\n"), ("IDENTITY_ENDPOINT", "h")] {
            let refused =
                settings::<AzureConfigKey>("AZURE_", "IDENTITY_ENDPOINT", &[(name, value)]);
            assert!(refused.unwrap_err().starts_with(name));
        }
        for (name, value) in [("GOOGLE_BEARER_TOKEN", "a\nb"), ("GOOGLE_BASE_URL", "hello")] {
            let refused =
                settings::<GoogleConfigKey>("GOOGLE_", "SERVICE_ACCOUNT", &[(name, value)]);
            assert!(refused.unwrap_err().starts_with(name));
        }
    }

    #[test]
    fn names_the_variable_that_the_library_rejects() {
        use object_store::azure::MicrosoftAzureBuilder;
        let _ = rustls::crypto::ring::default_provider().install_default();
        let key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
        for (name, value, expected) in [
            (
                "AZURE_STORAGE_ACCOUNT_KEY",
                "no base64!",
                "AZURE_STORAGE_ACCOUNT_KEY: Invalid symbol",
            ),
            (
                "AZURE_STORAGE_USE_EMULATOR",
                "perhaps",
                "AZURE_STORAGE_USE_EMULATOR: failed to parse",
            ),
            ("AZURE_STORAGE_ACCOUNT_NAME", "", "AZURE_STORAGE_ACCOUNT_NAME is not set: it names"),
        ] {
            let plain = [("AZURE_STORAGE_ACCOUNT_KEY", key), ("AZURE_STORAGE_ACCOUNT_NAME", "me")];
            let valid = plain.into_iter().filter(|(variable, _)| *variable != name);
            let variables = valid.chain([(name, value)]);
            let variables = variables.map(|(name, value)| (name.into(), value.into()));
            let settings =
                Settings::<AzureConfigKey>::from_variables(variables, "AZURE_", "").unwrap();
            let made = settings.client(|settings| {
                let builder = MicrosoftAzureBuilder::new().with_container_name("packages");
                settings
                    .fold(builder, |builder, (key, value)| builder.with_config(key, value))
                    .build()
            });
            let cause = super::super::root_cause(&made.unwrap_err());
            assert!(cause.starts_with(expected), "{cause}");
        }
    }

    #[test]
    fn accepts_other_nonempty_values() {
        let accepted = settings(
            "AWS_",
            "",
            &[
                ("AWS_ENDPOINT", ""),
                ("AWS_ENDPOINT_URL", "http://[::1]:9000/base"),
                ("AWS_REGION", "eu-central-1"),
                ("AWS_PROFILE", "a\nvariable that nobody reads"),
                ("OTHER", "\n"),
            ],
        );
        let expected = [
            (AmazonS3ConfigKey::Endpoint, "http://[::1]:9000/base".to_owned()),
            (AmazonS3ConfigKey::Region, "eu-central-1".to_owned()),
        ];
        assert_eq!(accepted.unwrap(), expected);
        let key = "{\n  \"type\": \"service_account\"\n}\n";
        let accepted = settings(
            "GOOGLE_",
            "SERVICE_ACCOUNT",
            &[("GOOGLE_SERVICE_ACCOUNT_KEY", key), ("SERVICE_ACCOUNT", "file")],
        );
        let expected = [
            (GoogleConfigKey::ServiceAccount, "file".to_owned()),
            (GoogleConfigKey::ServiceAccountKey, key.to_owned()),
        ];
        assert_eq!(accepted.unwrap(), expected);
    }
}
