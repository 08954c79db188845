//! Reads what serving engines write into the names of their steps.
//!
//! vLLM, `SGLang` and `TensorRT-LLM` record a range around each forward pass. Its name has the
//! numbers of requests and tokens.

/// Work of a serving engine in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Reads the prompts of requests.
    Prefill,
    /// Generates the next token of each request.
    Decode,
    /// Prefill of some requests, decode of others.
    Mixed,
    /// A small model proposes tokens.
    Draft,
    /// The model checks proposed tokens.
    Verify,
}

impl Phase {
    /// All phases.
    pub const ALL: [Self; 5] = [Self::Prefill, Self::Decode, Self::Mixed, Self::Draft, Self::Verify];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Mixed => "mixed",
            Self::Draft => "draft",
            Self::Verify => "verify",
        }
    }
}

/// Requests of one kind in a step. What the name does not tell is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestGroup {
    /// Number of requests.
    pub num_requests: Option<u64>,
    /// Tokens that the step computes, of all requests.
    pub num_tokens: Option<u64>,
    /// Tokens that these attend to, cached ones included, of all requests.
    pub num_kv_tokens: Option<u64>,
    /// Sum over the requests of tokens times tokens attended to.
    pub num_token_pairs: Option<u64>,
}

/// Facts in the name of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepFacts {
    /// The number of the step, if the engine counts.
    pub number: Option<i64>,
    /// Work of the engine.
    pub phase: Option<Phase>,
    /// Requests of both kinds.
    pub num_requests: Option<u64>,
    /// Requests whose prompt is read.
    pub context: RequestGroup,
    /// Requests that get new tokens.
    pub generation: RequestGroup,
}

impl StepFacts {
    /// Reads the name of a step; `None` if no engine writes such a name.
    pub fn of(name: &str) -> Option<Self> {
        vllm(name).or_else(|| sglang(name)).or_else(|| tensorrt_llm(name))
    }

    /// Tokens that the step attends to, of the groups that tell.
    pub fn num_kv_tokens(&self) -> Option<u64> {
        let known = [self.context.num_kv_tokens, self.generation.num_kv_tokens].into_iter().flatten();
        known.reduce(u64::saturating_add)
    }

    /// Facts by the requests of both kinds. More new tokens than requests are proposed ones.
    fn of_groups(number: Option<i64>, context: RequestGroup, generation: RequestGroup) -> Self {
        let [num_context, num_generation] = [context, generation].map(|group| group.num_requests.unwrap_or(0));
        let phase = match (num_context, num_generation) {
            (0, 0) => None,
            (0, requests) if generation.num_tokens.is_some_and(|tokens| tokens > requests) => Some(Phase::Verify),
            (0, _) => Some(Phase::Decode),
            (_, 0) => Some(Phase::Prefill),
            _ => Some(Phase::Mixed),
        };
        Self { number, phase, num_requests: Some(num_context.saturating_add(num_generation)), context, generation }
    }
}

/// `execute_context_2(48)_generation_3(3)`: requests and, in parentheses, their tokens. AMD's
/// version begins with the number of all tokens, and has `(sq48sk96sqsq1152sqsk2304)`. Before,
/// `execute_new_1_cached_3`: new requests and others.
fn vllm(name: &str) -> Option<StepFacts> {
    let rest = name.strip_prefix("execute_")?;
    if let Some(rest) = rest.strip_prefix("new_") {
        let (new, cached) = rest.split_once("_cached_")?;
        let group = |count: &str| Some(RequestGroup { num_requests: Some(count.parse().ok()?), ..Default::default() });
        return Some(StepFacts::of_groups(None, group(new)?, group(cached)?));
    }
    let (total, rest) = rest.split_once("context_")?;
    if !(total.is_empty() || total.strip_suffix('_').is_some_and(|total| total.parse::<u64>().is_ok())) {
        return None;
    }
    let (context, generation) = rest.split_once("_generation_")?;
    Some(StepFacts::of_groups(None, group(context)?, group(generation)?))
}

