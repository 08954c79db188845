//! Recognises environment variables, host and user names, command lines and secrets in headers.
//!
//! Traces are shared, and a token in a header would leave with them. So a reader drops these values
//! unless [`Limits::include_environment`](super::Limits::include_environment) is set.

use serde_json::{Map, Value};

use super::secret_text::has_secret;

/// Keys of dumps of the environment and of command lines, in lower case without other characters.
const DUMPS: [&str; 20] = [
    "argv",
    "cmd",
    "cmdline",
    "commandline",
    "commandlinearguments",
    "commandlineargs",
    "entrypoint",
    "env",
    "envvar",
    "envvars",
    "envvariables",
    "environ",
    "environment",
    "environmentvariables",
    "environmentvars",
    "deviceenvironment",
    "launchcommand",
    "osenviron",
    "processenvironment",
    "sysargv",
];

/// Last words of keys of hosts, users and secrets.
const PRIVATE_ENDS: [&str; 18] = [
    "credential",
    "credentials",
    "fqdn",
    "homedir",
    "host",
    "hostname",
    "hosts",
    "login",
    "logname",
    "nodename",
    "passwd",
    "password",
    "secret",
    "secrets",
    "token",
    "user",
    "username",
    "users",
];

/// Pairs of last words, likewise.
const PRIVATE_PAIRS: [(&str, &str); 18] = [
    ("access", "key"),
    ("api", "key"),
    ("auth", "key"),
    ("hf", "key"),
    ("license", "key"),
    ("openai", "key"),
    ("wandb", "key"),
    ("computer", "name"),
    ("host", "ip"),
    ("host", "name"),
    ("home", "dir"),
    ("ip", "address"),
    ("machine", "name"),
    ("node", "name"),
    ("private", "key"),
    ("secret", "key"),
    ("user", "id"),
    ("user", "name"),
];

/// Variables that nearly every environment has: an object with two of them is a dump of one.
const VARIABLES: [&str; 16] = [
    "CONDA_PREFIX",
    "CUDA_HOME",
    "HOME",
    "HOSTNAME",
    "LANG",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "MASTER_ADDR",
    "OLDPWD",
    "PATH",
    "PWD",
    "PYTHONPATH",
    "SHELL",
    "SHLVL",
    "TERM",
    "USER",
];

/// The header with numbers of rows of an export, by table: names of tables are not private.
const COUNTS: &str = "nsight_unread";

/// Whether a key names a value of the environment, a host, a user, a command line or a secret.
pub(super) fn is_private_key(key: &str) -> bool {
    let letters: String =
        key.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    if DUMPS.contains(&letters.as_str()) {
        return true;
    }
    let words = words(key);
    let Some(last) = words.last() else { return false };
    // The name of a secret may go on: AWS_SECRET_ACCESS_KEY_ID.
    let has_secret = words.iter().any(|word| matches!(word.as_str(), "secret" | "password" | "passwd" | "apikey"));
    let before = words.len().checked_sub(2).map_or("", |at| words[at].as_str());
    has_secret || PRIVATE_ENDS.contains(&last.as_str()) || PRIVATE_PAIRS.contains(&(before, last))
}

/// Words of a key in lower case: `hostName`, `host_name` and `HOST-NAME` have the same.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in key.chars() {
        if !letter.is_ascii_alphanumeric() || letter.is_ascii_uppercase() && was_lower {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_ascii_alphanumeric()) {
            word.push(letter.to_ascii_lowercase());
        }
        was_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Removes private values from a value of a header; returns the rest as JSON, unless nothing is
/// private. `left_out` takes the path of each removed value.
pub(super) fn without_private(key: &str, json: &[u8], left_out: &mut Vec<String>) -> Option<String> {
    if !matches!(json.first(), Some(b'{' | b'[' | b'"')) || key == COUNTS {
        return None;
    }
    let mut value: Value = serde_json::from_slice(json).ok()?;
    let num_before = left_out.len();
    remove(&mut value, key, left_out);
    (left_out.len() > num_before).then(|| value.to_string())
}

/// `value` is as deep as the parser allows.
fn remove(value: &mut Value, path: &str, left_out: &mut Vec<String>) {
    match value {
        Value::Object(fields) if is_dump(fields) => {
            left_out.push(path.to_owned());
            *value = Value::Null;
        }
        Value::Object(fields) => {
            fields.retain(|key, _| {
                let is_private = is_private_key(key);
                left_out.extend(is_private.then(|| format!("{path}.{key}")));
                !is_private
            });
            fields.iter_mut().for_each(|(key, inner)| remove(inner, &format!("{path}.{key}"), left_out));
        }
        Value::Array(items) => {
            let num_before = items.len();
            // A command line may be a list of its words.
            let texts: Vec<_> = items.iter().filter_map(Value::as_str).collect();
            if texts.len() == items.len() && (is_list_of_variables(&texts) || has_secret(&texts.join(" "))) {
                left_out.push(path.to_owned());
                *value = Value::Null;
                return;
            }
            items.retain(|item| !is_private_pair(item));
            left_out.extend((items.len() < num_before).then(|| path.to_owned()));
            items.iter_mut().for_each(|item| remove(item, path, left_out));
        }
        Value::String(text) => {
            if let Some(rest) = remove_from_text(text, path, left_out) {
                *value = rest;
            }
        }
        _ => {}
    }
}

