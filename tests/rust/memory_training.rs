//! Tests the phases of training in a memory snapshot: categories, and memory that iterations keep.

use std::collections::BTreeMap;

use kinetoscope::analyze::memory_of_snapshot;
use kinetoscope::view::MemorySession;
use kinetoscope::{Input, Limits, MemorySnapshot, Recording, read_file};
use serde_json::{Value, json};

use crate::files;

/// Stacks of each phase, innermost frame first.
fn stack(phase: &str) -> Value {
    let frame = |function: &str, file: &str| json!({"name": function, "filename": file, "line": 7});
    let torch = |file: &str| format!("/env/site-packages/torch/{file}");
    let main = frame("main", "/app/train.py");
    match phase {
        "setup" => json!([
            frame("_apply", &torch("nn/modules/module.py")),
            frame("cuda", &torch("nn/modules/module.py")),
            main
        ]),
        "forward" => json!([
            frame("at::_ops::relu::call(at::Tensor const&)", "??"),
            frame("forward", &torch("nn/modules/linear.py")),
            frame("forward", "/app/model.py"),
            main
        ]),
        "backward" => json!([
            frame("torch::autograd::generated::AddmmBackward0::apply(int)", "??"),
            frame("torch::autograd::Engine::evaluate_function(int)", "??")
        ]),
        "optimizer" => json!([frame("_init_group", &torch("optim/adam.py")), main]),
        "zero_grad" => json!([frame("zero_grad", &torch("optim/optimizer.py")), main]),
        _ => json!([]),
    }
}

/// A recording in the making.
#[derive(Default)]
struct History {
    actions: Vec<Value>,
}

impl History {
    fn act(&mut self, action: &str, address: i64, size: i64, phase: &str) -> &mut Self {
        let time = self.actions.len();
        self.actions
            .push(json!({"action": action, "time_us": time, "addr": address, "size": size, "frames": stack(phase)}));
        self
    }

    fn take(&mut self, address: i64, size: i64, phase: &str) -> &mut Self {
        self.act("alloc", address, size, phase)
    }

    fn free(&mut self, address: i64, size: i64, phase: &str) -> &mut Self {
        self.act("free_requested", address, size, phase).act("free_completed", address, size, phase)
    }

    /// An iteration whose gradient, at address 60, is given back as the next one begins.
    fn iteration(&mut self, number: i64, release: fn(&str) -> &str) -> &mut Self {
        if number > 0 {
            self.free(60, 16, release("zero_grad"));
        }
        self.take(20, 100, "forward").take(30, 7, "forward").free(30, 7, release("forward"));
        self.take(50, 9, "backward").take(60, 16, "backward");
        self.free(50, 9, release("backward")).free(20, 100, release("backward"));
        self.take(55, 3, "backward").free(55, 3, release("backward"));
        if number == 0 {
            self.take(70, 32, "optimizer");
        }
        self.take(80, 5, "optimizer").free(80, 5, release("optimizer"))
    }

    fn snapshot(&self) -> MemorySnapshot {
        let text = json!({"segments": [], "device_traces": [self.actions]}).to_string();
        match read_file(Input::new(text.as_bytes()), Limits::default()).unwrap() {
            Recording::MemorySnapshot(snapshot) => *snapshot,
            _ => unreachable!("the keys are those of a snapshot"),
        }
    }

    fn rows(&self, table: &str) -> Vec<Value> {
        let answer = memory_of_snapshot(&self.snapshot());
        files::rows(&**answer.tables.iter().find(|one| one.name() == table).unwrap())
    }

    /// Allocations and bytes by category.
    fn categories(&self) -> BTreeMap<String, (i64, i64)> {
        let row = |row: Value| {
            let number = |column: &str| row[column].as_i64().unwrap();
            (row["category"].as_str().unwrap().to_owned(), (number("num_allocations"), number("allocated_bytes")))
        };
        self.rows("memory_categories").into_iter().map(row).collect()
    }
}

fn expected(categories: &[(&str, (i64, i64))]) -> BTreeMap<String, (i64, i64)> {
    categories.iter().map(|(name, sums)| ((*name).to_owned(), *sums)).collect()
}

#[test]
fn stacks_and_lifetimes_tell_the_purpose_of_memory() {
    let mut history = History::default();
    history.take(10, 64, "setup");
    for number in 0..3 {
        history.iteration(number, |phase| phase);
    }
    history.take(90, 11, "").take(91, 12, "forward");
    assert_eq!(
        history.categories(),
        expected(&[
            ("activation", (3, 300)),
            ("autograd_detail", (6, 36)),
            ("gradient", (3, 48)),
            ("optimizer_state", (1, 32)),
            ("parameter", (1, 64)),
            ("temporary", (6, 36)),
            ("unknown", (2, 23)),
        ])
    );
    let rows = history.rows("memory_bands");
    let band = rows.iter().find(|row| row["bytes"] == 100).unwrap();
    assert_eq!((&band["category"], &band["site"]), (&json!("activation"), &json!("forward (/app/model.py:7)")));
}