/// `2(48)` or `2(sq48sk96sqsq1152sqsk2304)`.
fn group(text: &str) -> Option<RequestGroup> {
    let (requests, rest) = text.split_once('(')?;
    let inner = rest.strip_suffix(')')?;
    let num_requests = Some(requests.parse().ok()?);
    if let Ok(tokens) = inner.parse() {
        return Some(RequestGroup { num_requests, num_tokens: Some(tokens), ..Default::default() });
    }
    let inner = inner.strip_prefix("sq")?;
    let (tokens, inner) = inner.split_once("sk")?;
    let (kv_tokens, inner) = inner.split_once("sqsq")?;
    let (_, pairs) = inner.split_once("sqsk")?;
    let number = |text: &str| text.parse().ok();
    Some(RequestGroup {
        num_requests,
        num_tokens: number(tokens),
        num_kv_tokens: number(kv_tokens),
        num_token_pairs: number(pairs),
    })
}

/// `step[DECODE bs=32]` or `step[EXTEND bs=2 toks=4096]`: the mode, requests and tokens. With
/// roofline annotations also `c_sk=…` and `g_sk=…`: sums as in AMD's names.
fn sglang(name: &str) -> Option<StepFacts> {
    let inner = name.strip_prefix("step[")?.strip_suffix(']')?;
    let value = |key: &str| {
        let value = inner.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='))?;
        value.parse::<u64>().ok()
    };
    let num_requests = Some(value("bs")?);
    let group = |letter: &str| RequestGroup {
        num_requests: value(letter),
        num_tokens: value(&format!("{letter}_sq")),
        num_kv_tokens: value(&format!("{letter}_sk")),
        num_token_pairs: value(&format!("{letter}_sqsk")),
    };
    let whole = |group: RequestGroup, num_tokens| RequestGroup { num_requests, num_tokens, ..group };
    let (mut context, mut generation) = (group("c"), group("g"));
    let phase = match inner.split(' ').next()? {
        "EXTEND" | "SPLIT_PREFILL" => Phase::Prefill,
        "DECODE" => Phase::Decode,
        "MIXED" => Phase::Mixed,
        "TARGET_VERIFY" => Phase::Verify,
        "DRAFT_EXTEND" | "DRAFT_EXTEND_V2" => Phase::Draft,
        _ => return Some(StepFacts { num_requests, ..StepFacts::default() }),
    };
    match phase {
        Phase::Prefill => context = whole(context, value("toks")),
        Phase::Decode => generation = whole(generation, value("toks").or(num_requests)),
        Phase::Verify | Phase::Draft => generation = whole(generation, value("toks")),
        Phase::Mixed => {} // which of them a request belongs to is unknown without `c` and `g`
    }
    Some(StepFacts { number: None, phase: Some(phase), num_requests, context, generation })
}

