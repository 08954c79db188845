//! Recognises texts that hold a secret: options and variables of commands, tokens, logins in
//! addresses.

use super::environment::is_private_key;

/// Starts of the tokens of well-known services.
const TOKEN_STARTS: [&str; 16] = [
    "AIza",
    "AKIA",
    "ASIA",
    "eyJ",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "hf_",
    "npm_",
    "nvapi-",
    "pypi-",
    "sk-",
    "xoxb-",
    "xoxp-",
];

/// Shorter words are no tokens.
const MIN_TOKEN: usize = 16;

/// Whether a part of a text is a secret.
pub(super) fn has_secret(text: &str) -> bool {
    has_login(text) || text.split(is_separator).any(is_token) || has_private_option(text)
}

fn is_separator(letter: char) -> bool {
    letter.is_whitespace() || "\"'`=,:;&?()[]{}<>|/@".contains(letter)
}

fn is_token(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    word.len() >= MIN_TOKEN
        && word.bytes().all(is_plain)
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && TOKEN_STARTS.iter().any(|start| word.starts_with(start))
}

/// An address with a login: `scheme://user:token@host`.
fn has_login(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let server = rest.split(['/', '?', '#', ' ', '"', '\n']).next().unwrap_or_default();
        server.split_once('@').is_some_and(|(login, _)| !login.is_empty())
    })
}

/// An option or a variable with a private name: `--token x`, `--api-key=x`, `HF_TOKEN=x`.
fn has_private_option(text: &str) -> bool {
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let option = name.strip_prefix("--").or_else(|| name.strip_prefix('-'));
        let is_variable = value.is_some() && name.contains('_') && !name.contains(|letter: char| letter.is_lowercase());
        let has_value =
            value.map_or_else(|| words.peek().is_some_and(|next| !next.starts_with('-')), |value| !value.is_empty());
        if has_value && (option.is_some_and(is_private_key) || is_variable && is_private_key(name)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::has_secret;

    #[test]
    fn secrets_are_found_in_texts() {
        for text in [
            "torchrun train.py --hf_token=hf_X",
            "python train.py --api-key sk-x",
            "lr=1 --token abc",
            "WANDB_API_KEY=0 python train.py",
            "git+ssh://user:token@host/",
            "git clone ssh://token@host/x",
            "key hf_abcdefghijkl0123456789",
            "a,sk-proj-0123456789abcdef",
        ] {
            assert!(has_secret(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_left_alone() {
        for text in [
            "",
            "train.py --max-tokens 100 --tokenizer llama --host",
            "Record counts: Out-of-range = 4181, Blocklisted runtime = 45",
            "INFO:2024-05-22 17:15:23 2910249:2910249 CuptiActivityProfiler.cpp:333] x",
            "file://host/a?b=c",
            "sk-learn hf_hub void gemm<a::b>(c)",
            "user@example.com",
            "a - b = c",
        ] {
            assert!(!has_secret(text), "{text}");
        }
    }
}
