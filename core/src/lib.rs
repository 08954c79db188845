//! Reads `PyTorch` Execution Traces and Kineto traces into columns, links them, and answers questions about them.