/// The rest of a text with private parts: of JSON in it, of a path to the trace; nothing else.
fn remove_from_text(text: &str, path: &str, left_out: &mut Vec<String>) -> Option<Value> {
    let num_before = left_out.len();
    let inner = if text.trim_start().starts_with(['{', '[']) { serde_json::from_str::<Value>(text).ok() } else { None };
    if let Some(mut inner) = inner {
        remove(&mut inner, path, left_out);
        return (left_out.len() > num_before).then(|| Value::String(inner.to_string()));
    }
    let folder = text.rfind(['/', '\\']).map_or(0, |at| at + 1);
    if path == TRACE_NAME && HOMES.iter().any(|home| text.contains(home)) {
        left_out.push(format!("folder of {path}"));
        return Some(Value::String(text[folder..].to_owned()));
    }
    let lines: Vec<_> = text.lines().collect();
    let is_node = path.rsplit('.').next() == Some("node") && text.contains(|letter: char| letter.is_alphabetic());
    if is_node || is_list_of_variables(&lines) || has_secret(text) {
        left_out.push(path.to_owned());
        return Some(Value::Null);
    }
    None
}

/// The header with the path that the trace was written to.
const TRACE_NAME: &str = "traceName";

/// Folders whose folders have names of users.
const HOMES: [&str; 3] = ["/home/", "/Users/", "\\Users\\"];

/// Whether two of the texts are `NAME=value` of variables that nearly every environment has.
fn is_list_of_variables(texts: &[&str]) -> bool {
    let name = |text: &str| text.split_once('=').map_or("", |(name, _)| name).trim().to_owned();
    texts.iter().filter(|text| VARIABLES.contains(&name(text).as_str())).count() > 1
}

fn is_dump(fields: &Map<String, Value>) -> bool {
    VARIABLES.iter().filter(|name| fields.get(**name).is_some_and(Value::is_string)).count() > 1
}

/// Whether an object is a pair of a private name and its value.
fn is_private_pair(item: &Value) -> bool {
    let name = ["name", "key"].into_iter().find_map(|key| item.get(key)?.as_str());
    item.get("value").is_some() && name.is_some_and(is_private_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_keys_are_known_in_any_spelling() {
        for key in [
            "env",
            "os.environ",
            "ENVIRONMENT_VARIABLES",
            "host_name",
            "hostName",
            "Hostname",
            "HOST-NAME",
            "tw_user",
            "userName",
            "username",
            "HF_TOKEN",
            "accessToken",
            "AWS_SECRET_ACCESS_KEY_ID",
            "wandb_api_key",
            "cmdline",
            "command_line",
            "homeDir",
            "DeviceEnvironment",
            "nodeName",
            "ip_address",
        ] {
            assert!(is_private_key(key), "{key}");
        }
        for key in [
            "",
            "deviceProperties",
            "distributedInfo",
            "record_shapes",
            "with_stack",
            "profile_memory",
            "traceName",
            "schemaVersion",
            "max_tokens",
            "name",
            "userAnnotation",
            "hostThreads",
            "cuda_runtime_version",
            "mast_job_environment",
            "pg_name",
            "CpuCores",
            "EXPORT_SCHEMA_VERSION",
            "trace_id",
            "key",
        ] {
            assert!(!is_private_key(key), "{key}");
        }
    }

    #[test]
    fn dumps_are_removed_wherever_they_are() {
        for json in [
            r#"{"a": {"PATH": "/secret", "HOME": "/h"}, "b": 1}"#,
            r#"{"a": ["PATH=/secret", "HOME=/h"], "b": 1}"#,
            r#"{"env": {"X": "secret"}, "b": 1}"#,
            r#"{"a": [{"name": "Hostname", "value": "secret"}], "b": 1}"#,
            r#"{"a": [{"b": {"access_token": "secret"}}], "b": 1}"#,
            r#"{"a": "python train.py --api-key secret", "b": 1}"#,
            r#"{"a": ["train.py", "--token", "secret"], "b": 1}"#,
            r#"{"a": "{\"api_key\": \"secret\"}", "b": 1}"#,
            r#"{"a": "HOME=/secret\nHF_TOKEN=hf", "b": 1}"#,
            r#"{"node": "secret-17", "b": 1}"#,
        ] {
            let mut left_out = Vec::new();
            let rest = without_private("metadata", json.as_bytes(), &mut left_out).unwrap_or_default();
            assert!(!rest.contains("secret") && rest.contains(r#""b":1"#), "{rest}");
            assert_eq!(left_out.len(), 1);
        }
        let path = format!("\"/{}/secret/x.json\"", "home");
        let path = without_private("traceName", path.as_bytes(), &mut Vec::new());
        assert_eq!(path.unwrap(), r#""x.json""#);
        let plain = br#"{"PATH": "one alone may be anything", "b": 1}"#;
        assert_eq!(without_private("metadata", plain, &mut Vec::new()), None);
    }
}