/// `[Executor] _forward_step 7: 1 ctx reqs, 64 ctx tokens, 3 gen reqs`; the number and the tokens
/// came later.
fn tensorrt_llm(name: &str) -> Option<StepFacts> {
    let (number, rest) = name.strip_prefix("[Executor] _forward_step")?.split_once(':')?;
    let number = if number.is_empty() { None } else { Some(number.trim().parse().ok()?) };
    let (mut context, mut generation) = (RequestGroup::default(), RequestGroup::default());
    for part in rest.split(',') {
        let (count, unit) = part.trim().split_once(' ')?;
        let count = Some(count.parse().ok()?);
        match unit {
            "ctx reqs" => context.num_requests = count,
            "ctx tokens" => context.num_tokens = count,
            "gen reqs" => generation.num_requests = count,
            _ => {}
        }
    }
    Some(StepFacts::of_groups(number, context, generation))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Phase, requests, then tokens, cached tokens and pairs of both groups.
    fn facts(name: &str) -> Option<String> {
        let facts = StepFacts::of(name)?;
        let number = |value: Option<u64>| value.map_or_else(|| String::from("-"), |value| value.to_string());
        let group = |group: RequestGroup| {
            [group.num_requests, group.num_tokens, group.num_kv_tokens, group.num_token_pairs].map(number).join(" ")
        };
        let phase = facts.phase.map_or("-", Phase::name);
        let (all, context, generation) = (number(facts.num_requests), group(facts.context), group(facts.generation));
        Some(format!("{phase} {all} | {context} | {generation}"))
    }

    #[test]
    fn names_of_vllm() {
        for (name, expected) in [
            ("execute_context_2(48)_generation_3(3)", "mixed 5 | 2 48 - - | 3 3 - -"),
            ("execute_context_1(512)_generation_0(0)", "prefill 1 | 1 512 - - | 0 0 - -"),
            ("execute_context_0(0)_generation_16(16)", "decode 16 | 0 0 - - | 16 16 - -"),
            ("execute_context_0(0)_generation_4(16)", "verify 4 | 0 0 - - | 4 16 - -"),
            ("execute_context_0(0)_generation_0(0)", "- 0 | 0 0 - - | 0 0 - -"),
            (
                "execute_51_context_1(sq48sk96sqsq2304sqsk4608)_generation_3(sq3sk900sqsq3sqsk900)",
                "mixed 4 | 1 48 96 4608 | 3 3 900 900",
            ),
            ("execute_new_1_cached_3", "mixed 4 | 1 - - - | 3 - - -"),
            ("execute_new_0_cached_3", "decode 3 | 0 - - - | 3 - - -"),
        ] {
            assert_eq!(facts(name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn names_of_sglang() {
        for (name, expected) in [
            ("step[DECODE bs=32]", "decode 32 | - - - - | 32 32 - -"),
            ("step[EXTEND bs=2 toks=4096]", "prefill 2 | 2 4096 - - | - - - -"),
            ("step[MIXED bs=3]", "mixed 3 | - - - - | - - - -"),
            ("step[TARGET_VERIFY bs=8]", "verify 8 | - - - - | 8 - - -"),
            ("step[DRAFT_EXTEND_V2 bs=8]", "draft 8 | - - - - | 8 - - -"),
            ("step[IDLE bs=0]", "- 0 | - - - - | - - - -"),
            ("step[DECODE bs=2 g_sqsq=2 g_sqsk=700 g_sk=700]", "decode 2 | - - - - | 2 2 700 700"),
            (
                "step[MIXED bs=3 c=1 g=2 c_sq=8 c_sk=9 c_sqsq=64 c_sqsk=72 g_sq=2 g_sk=7 g_sqsq=2 g_sqsk=7]",
                "mixed 3 | 1 8 9 72 | 2 2 7 7",
            ),
        ] {
            assert_eq!(facts(name).as_deref(), Some(expected), "{name}");
        }
    }

    #[test]
    fn names_of_tensorrt_llm() {
        let name = "[Executor] _forward_step 7: 1 ctx reqs, 64 ctx tokens, 3 gen reqs";
        assert_eq!(facts(name).as_deref(), Some("mixed 4 | 1 64 - - | 3 - - -"));
        assert_eq!(StepFacts::of(name).and_then(|facts| facts.number), Some(7));
        let before = facts("[Executor] _forward_step: 0 ctx reqs, 3 gen reqs");
        assert_eq!(before.as_deref(), Some("decode 3 | 0 - - - | 3 - - -"));
    }

    #[test]
    fn other_names() {
        for name in [
            "execute_model",
            "execute_context_",
            "execute_context_1_generation_2",
            "execute_x_context_1(1)_generation_1(1)",
            "execute_context_-1(1)_generation_1(1)",
            "execute_new_1_cached_",
            "step[DECODE]",
            "step[DECODE bs=x]",
            "step[DECODE bs=1",
            "step",
            "[Executor] _forward_step x: 1 ctx reqs",
            "[Executor] _forward_step 1",
            "[Executor] _forward_step 1: ",
            "",
        ] {
            assert_eq!(StepFacts::of(name), None, "{name}");
        }
    }
}