#[test]
fn without_stacks_of_a_pass_activations_are_unknown() {
    let mut history = History::default();
    for _ in 0..2 {
        history.take(20, 100, "forward").take(60, 16, "").free(20, 100, "").take(80, 5, "optimizer");
        history.free(80, 5, "optimizer").free(60, 16, "zero_grad");
    }
    assert_eq!(history.categories(), expected(&[("temporary", (1, 5)), ("unknown", (5, 237))]));
}

#[test]
fn a_page_colours_bands_by_category_where_it_can_be_told() {
    let page = |history: &History| MemorySession::new(history.snapshot()).page("snapshot");
    let mut training = History::default();
    training.take(10, 64, "setup").iteration(0, |phase| phase).iteration(1, |phase| phase);
    let told = page(&training);
    assert!(told.contains("optimizer state</text>") && told.contains("Memory by category"), "{told}");
    let mut serving = History::default();
    serving.take(10, 64, "forward").take(20, 9, "forward");
    assert!(!page(&serving).contains("unknown</text>"));
}

#[test]
fn releases_with_the_stack_of_the_allocation_do_not_end_a_phase() {
    let mut history = History::default();
    for number in 0..3 {
        // The stack of a release is that of its allocation.
        if number > 0 {
            history.free(60, 16, "backward");
        }
        history.take(20, 100, "forward").take(50, 9, "backward").take(60, 16, "backward").free(20, 100, "forward");
        history.take(55, 3, "backward").free(50, 9, "backward").free(55, 3, "backward");
    }
    // The pass may end before or after the last releases.
    assert_eq!(history.categories(), expected(&[("activation", (3, 300)), ("unknown", (9, 84))]));
}

/// A loop that keeps 40 bytes of the forward pass in each iteration.
fn leaking(num_iterations: i64) -> History {
    let mut history = History::default();
    history.take(10, 64, "setup");
    for number in 0..num_iterations {
        history.iteration(number, |phase| phase).take(1_000 + number, 40, "forward");
    }
    history
}

#[test]
fn memory_that_every_iteration_keeps_is_told() {
    let leaks = leaking(8).rows("memory_leaks");
    assert_eq!(leaks.len(), 1, "{leaks:?}");
    let number = |column: &str| leaks[0][column].as_i64().unwrap();
    assert_eq!(leaks[0]["site"], "forward (/app/model.py:7)");
    // Eight passes: without the first and the last two, four iterations lie between them.
    assert_eq!((number("num_iterations"), number("iteration_bytes"), number("num_blocks")), (4, 40, 4));
    assert!((leaks[0]["confidence"].as_f64().unwrap() - 4.0 / 6.0).abs() < 1e-9);
    let page = MemorySession::new(leaking(8).snapshot()).page("snapshot");
    assert!(page.contains("Memory that each iteration keeps"));
}

#[test]
fn too_few_backward_passes_are_told() {
    let num_passes = |history: &History| history.rows("memory")[0]["num_backward_passes"].clone();
    let page = |history: &History| MemorySession::new(history.snapshot()).page("snapshot");
    let reason = |passes: i64| format!("6 backward passes are needed, and stacks tell {passes}");
    let (five, six) = (leaking(5), leaking(6));
    assert_eq!((num_passes(&five), num_passes(&six)), (json!(5), json!(6)));
    assert_eq!((five.rows("memory_leaks").len(), six.rows("memory_leaks").len()), (0, 1));
    assert!(page(&five).contains(&reason(5)));
    assert!(!page(&six).contains("backward passes are needed"));
}

#[test]
fn other_memory_is_no_leak() {
    let mut passing = History::default();
    for number in 0..8 {
        passing.iteration(number, |phase| phase);
    }
    assert_eq!(passing.rows("memory_leaks"), Vec::<Value>::new());
    assert_eq!(leaking(5).rows("memory_leaks"), Vec::<Value>::new());
    // One forward pass with many layers is not many iterations.
    let mut layers = History::default();
    for number in 0..50 {
        layers.take(number, 40, "forward").take(900, 5, "forward").free(900, 5, "forward");
    }
    assert_eq!(layers.rows("memory_leaks"), Vec::<Value>::new());
    // As much goes as comes.
    let mut level = History::default();
    for number in 0..8 {
        level.iteration(number, |phase| phase).take(1_000 + number, 40, "forward").free(2_000 + number, 40, "forward");
    }
    assert_eq!(level.rows("memory_leaks"), Vec::<Value>::new());
}
