use kinetoscope::*;
fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap();
        let t = std::time::Instant::now();
        match read(&[Input::new(&bytes)], Limits::default()) {
            Ok(trace) => {
                let t1 = t.elapsed();
                let l = LinkedTrace::new(trace);
                let t2 = t.elapsed();
                println!("{} events {} nodes {} templates {} strings {} tracks {} inst {} flows {} read {:?} +link {:?} launched {} records {} iters {} fb {}", path.rsplit('/').next().unwrap(), l.trace.events.len(), l.trace.nodes.len(), l.trace.args.templates().len(), l.trace.strings.len(), l.trace.tracks.len(), l.trace.instants.len(), l.trace.flows.len(), t1, t2, l.links.launched.len(), l.links.record.node_of_event.num_set(), l.links.iterations.len(), l.links.forward_backward.len());
                for w in &l.trace.warnings { println!("    {} x{} at {}", w.kind.name(), w.count, w.first); }
            }
            Err(e) => println!("{path}: ERR {e}"),
        }
    }
}
